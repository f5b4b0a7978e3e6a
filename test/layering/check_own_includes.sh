#!/usr/bin/env bash
# check_own_includes.sh ROOT: every public header includes, itself or by headers that it includes, a header that declares the
# types of Convoke that it names, or declares them itself. (Sources that are compiled together do not see this: a header may
# find there what the file before it has included.)
set -euo pipefail
cd "$1/include"
find convoke -name '*.hpp' | sort | xargs awk '
  { sub(/\/\/.*/, "") }
  /^#include "/ { split($0, part, "\""); includes[FILENAME] = includes[FILENAME] " " part[2]; next }
  {
    line = $0
    if (match(line, /^(class|struct|enum class|using|concept) [A-Z][A-Za-z0-9]*( [{:=]|$|<)/) && line !~ /;$/ || line ~ /^using [A-Z]/) {
      split(line, part, /[ ;:{<]+/)
      declared[part[1] == "enum" ? part[3] : part[2]] = 1
    }
    while (match(line, /(class|struct|typename|concept|alignas\([0-9]+\)|\[\[nodiscard\]\]) [A-Z][A-Za-z0-9]*|using [A-Z][A-Za-z0-9]* =/)) {
      name = substr(line, RSTART, RLENGTH)
      sub(/ =$/, "", name)
      sub(/.* /, "", name)
      here[FILENAME, name] = 1
      line = substr(line, RSTART + RLENGTH)
    }
    line = $0
    gsub(/"[^"]*"/, "", line)
    while (match(line, /[A-Za-z_][A-Za-z0-9_]*/)) {
      name = substr(line, RSTART, RLENGTH)
      if (name ~ /^[A-Z]/) uses[FILENAME, name] = FNR
      line = substr(line, RSTART + RLENGTH)
    }
  }
  function found(header, name,   list, n, i) {
    if ((header, name) in here) return 1
    if (seen[header] == serial) return 0
    seen[header] = serial
    n = split(includes[header], list, " ")
    for (i = 1; i <= n; ++i) if (found(list[i], name)) return 1
    return 0
  }
  END {
    for (use in uses) {
      split(use, part, SUBSEP)
      if (!(part[2] in declared)) continue
      ++serial; ++count
      if (found(part[1], part[2])) continue
      printf "%s:%d: includes nothing that declares %s\n", part[1], uses[use], part[2]
      wrong = 1
    }
    print count + 0 " types of Convoke are declared by what the headers include"
    exit wrong || count == 0
  }'
