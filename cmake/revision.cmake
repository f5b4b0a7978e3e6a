# cmake -D SOURCE=... -D OUTPUT=... -P: writes the output of `git describe` into a source file, if it has
# changed. Runs in every build, so that files and `convoke info` name the built revision. Empty if the source
# came from an archive.
execute_process(COMMAND git describe --always --dirty --tags WORKING_DIRECTORY ${SOURCE}
                OUTPUT_VARIABLE revision OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
file(CONFIGURE OUTPUT ${OUTPUT} @ONLY CONTENT [[
#include "convoke/run/environment.hpp"
std::string convoke::run::build_description() { return "@revision@"; }
]])
