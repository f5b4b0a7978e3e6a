# Installs the build tree to a scratch prefix, builds the consumer against it and runs it.
#   cmake -DBUILD=<build folder> -DSOURCE=<consumer> -DFOLDER=<scratch> -DFLAGS=<C++ flags> -DCXX=<compiler>
#         -DROOTS="-DDNNL_ROOT=..." -DPROGRAM=ON -P install_test.cmake
cmake_minimum_required(VERSION 3.25)

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE code OUTPUT_VARIABLE out ERROR_VARIABLE out)
  if(NOT code EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "${command}\nended with ${code}:\n${out}")
  endif()
  set(out "${out}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${FOLDER})
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${FOLDER}/prefix)
run(${CMAKE_COMMAND} -E copy_directory ${SOURCE} ${FOLDER}/source)
# Configured where they cannot see the source or the build tree of Convoke, each with its components alone.
function(build_and_run program)
  list(JOIN ARGN "," components)
  run(${CMAKE_COMMAND} -S ${FOLDER}/source -B ${FOLDER}/${program} -DCMAKE_PREFIX_PATH=${FOLDER}/prefix
      -DPROGRAM=${program} -DCOMPONENTS=${components} -DCMAKE_CXX_COMPILER=${CXX} "-DCMAKE_CXX_FLAGS=${FLAGS}" ${ROOTS})
  run(${CMAKE_COMMAND} --build ${FOLDER}/${program})
  run(${CMAKE_COMMAND} -E chdir ${FOLDER} ${FOLDER}/${program}/consumer)
  set(out "${out}" PARENT_SCOPE)
endfunction()

build_and_run(tools tools data_prep)
if(NOT out MATCHES "seconds 5400, number 2.5")
  message(FATAL_ERROR "the program with tools and data_prep printed:\n${out}")
endif()
build_and_run(train train)

# conv2d: 4 (1*3*3) + 4 = 40; dense: 2 (4*6*6) + 2 = 290. The two classes are easily told apart.
foreach(expected "330" "rank 0 of 1" "accuracy 1\n")
  if(NOT out MATCHES "${expected}")
    message(FATAL_ERROR "the consumer did not print ${expected}:\n${out}")
  endif()
endforeach()

foreach(file model.h5 recipe.toml summary.json evaluation.json)
  if(NOT EXISTS ${FOLDER}/run/${file})
    message(FATAL_ERROR "the consumer's run left no ${file}")
  endif()
endforeach()

# The program starts from its new place, and the recipes are there.
if(PROGRAM)
  run(${FOLDER}/prefix/bin/convoke --help)
  foreach(text man/man1/convoke.1 man/man1/convoke-study-analyze.1 bash-completion/completions/convoke
          zsh/site-functions/_convoke)
    if(NOT EXISTS ${FOLDER}/prefix/share/${text})
      message(FATAL_ERROR "share/${text} was not installed")
    endif()
  endforeach()
  run(${CMAKE_COMMAND} -E env --unset=CONVOKE_RECIPES ${FOLDER}/prefix/bin/convoke summary mnist-sync)
endif()
file(GLOB recipes ${FOLDER}/prefix/share/convoke/recipes/*/recipe.toml)
if(NOT recipes)
  message(FATAL_ERROR "no recipe was installed")
endif()
file(REMOVE_RECURSE ${FOLDER})
