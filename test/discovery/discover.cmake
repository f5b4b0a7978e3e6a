# Writes what ctest reads to know the tests of a Catch2 program: each TEST_CASE is a test "<PREFIX><case>". Ours because
# Catch2's own takes names apart at semicolons, each version elsewhere, and then runs nothing and calls that passed.
#   cmake -D PROGRAM=... -D PREFIX=... -D ENVIRONMENT=<NAME=value;...> -D LABELS=... -D TIMEOUT=<seconds>
#         [-D COST=<a number>] -D CATCH2_VERSION=... -D OUTPUT=<file> -P discover.cmake
cmake_minimum_required(VERSION 3.25)
file(REMOVE ${OUTPUT})

if(CATCH2_VERSION VERSION_LESS 3)
  set(list_names --list-test-names-only)
  set(fail_if_none "--warn NoTests")  # 3 does so unasked
else()
  set(list_names --list-tests --verbosity quiet)
  set(fail_if_none "")
endif()

set(cost "")
if(COST)
  set(cost " COST ${COST}")
endif()
execute_process(COMMAND ${PROGRAM} ${list_names} OUTPUT_VARIABLE names)
set(script "")
set(count 0)
# Line by line and quoted, never as a list: names may hold semicolons and brackets.
while(names MATCHES "^([^\n]+)\n(.*)$")
  set(name "${CMAKE_MATCH_1}")
  set(names "${CMAKE_MATCH_2}")
  string(REGEX REPLACE "([][\\,])" "\\\\\\1" pattern "${name}")  # what Catch2 would read as more than a character
  string(APPEND script
    "add_test([==[${PREFIX}${name}]==] [==[${PROGRAM}]==] ${fail_if_none} [==[${pattern}]==])\n"
    "set_tests_properties([==[${PREFIX}${name}]==] PROPERTIES\n"
    "  TIMEOUT ${TIMEOUT} SKIP_REGULAR_EXPRESSION \"test skipped: \"\n"
    "  LABELS [==[${LABELS}]==] ENVIRONMENT [==[${ENVIRONMENT}]==]${cost})\n")
  math(EXPR count "${count} + 1")
endwhile()

# The program's own count is in the last line of its long list.
execute_process(COMMAND ${PROGRAM} --list-tests OUTPUT_VARIABLE long_list)
if(count EQUAL 0 OR NOT long_list MATCHES "\n${count} test cases?\n+$")
  message(FATAL_ERROR "${PROGRAM}: ${count} tests were found, but its list is\n${long_list}")
endif()
file(WRITE ${OUTPUT} "${script}")
