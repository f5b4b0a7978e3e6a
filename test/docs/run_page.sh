#!/usr/bin/env bash
# Runs the blocks of commands of a page in order, in an empty folder, against the built program:
#   run_page.sh docs/data.md FOLDER      (from the root of the sources; CONVOKE_BINARY names the program)
# blocks.awk says how comments in the page steer this.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
page=$1 folder=$2/${1//\//.}
data=$2/made

rm -rf "$folder"
mkdir -p "$folder/bin" "$folder/work"
# As a reader's `convoke` and `mpirun`: the programs, whose exit codes a page may expect.
for program in convoke="$CONVOKE_BINARY" mpirun="$(command -v mpirun)"; do
  cat > "$folder/bin/${program%%=*}" <<END
#!/usr/bin/env bash
"${program#*=}" "\$@" && exit
code=\$?
for accepted in \$CONVOKE_ACCEPTED; do [ "\$code" != "\$accepted" ] || exit 0; done
exit \$code
END
  chmod +x "$folder/bin/${program%%=*}"
done
export PATH=$folder/bin:$PATH CONVOKE_RECIPES=$root/apps/recipes CONVOKE_ACCEPTED= CONVOKE_CACHE=$folder/cache
export XDG_CACHE_HOME=$folder/cache
. "$root/test/docs/mpi.sh"
unset CONVOKE_DATA

# Links what the page needs out of the folder that data.sh has made.
setup() {
  local item
  for item in "$@"; do
    item=${item%,}
    [ -e "$data/$item" ] || { echo "test/docs/data.sh makes no $item" >&2; exit 1; }
    mkdir -p "$(dirname "$item")"
    cp -rn "$data/$item" "$(dirname "$item")/"
  done
}

edited() { if [ -n "$1" ]; then sed -e "$1"; else cat; fi; }

to_file() {
  mkdir -p "$(dirname "$2")"
  edited "$3" > "$2"
}

# Sets `block` to what is read, and says it.
read_block() {
  block=$(edited "$2")
  export CONVOKE_ACCEPTED=$3
  printf '\n== %s\n%s\n' "$1" "$block"
}

# check_output WHERE exactly|varying < TEXT: the block, which runs in a shell of its own, prints the text.
check_output() {
  local where=$1 kind=$2 text printed code=0 numbers='s/[[:space:]]+/ /g; s/ $//'
  text=$(cat)
  printed=$(eval "$block" 2>&1) || code=$?
  echo "$printed"
  [ "$code" = 0 ] || { echo "$where: exit code $code" >&2; exit 1; }
  [ "$kind" = exactly ] || numbers="s/[0-9]([0-9,.]*[0-9])?/N/g; $numbers"
  awk -v where="$where" 'function fits(line, text) {
      return line == text || text ~ / \.\.\.$/ && substr(line, 1, length(text) - 3) == substr(text, 1, length(text) - 3)
    }
    NR == FNR { printed[++lines] = $0; next }
    $0 == "..." { any = 1; next }
    { begin = ++at
      while (any && at < lines && !fits(printed[at], $0)) ++at
      if (at > lines || !fits(printed[at], $0)) {
        printf "%s: the command does not print \"%s\", but \"%s\"\n", where, $0, printed[begin] > "/dev/stderr"
        exit failed = 1
      }
      any = 0 }
    END {
      if (!failed && !any && at < lines) { printf "%s: the command also prints \"%s\"\n", where, printed[at + 1] > "/dev/stderr"; exit 1 }
    }' <(sed -E "$numbers" <<< "$printed") <(sed -E "$numbers" <<< "$text") || exit 1
}

# run_python WHERE < PROGRAM: in CONVOKE_PYTHON, or python3, if it has the modules of our pages.
run_python() {
  local python=${CONVOKE_PYTHON:-python3} text
  text=$(cat)
  printf '\n== %s (Python)\n%s\n' "$1" "$text"
  "$python" -c 'import numpy, pandas' 2> /dev/null || { echo "not run: $python has no NumPy and pandas"; return 0; }
  "$python" - <<< "$text" || { echo "$1: Python fails" >&2; exit 1; }
}

# check_table WHERE COMMAND < TABLE: the command prints the table, in the folder of the page.
check_table() {
  local where=$1 command=$2 table printed
  table=$(cat)
  printf '\n== %s (a table)\n%s\n' "$where" "$command"
  printed=$(cd "$root/$(dirname "$page")" && eval "$command")
  diff <(echo "$table") <(echo "$printed") || { echo "$where: the command prints another table (>)" >&2; exit 1; }
}

# A block that cannot be run here is one that bash can read, and whose `convoke` commands have options that the program knows.
check_block() {
  local text line
  text=$(edited "$2")
  printf '\n== %s (not run)\n%s\n' "$1" "$text"
  bash -n <<< "$text" || { echo "$1: bash cannot read this" >&2; exit 1; }
  while IFS= read -r line; do check_command "$1" "$line"; done < <(sed -e ':a' -e '/\\$/{N;s/\\\n//;ba}' <<< "$text")
}

# check_command WHERE LINE: asks the real parser about what follows the word convoke. An option that cannot exist is added, so that
# nothing is ever run; the parser complains of that one only after it has accepted all others.
check_command() {
  local where=$1 partly=${3:-} words complaint
  [[ $2 =~ ^((mpirun|srun|apptainer)\ (.*[\ /])?|[^\ ]*/)?convoke\ +([a-z-].*)$ ]] || return 0
  words=$(sed -e 's/[[:space:]]#.*//' -e 's/[|;&<>].*//' <<< "${BASH_REMATCH[4]}")
  set -f
  eval "set -- $words"
  set +f
  case " $* " in *" --help "*) set -- "$1" ;; esac
  complaint=$("$CONVOKE_BINARY" "$@" --no-such-option 2>&1 | head -n 1) || true
  case ${complaint/--no-such-option/} in
    *--*) ;;
    "$complaint") ;;
    *) return 0 ;;
  esac
  [[ -z $partly || $complaint != *"is required"* ]] || return 0
  echo "$where: convoke $words: $complaint" >&2
  exit 1
}

awk -v page="$page" -f "$root/test/docs/blocks.awk" "$root/$page" > "$folder/blocks.sh"

# Commands within a sentence or a table, such as `convoke summary --plan`, name options that there are.
while IFS= read -r line; do
  check_command "$page, in a sentence" "$line" partly
done < <(awk '/^```/ { inside = !inside } !inside' "$root/$page" | { grep -o '`convoke [a-z][^`]*`' || true; } | tr -d '`' | sort -u)

cd "$folder/work"
set +u +o pipefail  # as in a reader's shell
. "$folder/blocks.sh"
