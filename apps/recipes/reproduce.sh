# The common part of the scripts that make the pages of docs/results: apps/recipes/NAME/reproduce. A script sources this
# file with its arguments:
#   --small             the smallest runs that show that the script works, in a minute or two; their figures mean nothing
#   --output FOLDER     where the work is done (default: reproduced/NAME); a second call continues what the first began
#   --only PIECE,...    make only these pieces: times while the machine is quiet, accuracies whenever it is not
#   --publish           copy the tables and figures into docs/results, and write the tables of the page again
#   CONVOKE=build/release/convoke    the program
# A script is a list of pieces; a piece that has ended is not made again.
set -euo pipefail
script=$(readlink -f "$0")
recipe=$(dirname "$script")
name=$(basename "$recipe")
root=$(readlink -f "$recipe/../../..")
results=$root/docs/results
convoke=$(readlink -m "${CONVOKE:-$root/build/release/convoke}")
small= publish= only= output=reproduced/$name

while [ $# -gt 0 ]; do
  case $1 in
    --small) small=yes ;;
    --publish) publish=yes ;;
    --only) only=,${2:?--only needs the names of pieces},; shift ;;
    --output) output=${2:?--output needs a folder}; shift ;;
    -h | --help) sed -n '2,/^[^#]/{s/^# \{0,1\}//p}' "$script"; exit ;;
    *) echo "error: $1 is no option" >&2; echo "  hint: $script --help" >&2; exit 2 ;;
  esac
  shift
done
[ -x "$convoke" ] || { echo "error: $convoke is not there" >&2; echo "  hint: build it (./quickstart), or set CONVOKE" >&2; exit 1; }
mkdir -p "$output/done"
cd "$output"

# piece NAME COMMAND ...: runs the command once; its output goes to NAME.log.
piece() {
  local piece=$1 start=$SECONDS
  shift
  if [ -n "$only" ] && [[ $only != *,$piece,* ]]; then return; fi
  if [ -e "done/$piece" ]; then printf '%-24s done before\n' "$piece"; return; fi
  printf '%-24s ' "$piece"
  set +e  # in a condition, Bash would go on after a command of a function that fails
  (set -e; "$@") > "$piece.log" 2>&1 < /dev/null
  local status=$?
  set -e
  [ $status = 0 ] || { echo "failed, see $PWD/$piece.log" >&2; tail -n 5 "$piece.log" >&2; exit 1; }
  touch "done/$piece"
  echo "$((SECONDS - start)) s"
}

# on_each_core FUNCTION: calls the function with the words of each line of the input, as many at a time as there are cores.
# For runs of one thread, whose times do not count.
on_each_core() {
  local words failed=
  while read -r -a words; do
    while [ "$(jobs -rp | wc -l)" -ge "$(nproc)" ]; do wait -n || failed=yes; done
    "$1" "${words[@]}" < /dev/null &
  done
  while [ -n "$(jobs -rp)" ]; do wait -n || failed=yes; done
  [ -z "$failed" ]
}

# study NAME TABLE [SED]: runs apps/studies/NAME.toml in the folder NAME, and copies its measurements to TABLE; with --small, as
# SED edits it. `edits` are always made.
study() {
  sed -e "${edits:-}" -e "${small:+${3:-}}" "$root/apps/studies/$1.toml" > "$1.toml"
  local resume=
  [ ! -e "$1/study.toml" ] || resume=--resume
  "$convoke" study "$1.toml" --output "$1" $resume
  cp "$1/measurements.csv" "$2"
}

# in_order TABLE KEY ...: sorts the lines of a table by keys of sort, for example 1,1V.
in_order() {
  local table=$1
  shift
  { head -n 1 "$table"; tail -n +2 "$table" | sort -s -t , "${@/#/-k}"; } > "$table.sorted"
  mv "$table.sorted" "$table"
}

# scores RUN: the training accuracy of a run's last epoch and its test accuracy, with a comma between them.
scores() {
  sed -n 's/.*,"accuracy": *\([0-9.]*\).*/\1/p' "$1/metrics.jsonl" | tail -n 1 | tr '\n' ,
  sed -n 's/.*"majority_accuracy": *\([0-9.]*\).*/\1/p' "$1/metrics.jsonl"
}

# real_data NAME: gets a data set, sets `table` to its table, and keeps what `finish` says of it.
real_data() {
  local folder
  folder=$("$root/data-prep/get" "$1")
  table=$folder/$1.csv
  mkdir -p used
  echo "$1: $(head -n 1 "$folder/SOURCE.txt")" > "used/$1"
}

# transfer_recipe SIDE: copies transfer.toml, and gets the weights of its network; with --small, the network has no weights
# and takes pictures of SIDE x SIDE.
transfer_recipe() {
  cp "$recipe/transfer.toml" .
  if [ -z "$small" ]; then
    "$root/data-prep/get" efficientnet-lite0 --output efficientnet-lite0
  else
    sed -i "s/^zoo = .*/&\ninput = [3, $1, $1]/; /^weights/d; /^partial/d; s/^epochs.*/epochs = 2/" transfer.toml
  fi
}

# Makes mnist.h5 here, unless $CONVOKE_DATA has it; all commands of the script find it there.
mnist() {
  [ ! -e "${CONVOKE_DATA:-}/mnist.h5" ] || return 0
  "$convoke" prepare "$("$root/data-prep/get" mnist)" --output mnist.h5
}

# mnist_file: the file that `mnist` made, or found.
mnist_file() { if [ -e mnist.h5 ]; then echo mnist.h5; else echo "$CONVOKE_DATA/mnist.h5"; fi; }

# Edits of a study that make it small: one run of a configuration, contended or not.
once='/^contended_above/d; s/^repeats.*/repeats = 1\ncontended_above = 100/; s/^at_most.*/at_most = 1/; s/^warm_up.*/warm_up = 0/'

# published FILE ...: copies results next to the page, with --publish. The page keeps what is not made yet.
published() {
  [ -n "$publish" ] || return 0
  local file
  mkdir -p "$results/$name"
  for file; do if [ -e "$file" ]; then cp "$file" "$results/$name/"; else echo "$file is not made yet"; fi; done
}

# Prints a page, each table as the command in the comment above it prints it.
with_tables() {
  local page=$1 line
  while IFS= read -r line || [ -n "$line" ]; do
    if [ -n "${skip:-}" ] && [[ $line == \|* ]]; then continue; fi
    skip=
    printf '%s\n' "$line"
    if [[ $line =~ ^'<!-- table: '(.*)' -->'$ ]]; then
      (cd "$(dirname "$page")" && PATH=$(dirname "$convoke"):$PATH && eval "${BASH_REMATCH[1]}")
      skip=yes
    fi
  done < "$page"
}

# The last line of a script. It says which data were used, and how many.
finish() {
  [ ! -d used ] || cat used/*
  if [ -n "$publish" ]; then
    local page
    for page in "$results/$name.md" "$results/$name-"*.md; do
      [ -e "$page" ] || continue
      with_tables "$page" > page.md
      cp page.md "$page"
      echo "wrote docs/results/$(basename "$page")"
    done
  else
    echo "results are in $PWD"
  fi
}
