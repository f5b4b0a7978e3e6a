# Fails if an object that is compiled for a further instruction set defines an inline function of a header that other
# objects may define too: the linker keeps one of them, which the others then call on every processor.
#   cmake -D NM=nm -D "OBJECTS=a.o;b.o" -P instruction_sets.cmake
if(NOT OBJECTS)
  message(FATAL_ERROR "no objects for further instruction sets")
endif()
foreach(object IN LISTS OBJECTS)
  execute_process(COMMAND ${NM} -C --defined-only ${object} OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL "[^\n]* [uVW] [^\n]*" shared "${symbols}")
  if(shared)
    list(JOIN shared "\n  " shared)
    message(SEND_ERROR "${object} defines\n  ${shared}\nMark the function [[gnu::always_inline]], or put it into an "
      "anonymous namespace.")
  endif()
endforeach()
