// The main function of test programs without MPI.
#include "support/run_tests.hpp"

int main(int argc, char** argv) { return run_tests(argc, argv); }
