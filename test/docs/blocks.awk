# Turns the fenced blocks of a page into a shell script that runs them in order.
#   awk -v page=docs/data.md -f blocks.awk docs/data.md > script
#
# A comment on the lines above a block says what to do with it:
#   <!-- test: setup mnist.h5 leaves -->     provides generated data first (see data.sh)
#   <!-- test: file my-cnn/recipe.toml -->   writes the block into this file; `, with 's/a/b/'` edits it by sed first
#   <!-- test: parse, needs Slurm -->        checks the block's syntax and the options of its `convoke` commands only
#   <!-- test: with 's/a/b/' -->             runs the block as sed edits it
#   <!-- test: accept 3 4 -->                these exit codes of convoke are no failure
#   <!-- test: shows -->                     the commands of a `console` block print its other lines; `...` stands for any lines,
#                                            and at the end of a line for any text.
#                                            `shows, numbers vary`: other numbers are as good
#   <!-- test: python -->                    runs the block of python, if there is a Python with NumPy and pandas
# A comment above a table in Markdown has the command that prints this table, in the folder of the page:
#   <!-- table: convoke study table study.csv --rows ranks --show accuracy -->
# Blocks of `sh` are run; in `console` the lines that begin with "$ ". Other languages are not looked at.

function quoted(text) { gsub(/'/, "'\\''", text); return "'" text "'" }
function word(text, n,  parts) { split(text, parts, /[ ,]+/); return parts[n] }

function begin_block(language) {
  here = language ~ /^(sh|console)$/ ? "block" : (file != "" && language == "toml" ? "file" : "other")
  if (python && language == "python") here = "python"
  where = page ":" NR
  if (language == "") {
    printf "%s:%d: a block without a language: sh, console, text, toml, ...\n", page, NR > "/dev/stderr"
    failed = 1
  }
  console = language == "console"
  if (shows != "" && !console) { printf "%s:%d: \"shows\" needs a block of console\n", page, NR > "/dev/stderr"; failed = 1 }
  expected = ""
  if (here == "python") printf "run_python %s <<'END_OF_BLOCK'\n", quoted(where)
  if (here == "file") printf "to_file %s %s %s <<'END_OF_BLOCK'\n", quoted(page ":" NR), quoted(file), quoted(edit)
  if (here == "block")
    printf "%s %s %s %s <<'END_OF_BLOCK'\n", parse ? "check_block" : "read_block", quoted(page ":" NR), quoted(edit), quoted(accept)
}

function end_block() {
  if (here ~ /^(file|table|python)$/) print "END_OF_BLOCK"
  if (here == "block") {
    print "END_OF_BLOCK"
    if (shows != "") printf "check_output %s %s <<'END_OF_BLOCK'\n%sEND_OF_BLOCK\n", quoted(where), shows, expected
    else if (!parse) print "eval \"$block\""  # in this shell: variables and folders last until the end of the page
  }
  here = file = edit = accept = shows = ""
  parse = python = 0
}

# The lines of a table, up to one that is not of it.
here == "table" && /^\|/ { print; next }
here == "table" { end_block() }
/^<!-- table: .* -->$/ {
  command = $0
  sub(/^<!-- table: /, "", command)
  sub(/ -->$/, "", command)
  here = "table"
  printf "check_table %s %s <<'END_OF_BLOCK'\n", quoted(page ":" NR), quoted(command)
  next
}
/^```/ {
  if (here != "") end_block()
  else begin_block(substr($0, 4))
  next
}
here == "file" || here == "python" { print; next }
here == "block" {
  if (!console) print
  else if (/^\$ / || continued) { sub(/^\$ /, ""); print; continued = /\\$/ }
  else expected = expected $0 "\n"
  next
}
here != "" { next }
/^<!-- test: .* -->$/ {
  text = $0
  sub(/^<!-- test: /, "", text)
  sub(/ -->$/, "", text)
  kind = word(text, 1)
  if (match(text, /with '[^']*'/)) edit = substr(text, RSTART + 6, RLENGTH - 7)
  if (kind == "setup") printf "setup %s\n", substr(text, 7)
  else if (kind == "file") file = word(text, 2)
  else if (kind == "parse") parse = 1
  else if (kind == "python") python = 1
  else if (kind == "accept") { accept = text; sub(/^accept /, "", accept) }
  else if (kind == "shows") shows = text ~ /numbers vary/ ? "varying" : "exactly"
  else if (kind != "with") { printf "%s:%d: unknown test comment: %s\n", page, NR, $0 > "/dev/stderr"; failed = 1 }
  next
}
/^[^ ]/ && (file != "" || parse || python || edit != "" || accept != "" || shows != "") {
  printf "%s:%d: a test comment stands right above its block\n", page, NR > "/dev/stderr"
  failed = 1
}
END {
  if (here == "table") end_block()
  exit failed
}
