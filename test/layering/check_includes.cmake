# Checks every #include under include/convoke, src, data-prep and apps against the table of areas.
#   cmake -DROOT=<source folder> -P check_includes.cmake
# The linker enforces the same for functions; this also sees headers that need no linking.
cmake_minimum_required(VERSION 3.25)

# The areas and single headers that each area may include. Only their public headers: a private header
# (src/<area>/x.hpp) belongs to its area.
set(os_may core/error.hpp)
set(core_may os)
set(archive_may os core)
set(mpi_may os core)
set(hdf5_may os core)
set(nn_may os core)
set(optim_may os core)
set(pictures_may os core)
set(data_may os core hdf5 pictures)
set(sync_may os core mpi)
set(vote_may os core)
set(metrics_may os core)
set(explore_may os core data metrics)
set(report_may os core pictures data metrics explore study)
set(slurm_may os core)
set(engine_may os core mpi nn optim data sync)
set(run_may ${engine_may} engine hdf5 metrics)
set(supervise_may os core mpi engine metrics run)
set(train_may ${run_may} run vote)
set(doctor_may ${train_may} train)
set(interop_may ${run_may} run archive)
set(recipe_may ${train_may} supervise train interop)
set(study_may os core sync engine metrics run supervise recipe)
set(data_prep_may os core archive hdf5 pictures data)
set(apps_may ${recipe_may} pictures recipe study doctor data_prep archive explore report slurm)
set(areas os core archive mpi hdf5 nn optim pictures data sync vote metrics explore report slurm engine run supervise train interop doctor recipe study data_prep apps)

# Third-party headers that one area alone may see: a pattern and the area (or a pattern of a few).
set(third_party
  "mpi.*\\.h" mpi
  "(hdf5|H5.*)\\.h" hdf5
  "(oneapi/|dnnl).*" nn
  "toml\\+\\+/.*|toml\\.hpp" recipe
  "CLI/.*" apps
  "(unsupported/)?Eigen/.*" "explore|data_prep|study"
  "stb/stb_image_write\\.h" "pictures|apps"
  "stb/stb_image\\.h|jpeglib\\.h|jerror\\.h" pictures
  "stb/stb_image_resize2?\\.h|utf8proc\\.h" data_prep
  "hwloc.*\\.h" os
  "stb/stb_perlin\\.h" apps)

set(wrong "")

# Adds to `wrong` if `file` of `area` may not have `#include <header>` or `#include "header"`.
function(check file area public quote header)
  set(complaint "")
  if(quote STREQUAL "<")
    if(public AND header MATCHES "[./]")
      set(complaint "public headers include the standard library and Convoke only")
    endif()
    set(rules ${third_party})
    while(rules)
      list(POP_FRONT rules pattern place)
      if(header MATCHES "^(${pattern})$" AND NOT area MATCHES "^(${place})$")
        set(complaint "only ${place} may see it")
      endif()
    endwhile()
  elseif(header MATCHES "^convoke/([^/]+)/")
    set(other ${CMAKE_MATCH_1})
    string(REGEX REPLACE "^convoke/" "" name ${header})
    if(NOT other STREQUAL area AND NOT other IN_LIST ${area}_may AND NOT name IN_LIST ${area}_may)
      list(JOIN ${area}_may ", " may)
      set(complaint "${area} may include nothing of ${other}, only: ${may}")
    endif()
  elseif(public)
    set(complaint "public headers include the standard library and Convoke only")
  elseif(header MATCHES "\\.\\./")
    set(complaint "name it from the folder of its area")
  elseif(area STREQUAL apps AND EXISTS ${ROOT}/apps/convoke/${header})  # apps/convoke/data is a workflow, not the area
  elseif(header MATCHES "^([^/]+)/" AND NOT CMAKE_MATCH_1 STREQUAL area AND CMAKE_MATCH_1 IN_LIST areas)
    set(complaint "a private header of ${CMAKE_MATCH_1}")
  endif()
  if(complaint)
    set(wrong ${wrong} "${file}: ${quote}${header}: ${complaint}" PARENT_SCOPE)
  endif()
endfunction()

set(count 0)
file(GLOB_RECURSE files RELATIVE ${ROOT}
  ${ROOT}/include/convoke/*.hpp ${ROOT}/src/*.[ch]pp ${ROOT}/data-prep/*.[ch]pp ${ROOT}/apps/*.[ch]pp)
foreach(file IN LISTS files)
  set(public OFF)
  if(file MATCHES "^include/convoke/([^/]+)/")
    set(area ${CMAKE_MATCH_1})
    set(public ON)
  elseif(file MATCHES "^src/([^/]+)/")
    set(area ${CMAKE_MATCH_1})
  elseif(file MATCHES "^data-prep/")
    set(area data_prep)
  else()
    set(area apps)
  endif()
  if(NOT area IN_LIST areas)
    list(APPEND wrong "${file}: area ${area} is not in the table of test/layering/check_includes.cmake")
    continue()
  endif()
  file(STRINGS ${ROOT}/${file} includes REGEX "^[ \t]*#[ \t]*include[ \t]*[<\"]")

  # A source file includes its own header first: that is how we know that the header compiles alone.
  string(REGEX REPLACE "^src/(.*)\\.cpp$" "convoke/\\1.hpp" own ${file})
  if(EXISTS ${ROOT}/include/${own} AND NOT includes MATCHES "^[ \t]*#[ \t]*include[ \t]*\"${own}\"")
    list(APPEND wrong "${file}: its own header ${own} does not come first")
  endif()

  foreach(line IN LISTS includes)
    string(REGEX MATCH "[<\"]([^>\"]+)" _ "${line}")
    set(header ${CMAKE_MATCH_1})
    string(SUBSTRING "${_}" 0 1 quote)
    check(${file} ${area} ${public} ${quote} ${header})
    math(EXPR count "${count} + 1")
  endforeach()
endforeach()

if(wrong)
  list(JOIN wrong "\n  " wrong)
  message(FATAL_ERROR "includes that break the layering:\n  ${wrong}\n")
endif()
if(count EQUAL 0)
  message(FATAL_ERROR "no include found under ${ROOT}")
endif()
message(STATUS "${count} includes keep to the layering")
