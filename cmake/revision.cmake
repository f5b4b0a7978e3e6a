# cmake -D SOURCE=... -D OUTPUT=... -P: writes what git says of the source into a source file, if it has changed. Part
# of every build, so that files and `convoke info` name what was built. Empty where the source came as an archive.
execute_process(COMMAND git describe --always --dirty --tags WORKING_DIRECTORY ${SOURCE}
                OUTPUT_VARIABLE revision OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
file(CONFIGURE OUTPUT ${OUTPUT} @ONLY CONTENT [[
#include "convoke/run/environment.hpp"
std::string convoke::run::build_description() { return "@revision@"; }
]])
