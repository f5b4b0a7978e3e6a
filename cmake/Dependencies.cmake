# Every third-party dependency, with its Debian package. If one is missing, configuration ends with the
# command that installs all.

set(CONVOKE_APT_PACKAGES
    libopenmpi-dev openmpi-bin libdnnl-dev libeigen3-dev libhdf5-dev zlib1g-dev libstb-dev libjpeg-dev libfmt-dev libcli11-dev
    libtomlplusplus-dev nlohmann-json3-dev libutf8proc-dev libjs-chart.js)
if(CONVOKE_TESTS)
  list(APPEND CONVOKE_APT_PACKAGES catch2)
endif()

set(CONVOKE_MISSING "")
macro(convoke_require found package what)
  if(NOT ${found})
    list(APPEND CONVOKE_MISSING "  ${what} (Debian package ${package})")
  endif()
endmacro()

# Debian installs several MPI libraries side by side, with the names of their programs after a dot.
set(CONVOKE_MPI "" CACHE STRING "MPI library, if several are installed: openmpi or mpich; empty: that of mpicc")
if(CONVOKE_MPI)
  find_program(MPI_C_COMPILER mpicc.${CONVOKE_MPI} REQUIRED)
  find_program(MPIEXEC_EXECUTABLE mpirun.${CONVOKE_MPI} REQUIRED)
endif()
find_package(MPI QUIET COMPONENTS C)
convoke_require(MPI_C_FOUND "libopenmpi-dev openmpi-bin" "MPI")
if(MPI_C_FOUND)  # the C interface only: the C++ bindings were removed from MPI and need a separate library
  set_property(TARGET MPI::MPI_C APPEND PROPERTY INTERFACE_COMPILE_DEFINITIONS OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
endif()
# Finds the header and library, not dnnl-config.cmake, which requires OpenCL. CMAKE_PREFIX_PATH, or
# -DDNNL_INCLUDE_DIR=... and -DDNNL_LIBRARY=..., select another oneDNN.
find_path(DNNL_INCLUDE_DIR oneapi/dnnl/dnnl.hpp)
find_library(DNNL_LIBRARY dnnl)
if(DNNL_INCLUDE_DIR AND DNNL_LIBRARY)
  set(DNNL_FOUND ON)
endif()
convoke_require(DNNL_FOUND libdnnl-dev "oneDNN")
find_package(OpenMP QUIET COMPONENTS CXX)
convoke_require(OpenMP_CXX_FOUND libomp-dev "OpenMP for Clang (GCC has its own)")
find_package(Eigen3 QUIET CONFIG)
convoke_require(Eigen3_FOUND libeigen3-dev "Eigen")
set(HDF5_PREFER_PARALLEL OFF)
find_package(HDF5 QUIET COMPONENTS C)
convoke_require(HDF5_FOUND libhdf5-dev "HDF5")
find_package(ZLIB QUIET)
convoke_require(ZLIB_FOUND zlib1g-dev "zlib")
find_path(STB_INCLUDE_DIR stb/stb_image.h)
convoke_require(STB_INCLUDE_DIR libstb-dev "stb")
find_package(JPEG QUIET)  # optional: stb_image decodes JPEGs too, more slowly. libhdf5-dev brings it.
find_path(UTF8PROC_INCLUDE_DIR utf8proc.h)
find_library(UTF8PROC_LIBRARY utf8proc)
if(UTF8PROC_INCLUDE_DIR AND UTF8PROC_LIBRARY)
  set(UTF8PROC_FOUND ON)
endif()
convoke_require(UTF8PROC_FOUND libutf8proc-dev "utf8proc")
find_package(fmt QUIET CONFIG)
convoke_require(fmt_FOUND libfmt-dev "fmt")
find_package(CLI11 QUIET CONFIG)
convoke_require(CLI11_FOUND libcli11-dev "CLI11")
find_package(tomlplusplus QUIET CONFIG)
convoke_require(tomlplusplus_FOUND libtomlplusplus-dev "toml++")
find_package(nlohmann_json QUIET CONFIG)
convoke_require(nlohmann_json_FOUND nlohmann-json3-dev "nlohmann-json")
find_package(Threads REQUIRED)
# Optional: the charts of HTML pages, which contain the library. Without it, pages are refused with a hint to
# install it.
find_file(CONVOKE_CHART_JS chart.min.js PATHS /usr/share/javascript/chart.js /usr/share/nodejs/chart.js/dist
          NO_DEFAULT_PATH)
if(NOT CONVOKE_CHART_JS)
  message(STATUS "No HTML pages: Chart.js was not found (Debian package libjs-chart.js)")
endif()
if(CONVOKE_TESTS)
  find_package(Catch2 QUIET CONFIG)
  convoke_require(Catch2_FOUND catch2 "Catch2")
endif()

if(CONVOKE_MISSING)
  list(JOIN CONVOKE_MISSING "\n" missing)
  list(JOIN CONVOKE_APT_PACKAGES " " packages)
  message(FATAL_ERROR "Convoke needs these packages, which were not found:\n${missing}\nInstall everything with:\n"
                      "  sudo apt-get install --no-install-recommends ${packages}\n")
endif()

# Interface targets for packages that define none.
if(NOT TARGET HDF5::HDF5)
  add_library(HDF5::HDF5 INTERFACE IMPORTED)
  target_include_directories(HDF5::HDF5 SYSTEM INTERFACE ${HDF5_C_INCLUDE_DIRS})
  target_link_libraries(HDF5::HDF5 INTERFACE ${HDF5_C_LIBRARIES})
endif()
add_library(convoke_dnnl INTERFACE)
target_include_directories(convoke_dnnl SYSTEM INTERFACE ${DNNL_INCLUDE_DIR})
target_link_libraries(convoke_dnnl INTERFACE ${DNNL_LIBRARY} OpenMP::OpenMP_CXX)
add_library(convoke_stb INTERFACE)
target_include_directories(convoke_stb SYSTEM INTERFACE ${STB_INCLUDE_DIR})
add_library(utf8proc::utf8proc INTERFACE IMPORTED)
target_include_directories(utf8proc::utf8proc SYSTEM INTERFACE ${UTF8PROC_INCLUDE_DIR})
target_link_libraries(utf8proc::utf8proc INTERFACE ${UTF8PROC_LIBRARY})
