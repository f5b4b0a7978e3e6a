# Installs the libraries, their public headers, the program, its recipes, and what find_package(Convoke) needs to give
# Convoke::train, Convoke::data_prep and Convoke::tools.
include(CMakePackageConfigHelpers)

# The find_dependency call that a program linking the library needs for each package of an area; empty for
# header-only packages.
set(CONVOKE_FIND_MPI::MPI_C "find_dependency(MPI COMPONENTS C)")
set(CONVOKE_FIND_HDF5::HDF5 "find_dependency(HDF5 COMPONENTS C)")
set(CONVOKE_FIND_ZLIB::ZLIB "find_dependency(ZLIB)")
set(CONVOKE_FIND_JPEG::JPEG "find_dependency(JPEG)")
set(CONVOKE_FIND_fmt::fmt "find_dependency(fmt CONFIG)")
set(CONVOKE_FIND_tomlplusplus::tomlplusplus "find_dependency(tomlplusplus CONFIG)")
set(CONVOKE_FIND_Threads::Threads "find_dependency(Threads)")
set(CONVOKE_FIND_utf8proc::utf8proc "find_library(UTF8PROC_LIBRARY utf8proc REQUIRED)
if(NOT TARGET utf8proc::utf8proc)
  add_library(utf8proc::utf8proc INTERFACE IMPORTED)
  target_link_libraries(utf8proc::utf8proc INTERFACE \"\${UTF8PROC_LIBRARY}\")
endif()")
set(CONVOKE_FIND_hwloc::hwloc "find_library(HWLOC_LIBRARY hwloc REQUIRED)
if(NOT TARGET hwloc::hwloc)
  add_library(hwloc::hwloc INTERFACE IMPORTED)
  target_link_libraries(hwloc::hwloc INTERFACE \"\${HWLOC_LIBRARY}\")
endif()")
set(CONVOKE_FIND_convoke_dnnl "find_dependency(OpenMP COMPONENTS CXX)")  # ConvokeConfig.cmake.in finds the library
set(CONVOKE_HEADER_ONLY Eigen3::Eigen CLI11::CLI11 nlohmann_json::nlohmann_json convoke_stb)

# convoke_component(name USES train AREAS core...): the library Convoke::<name>, one archive with the objects of its areas. It
# leaves their packages to the program that links it, and what finds these to CONVOKE_FIND_<name>.
function(convoke_component name)
  cmake_parse_arguments(ARG "" "" "USES;AREAS" ${ARGN})
  list(TRANSFORM ARG_AREAS PREPEND convoke_ OUTPUT_VARIABLE areas)
  list(TRANSFORM areas REPLACE "(.+)" "$<TARGET_OBJECTS:\\1>" OUTPUT_VARIABLE objects)
  set(library convoke_component_${name})
  add_library(${library} STATIC ${objects})
  add_library(Convoke::${name} ALIAS ${library})
  set_target_properties(${library} PROPERTIES OUTPUT_NAME convoke_${name} EXPORT_NAME ${name} LINKER_LANGUAGE CXX)
  target_compile_features(${library} INTERFACE cxx_std_20)
  target_include_directories(${library} INTERFACE
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  list(TRANSFORM ARG_USES PREPEND convoke_component_ OUTPUT_VARIABLE used)
  target_link_libraries(${library} INTERFACE ${used})

  set(packages "")
  foreach(area IN LISTS areas)
    get_target_property(links ${area} LINK_LIBRARIES)
    list(APPEND packages ${links})
  endforeach()
  list(REMOVE_DUPLICATES packages)
  get_property(all_areas GLOBAL PROPERTY CONVOKE_AREAS)
  list(REMOVE_ITEM packages convoke_options ${all_areas} ${CONVOKE_HEADER_ONLY})
  set(find "")
  foreach(package IN LISTS packages)
    if(NOT CONVOKE_FIND_${package})
      message(FATAL_ERROR "cmake/Install.cmake does not say how an installed Convoke finds ${package}")
    endif()
    string(APPEND find "${CONVOKE_FIND_${package}}\n")
    string(REPLACE convoke_dnnl Convoke::dnnl installed ${package})
    target_link_libraries(${library} INTERFACE
      $<BUILD_INTERFACE:$<LINK_ONLY:${package}>> $<INSTALL_INTERFACE:$<LINK_ONLY:${installed}>>)
  endforeach()
  set(CONVOKE_FIND_${name} "${find}" PARENT_SCOPE)
  install(TARGETS ${library} EXPORT ConvokeTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
endfunction()

convoke_component(train AREAS ${CONVOKE_TRAIN})                # from the kernels to recipes: no pages, no Slurm
convoke_component(data_prep USES train AREAS data_prep)        # files to datasets
convoke_component(tools USES train AREAS ${CONVOKE_TOOLS})     # pages, figures, studies, doctor, jobs

install(DIRECTORY include/convoke DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.hpp")

if(TARGET convoke_app)
  # A oneDNN or MPI outside the system's folders stays where the build found it.
  set_target_properties(convoke_app PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)
  install(TARGETS convoke_app RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT program)
endif()
# `cmake --install BUILD --component program` installs only the files needed to run.
install(DIRECTORY apps/recipes/ DESTINATION ${CMAKE_INSTALL_DATADIR}/convoke/recipes COMPONENT program)
install(DIRECTORY apps/studies/ DESTINATION ${CMAKE_INSTALL_DATADIR}/convoke/studies COMPONENT program)

cmake_path(GET DNNL_LIBRARY PARENT_PATH CONVOKE_DNNL_FOLDER)
set(config_folder ${CMAKE_INSTALL_LIBDIR}/cmake/Convoke)
configure_package_config_file(cmake/ConvokeConfig.cmake.in ${PROJECT_BINARY_DIR}/ConvokeConfig.cmake
  INSTALL_DESTINATION ${config_folder})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/ConvokeConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/ConvokeConfig.cmake ${PROJECT_BINARY_DIR}/ConvokeConfigVersion.cmake
  DESTINATION ${config_folder})
install(EXPORT ConvokeTargets NAMESPACE Convoke:: DESTINATION ${config_folder})
