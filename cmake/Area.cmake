# convoke_area(name [HOT | RARE] ABOUT "..." AREAS core... PACKAGES fmt::fmt... GENERATED a.cpp...)
# One static library per area, from every source in its folder. It links the areas whose headers it may include, and
# privately the third-party package that only this area may see; test/layering checks the includes. ABOUT is for the
# drawing (cmake/Drawing.cmake).

add_library(convoke_options INTERFACE)
target_compile_options(convoke_options INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wshadow
  # IEEE results without errno and traps: loops with sqrt and rint are vectorized, with the same results as
  # scalar code.
  -fno-math-errno -fno-trapping-math)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(convoke_options INTERFACE -Wno-restrict)  # GCC's bug 105651: a false warning for "a" + string
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  # GCC looks for memory to reuse at every 256 MiB instead of 128: a tenth of the compile time, for a tenth of memory.
  target_compile_options(convoke_options INTERFACE "SHELL:--param ggc-min-heapsize=262144")
endif()
if(CONVOKE_WERROR)
  target_compile_options(convoke_options INTERFACE -Werror)
endif()
if(CONVOKE_ASSERTIONS)
  target_compile_options(convoke_options INTERFACE -UNDEBUG)
endif()
if(CONVOKE_SANITIZE)
  target_compile_options(convoke_options INTERFACE -fsanitize=${CONVOKE_SANITIZE} -fno-omit-frame-pointer
    -Wno-maybe-uninitialized  # as GCC advises: instrumented code causes false warnings, here in std::regex
    -Wno-tsan)  # the thread sanitizer knows no fences; ours are between processes, which it does not follow
  target_link_options(convoke_options INTERFACE -fsanitize=${CONVOKE_SANITIZE})
endif()

set_property(GLOBAL PROPERTY CONVOKE_AREAS "")

# A unit takes up to 1.2 GiB to compile, so Ninja runs no more at a time than the memory holds.
cmake_host_system_information(RESULT memory QUERY TOTAL_PHYSICAL_MEMORY)  # in MiB
math(EXPR units "${memory} / 1500")
if(units LESS 1)
  set(units 1)
endif()
set_property(GLOBAL PROPERTY JOB_POOLS compile=${units})
set(CMAKE_JOB_POOL_COMPILE compile)

# convoke_compile_together(target [HOT | RARE | ONCE]): a small file spends most of its compile time on headers that its
# neighbors include too, so up to CONVOKE_UNIT_FILES are compiled as one unit (CONVOKE_UNITY). Code that runs for every
# sample or step (HOT) is optimized and vectorized; -O3 would also unroll its loops, which takes three times as long to
# compile and is not faster. Code that runs once per sample of a dataset, or computes statistics, is compiled with -O1 in
# half the time. Code that reads options, describes results or runs once per epoch (RARE), and tests, are compiled with
# -Og in three to four fifths of that: it would slow the preparation of texts by a third. Tests that only start programs
# and read files (ONCE) are not optimized.
set(CONVOKE_UNIT_FILES 32)
set(CONVOKE_HOT_OPTIONS -O2 -ftree-vectorize)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  list(APPEND CONVOKE_HOT_OPTIONS -fvect-cost-model=dynamic)
endif()

function(convoke_compile_together target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${CONVOKE_UNITY} UNITY_BUILD_MODE GROUP)
  if("HOT" IN_LIST ARGN)
    target_compile_options(${target} PRIVATE "$<$<NOT:$<CONFIG:Debug>>:${CONVOKE_HOT_OPTIONS}>")
  elseif("RARE" IN_LIST ARGN)
    target_compile_options(${target} PRIVATE $<$<NOT:$<CONFIG:Debug>>:-Og>)
  elseif("ONCE" IN_LIST ARGN)
    target_compile_options(${target} PRIVATE -O0)
  else()
    target_compile_options(${target} PRIVATE $<$<NOT:$<CONFIG:Debug>>:-O1>)
  endif()
  get_target_property(sources ${target} SOURCES)
  if(sources)
    convoke_group_sources(${target} ${sources})
  endif()
endfunction()

# convoke_group_sources(target sources...): adds these sources to the units of the target.
function(convoke_group_sources target)
  get_property(number TARGET ${target} PROPERTY CONVOKE_GROUPED)  # nothing at first
  foreach(source IN LISTS ARGN)
    cmake_path(IS_PREFIX PROJECT_BINARY_DIR ${source} generated)
    if(generated)
      set_source_files_properties(${source} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
      continue()
    endif()
    math(EXPR unit "0${number} / ${CONVOKE_UNIT_FILES}")
    set_source_files_properties(${source} TARGET_DIRECTORY ${target} PROPERTIES UNITY_GROUP ${unit})
    math(EXPR number "0${number} + 1")
  endforeach()
  set_target_properties(${target} PROPERTIES CONVOKE_GROUPED ${number})
endfunction()

function(convoke_area name)
  cmake_parse_arguments(ARG "HOT;RARE" "ABOUT" "AREAS;PACKAGES;GENERATED" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS *.cpp)
  add_library(convoke_${name} STATIC ${sources} ${ARG_GENERATED})
  convoke_compile_together(convoke_${name} ${ARGN})
  target_include_directories(convoke_${name}
    PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> PRIVATE ${PROJECT_SOURCE_DIR}/src)
  list(TRANSFORM ARG_AREAS PREPEND convoke_)
  target_link_libraries(convoke_${name} PUBLIC ${ARG_AREAS} PRIVATE convoke_options ${ARG_PACKAGES})
  set_target_properties(convoke_${name} PROPERTIES CONVOKE_ABOUT "${ARG_ABOUT}")
  set_property(GLOBAL APPEND PROPERTY CONVOKE_AREAS convoke_${name})
  convoke_precompile(convoke_${name} ${ARGN})
endfunction()

# convoke_source_options(options sources...): sources with options of their own, which cannot use the common headers.
function(convoke_source_options options)
  set_source_files_properties(${ARGN} PROPERTIES COMPILE_OPTIONS "${options}" SKIP_PRECOMPILE_HEADERS ON)
endfunction()

# Headers that nearly every file includes are compiled once for all areas with the same options. (Clang wants the same
# for every option; without fmt or with OpenMP, macros differ.)
function(convoke_precompile target)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL GNU OR NOT "fmt::fmt" IN_LIST ARGN)
    return()
  endif()
  set(kind "")
  foreach(different HOT RARE convoke_dnnl)
    if(different IN_LIST ARGN)
      string(APPEND kind _${different})
    endif()
  endforeach()
  get_property(first GLOBAL PROPERTY CONVOKE_FIRST_AREA${kind})
  if(first)
    target_precompile_headers(${target} REUSE_FROM ${first})
  else()
    set_property(GLOBAL PROPERTY CONVOKE_FIRST_AREA${kind} ${target})
    target_precompile_headers(${target} PRIVATE <algorithm> <array> <cmath> <cstdint> <filesystem> <functional> <map>
      <memory> <optional> <span> <string> <utility> <vector> <fmt/format.h>)
  endif()
endfunction()
