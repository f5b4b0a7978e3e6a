# Writes what ctest reads to know the tests of a Catch2 program: each TEST_CASE is a test "<area>.<case>". Ours because
# Catch2's own takes names apart at semicolons, each version elsewhere, and then runs nothing and calls that passed.
#   cmake -D PROGRAM=... -D "FILES=<area>/<file>;..." -D ENVIRONMENT=<NAME=value;...> -D TIMEOUT=<seconds>
#         [-D COST=<a number>] -D CATCH2_VERSION=... -D OUTPUT=<file> -P discover.cmake
# The area is a label, and so are the tags [slow] and [threads].
cmake_minimum_required(VERSION 3.25)
file(REMOVE ${OUTPUT})

if(CATCH2_VERSION VERSION_LESS 3)
  set(list_names --list-test-names-only)
  set(fail_if_none "--warn NoTests")  # 3 does so unasked
else()
  set(list_names --list-tests --verbosity quiet)
  set(fail_if_none "")
endif()

# Sets `names` to the names of the tests in these files of an area that have the tag, each with a line break.
function(list_tests area tag)
  list(TRANSFORM FILES REPLACE "^${area}/(.*)" "[#\\1]${tag}~[.]" OUTPUT_VARIABLE tests)
  list(FILTER tests INCLUDE REGEX "^\\[#")
  list(JOIN tests "," tests)
  execute_process(COMMAND ${PROGRAM} ${list_names} "-#" ${tests} OUTPUT_VARIABLE names)
  set(names "${names}" PARENT_SCOPE)
endfunction()

set(script "")
set(count 0)
list(TRANSFORM FILES REPLACE "/.*" "" OUTPUT_VARIABLE areas)
list(REMOVE_DUPLICATES areas)
foreach(area IN LISTS areas)
  foreach(tag slow threads)
    list_tests(${area} "[${tag}]")
    set(${tag} "\n${names}")
  endforeach()
  list_tests(${area} "")
  # Line by line and quoted, never as a list: names may hold semicolons and brackets.
  while(names MATCHES "^([^\n]+)\n(.*)$")
    set(name "${CMAKE_MATCH_1}")
    set(names "${CMAKE_MATCH_2}")
    string(REGEX REPLACE "([][\\,])" "\\\\\\1" pattern "${name}")  # what Catch2 would read as more than a character
    set(labels ${area})
    set(cost "${COST}")
    foreach(tag slow threads)
      string(FIND "${${tag}}" "\n${name}\n" found)
      if(NOT found EQUAL -1)
        string(APPEND labels ";${tag}")
        if(tag STREQUAL "slow")
          set(cost 20)
        endif()
      endif()
    endforeach()
    if(cost)
      string(PREPEND cost " COST ")
    endif()
    string(APPEND script
      "add_test([==[${area}.${name}]==] [==[${PROGRAM}]==] ${fail_if_none} [==[${pattern}]==])\n"
      "set_tests_properties([==[${area}.${name}]==] PROPERTIES\n"
      "  TIMEOUT ${TIMEOUT} SKIP_REGULAR_EXPRESSION \"test skipped: \"\n"
      "  LABELS [==[${labels}]==] ENVIRONMENT [==[${ENVIRONMENT}]==]${cost})\n")
    math(EXPR count "${count} + 1")
  endwhile()
endforeach()

# The program's own count is in the last line of its long list.
execute_process(COMMAND ${PROGRAM} --list-tests OUTPUT_VARIABLE long_list)
if(count EQUAL 0 OR NOT long_list MATCHES "\n${count} test cases?\n+$")
  message(FATAL_ERROR "${PROGRAM}: ${count} tests were found, but its list is\n${long_list}")
endif()
file(WRITE ${OUTPUT} "${script}")
