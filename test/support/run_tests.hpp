#pragma once

/// Runs the test cases selected by the command line. Returns the exit code.
int run_tests(int argc, char** argv);
