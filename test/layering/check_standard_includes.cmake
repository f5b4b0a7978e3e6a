# Checks that every public header includes, itself or by headers of Convoke, what declares the names of the standard
# library that it uses. The compiler does not see this here: it compiles public headers with the standard library
# precompiled.
#   cmake -DROOT=<source folder> -P check_standard_includes.cmake
cmake_minimum_required(VERSION 3.25)

# A header and the names that it declares, by the standard or, for size_t, move and the like, in every implementation.
set(declares
  algorithm "find_if|max|min|ranges|sort"
  array "array|get|size_t|swap|move"
  atomic "atomic|memory_order_[a-z]+"
  bit "bit_cast"
  charconv "from_chars|to_chars"
  chrono "chrono"
  cmath "isfinite"
  concepts "same_as|unsigned_integral|swap"
  condition_variable "condition_variable"
  cstddef "size_t|byte"
  cstdint "u?int(8|16|32|64)_t"
  cstdio "fclose|size_t"
  cstring "memcpy|size_t"
  deque "deque|size_t|move|initializer_list"
  exception "exception|exception_ptr|current_exception"
  filesystem "filesystem"
  functional "function|invoke|less|move|size_t|pair"
  initializer_list "initializer_list|size_t"
  limits "numeric_limits"
  list "list|initializer_list"
  map "map|pair|less|move|size_t|initializer_list"
  memory "unique_ptr|shared_ptr|weak_ptr|make_shared|make_unique|move|size_t"
  mutex "mutex|unique_lock|lock_guard|move|size_t"
  new "bad_alloc|align_val_t|size_t"
  numeric "iota"
  optional "optional|nullopt|move|size_t"
  ranges "ranges"
  set "set|less|move|size_t|initializer_list"
  source_location "source_location"
  span "span|as_bytes|as_writable_bytes|byte|size_t"
  stdexcept "runtime_error|exception"
  string "string|to_string|move|size_t|swap|initializer_list"
  string_view "string_view|size_t"
  system_error "errc"
  thread "jthread|this_thread"
  tuple "tuple|get"
  type_traits "conditional_t|invoke_result_t|is_[a-z_]+_v|remove_cvref_t"
  unordered_map "unordered_map|size_t|initializer_list"
  utility "declval|exchange|get|move|pair|size_t|swap"
  variant "variant|get|get_if|move|size_t"
  vector "vector|move|size_t|swap|initializer_list")

file(GLOB_RECURSE headers RELATIVE ${ROOT}/include ${ROOT}/include/convoke/*.hpp)

# Sets the global property standard:<header> to the standard headers that a public header includes, also through others.
function(collect header)
  get_property(known GLOBAL PROPERTY standard:${header} SET)
  if(known)
    return()
  endif()
  set(found "")
  file(STRINGS ${ROOT}/include/${header} lines REGEX "^#include")
  foreach(line IN LISTS lines)
    if(line MATCHES "<([a-z_]+)>")
      list(APPEND found ${CMAKE_MATCH_1})
    elseif(line MATCHES "\"(convoke/.*)\"")
      collect(${CMAKE_MATCH_1})
      get_property(more GLOBAL PROPERTY standard:${CMAKE_MATCH_1})
      list(APPEND found ${more})
    endif()
  endforeach()
  list(REMOVE_DUPLICATES found)
  set_property(GLOBAL PROPERTY standard:${header} ${found})
endfunction()

set(wrong "")
set(count 0)
foreach(header IN LISTS headers)
  collect(${header})
  get_property(included GLOBAL PROPERTY standard:${header})
  set(here "")
  foreach(name IN LISTS included)
    list(FIND declares ${name} at)
    if(NOT at EQUAL -1)
      math(EXPR at "${at} + 1")
      list(GET declares ${at} names)
      string(APPEND here "|${names}")
    endif()
  endforeach()
  file(READ ${ROOT}/include/${header} text)
  string(REGEX REPLACE "//[^\n]*" "" text "${text}")
  string(REGEX MATCHALL "std::[a-z_0-9]+" used "${text}")
  list(REMOVE_DUPLICATES used)
  foreach(name IN LISTS used)
    string(REPLACE "std::" "" name ${name})
    if(NOT name MATCHES "^(none${here})$")
      list(APPEND wrong "${header}: includes nothing that declares std::${name}")
    endif()
    math(EXPR count "${count} + 1")
  endforeach()
endforeach()

if(wrong)
  list(JOIN wrong "\n  " wrong)
  message(FATAL_ERROR "missing includes, or names that are not in the table of this check:\n  ${wrong}\n")
endif()
if(count EQUAL 0)
  message(FATAL_ERROR "no name of the standard library found under ${ROOT}/include")
endif()
message(STATUS "${count} names of the standard library are declared by what the headers include")
