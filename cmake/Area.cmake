# convoke_area(name SOURCES a.cpp... AREAS core... PACKAGES fmt::fmt...)
# One static library per area. It links the areas whose headers it may include, and privately the one third-party
# package that only it may see; test/layering_test checks the includes themselves.

add_library(convoke_options INTERFACE)
target_compile_options(convoke_options INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wshadow
  # IEEE results without errno and traps: loops with sqrt and rint vectorise, and stay equal to their scalar form.
  -fno-math-errno -fno-trapping-math)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(convoke_options INTERFACE -Wno-restrict)  # GCC's bug 105651: imagined of "a" + string
endif()
if(CONVOKE_WERROR)
  target_compile_options(convoke_options INTERFACE -Werror)
endif()
if(CONVOKE_ASSERTIONS)
  target_compile_options(convoke_options INTERFACE -UNDEBUG)
endif()
if(CONVOKE_SANITIZE)
  target_compile_options(convoke_options INTERFACE -fsanitize=${CONVOKE_SANITIZE} -fno-omit-frame-pointer
    -Wno-maybe-uninitialized)  # GCC's own advice: instrumented code misleads it, here in std::regex
  target_link_options(convoke_options INTERFACE -fsanitize=${CONVOKE_SANITIZE})
endif()

set_property(GLOBAL PROPERTY CONVOKE_AREAS "")

function(convoke_area name)
  cmake_parse_arguments(ARG "" "" "SOURCES;AREAS;PACKAGES" ${ARGN})
  add_library(convoke_${name} STATIC ${ARG_SOURCES})
  target_include_directories(convoke_${name}
    PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> PRIVATE ${PROJECT_SOURCE_DIR}/src)
  list(TRANSFORM ARG_AREAS PREPEND convoke_)
  target_link_libraries(convoke_${name} PUBLIC ${ARG_AREAS} PRIVATE convoke_options ${ARG_PACKAGES})
  set_property(GLOBAL APPEND PROPERTY CONVOKE_AREAS convoke_${name})
endfunction()
