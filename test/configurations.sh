#!/usr/bin/env bash
# Runs the tests that train under other configurations (configurations.txt), after the programs are built.
#   test/configurations.sh [NAME ...]     all configurations, or those
# Takes some minutes for each. A failure of one test: TESTS='"its name"' test/configurations.sh NAME
#   BUILD=build/dev TESTS='"a test name*",[#logs_test]': the build folder, and which tests (of apps_test, in Catch2's words)
# The tests start a wrapper of the program. Prints the names of the tests that fail, and ends with 1 if there are any.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/.."
build=$(readlink -f "${BUILD:-build/dev}") table=test/configurations.txt
all='augmentation distill encoded gather interop logs predict predict_raw ranks resume run_folders storage streaming summary texts_and_tables verify'
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export CONVOKE_REAL=$build/convoke OMP_NUM_THREADS=1 OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_btl=^tcp,uct,openib,ofi
export CONVOKE_RECIPES=$PWD/apps/recipes
[ "$(id -u)" -ne 0 ] || export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
lines_of() {  # CONFIGURATION WORD: the rest of its lines that begin with the word
  awk -v name="$1:" -v word="$2" '/^[^ #]/ { inside = $1 == name } inside && $1 == word { sub(/^ *[a-z]+ */, ""); print }' $table
}
wrapper() {  # CONFIGURATION: writes the program that the tests start
  local name=$1 line
  {
    echo '#!/usr/bin/env bash'
    while read -r line; do echo "export $line"; done < <(lines_of "$name" env)
    printf 'settings=('
    while read -r line; do printf ' --set %q' "$line"; done < <(lines_of "$name" set)
    printf ')\nranks=%s\nrestart=%s\n' "$(lines_of "$name" ranks)" \
      "$(awk -v name="$name:" '/^[^ #]/ { i = $1 == name } i && $1 == "restart" { print "yes" }' $table)"
    cat << 'END'
launcher=()
if [ -n "$ranks" ] && [ -z "${OMPI_COMM_WORLD_SIZE:-}" ]; then
  case ${1:-} in train | evaluate | predict) launcher=("${CONVOKE_MPIRUN:-mpirun}" --oversubscribe --bind-to none -n "$ranks") ;; esac
fi
if [ "${1:-}" != train ] || [[ ${2:--} == -* ]]; then exec "${launcher[@]}" "$CONVOKE_REAL" "$@"; fi
recipe=$2
shift 2
train=(train "$recipe" "${settings[@]}" "$@")
output=
for ((i = 1; i < $#; ++i)); do [ "${!i}" != --output ] || { i=$((i + 1)) output=${!i}; break; }; done
# A run of k epochs is continued with k + 1, so each epoch is another job. Messages come from the last job.
if [ -n "$restart" ] && [ -n "$output" ] && [ "${OMPI_COMM_WORLD_RANK:-0}" = 0 ] && [ -z "${OMPI_COMM_WORLD_SIZE:-}" ]; then
  sets=()
  for ((i = 1; i < $#; ++i)); do [ "${!i}" != --set ] || { i=$((i + 1)); sets+=(--set "${!i}"); }; done
  epochs=$("$CONVOKE_REAL" summary "$recipe" "${sets[@]}" --toml 2> /dev/null | sed -n 's/^epochs = //p')
  if [ "${epochs:-0}" -gt 1 ] && [ "$epochs" -le 20 ] && [ ! -e "$output" ] &&
     "$CONVOKE_REAL" "${train[@]}" --set train.epochs=1 > /dev/null 2>&1; then
    for ((k = 2; k < epochs; ++k)); do
      "$CONVOKE_REAL" train --resume "$output" --set train.epochs="$k" > /dev/null 2>&1 || break
    done
    exec "$CONVOKE_REAL" train --resume "$output" --set train.epochs="$epochs" --quiet
  fi
fi
exec "${launcher[@]}" "$CONVOKE_REAL" "${train[@]}"
END
  } > "$folder/$name"
  chmod +x "$folder/$name"
}
failed=()
mapfile -t names < <(if [ $# -gt 0 ]; then printf '%s\n' "$@"; else sed -n 's/^\([a-z0-9-]*\):.*/\1/p' $table; fi)
for name in "${names[@]}"; do
  grep -q "^$name:" $table || { echo "error: $table has no configuration \"$name\"" >&2; exit 2; }
  need=$(lines_of "$name" needs)
  if [ -n "$need" ] && ! "$CONVOKE_REAL" info | grep -q "$need"; then
    echo "$name: skipped, this processor has no $need"
    continue
  fi
  wrapper "$name"
  without=
  while read -r line; do line=${line#\"}; without+="~\"${line%%\"*}\""; done < <(lines_of "$name" without)
  tests=
  if [ -n "${TESTS:-}" ]; then tests=$TESTS
  else for file in $all; do tests+="${tests:+,}[#${file}_test]$without"; done; fi
  start=$SECONDS
  if (cd "$build/test/apps" && CONVOKE_BINARY=$folder/$name ./apps_test -# "$tests") > "$folder/log" 2>&1; then
    echo "$name: $(tail -n 2 "$folder/log" | head -n 1) ($((SECONDS - start)) s)"
  else
    cat "$folder/log"
    echo "$name: failed"
    failed+=("$name")
  fi
done
[ ${#failed[@]} -eq 0 ] || { echo "failed: ${failed[*]}"; exit 1; }
