# Runs COMMAND, a job that fails, and checks that it ends within SECONDS with the exit code CODE, and that it
# prints a line that matches MESSAGE exactly once, followed only by one that matches HINT: no banner of MPI or
# its launcher. ctest's properties cannot count lines.
#   cmake -DCOMMAND="mpirun;..." -DLAUNCHER=mpirun -DCODE=3 -DMESSAGE=regex -DHINT=regex -DSECONDS=5 -P expect_abort.cmake
if(LAUNCHER)
  execute_process(COMMAND ${LAUNCHER} --version OUTPUT_VARIABLE version)
  if(version MATCHES "Open MPI\\) 5")
    set(CODE 1)  # its mpirun, which is asked to end the job, always returns 1
  endif()
endif()
string(TIMESTAMP begin %s)
execute_process(COMMAND ${COMMAND} RESULT_VARIABLE code OUTPUT_VARIABLE out ERROR_VARIABLE err TIMEOUT 60)
string(TIMESTAMP end %s)
math(EXPR seconds "${end} - ${begin}")

set(all "${out}\n${err}")
string(REGEX REPLACE "\\[warn\\] Epoll [^\n]*\n" "" all "${all}")  # mpirun's libevent, where a rank's pipe has closed
string(REGEX MATCHALL "(^|\n)${MESSAGE}\n${HINT}\n" whole "${all}")
string(REGEX MATCHALL "error: " errors "${all}")
list(LENGTH whole wholes)
list(LENGTH errors errors)
if(NOT wholes EQUAL 1 OR NOT errors EQUAL 1)
  message(FATAL_ERROR "expected once: ${MESSAGE} / ${HINT}\nfound ${wholes} of ${errors} errors:\n${all}")
endif()
if(NOT all MATCHES "(^|\n)${MESSAGE}\n${HINT}\n$")
  message(FATAL_ERROR "the message is not the last output:\n${all}")
endif()
if(NOT code STREQUAL CODE)
  message(FATAL_ERROR "expected exit code ${CODE}, got ${code}:\n${all}")
endif()
if(seconds GREATER SECONDS)
  message(FATAL_ERROR "took ${seconds} s, more than ${SECONDS}:\n${all}")
endif()
