#pragma once

/// Runs the test cases of this program as its command line asks. Returns the exit code.
int run_tests(int argc, char** argv);
