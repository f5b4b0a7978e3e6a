#!/usr/bin/env bash
# Runs Convoke on very many or very large things, and prints the time and the memory of each command.
#   scale.sh [small|full]     (small: some seconds; full: the sizes of docs/evidence/faults.md)
# The environment: CONVOKE and MAKE_DATASET, the programs. Fails if a command fails, or needs more memory than is allowed.
. "$(dirname "${BASH_SOURCE[0]}")/place.sh"
size=${1:-small}
case $size in
  small) members=100 joined=4 variants=4 samples=50000 gib=100 fraction=0.0001 ;;
  full) members=1000 joined=1000 variants=50 samples=2000000 gib=100 fraction=0.001 ;;
  *) echo "scale.sh: small or full, not $size" >&2; exit 2 ;;
esac
# measured MIB WHAT COMMAND...: runs the command, which may need so much memory. (The kernel keeps the highest value; what is
# needed in the last hundredth of a second is not seen.)
measured() {
  local most=$1 what=$2 code=0 kib=0 begin end
  shift 2
  begin=$(date +%s%N)
  "$@" > out.txt 2> err.txt &
  while kill -0 $! 2> /dev/null; do
    kib=$(sed -n 's/^VmHWM:[^0-9]*\([0-9]*\).*/\1/p' /proc/$!/status 2> /dev/null | grep . || echo "$kib")
    sleep 0.01
  done
  wait $! || code=$?
  end=$(date +%s%N)
  printf '%-46s %8.1f s %7d MiB\n' "$what" "$(awk "BEGIN { print ($end - $begin) / 1e9 }")" $((kib / 1024))
  [ $code -eq 0 ] || { tail -n 5 out.txt err.txt; bad "$what: exit code $code"; }
  [ $((kib / 1024)) -le "$most" ] || bad "$what needs more than $most MiB"
}
says() { grep -qs -- "$1" out.txt err.txt || bad "no '$1' in: $(tail -n 3 out.txt err.txt)"; }
tiny() { sed "s/^micro_batch = .*/micro_batch = 16/; s/^epochs = .*/epochs = 1/; s|^path = .*|path = \"$1\"|" "$here/../support/tiny.toml"; }

# Very many members, in one job, and gathered from separate jobs.
"$MAKE_DATASET" data.h5 $((20 * members))
tiny data.h5 > recipe.toml
ensemble=(recipe.toml --quiet --set train.mode=ensemble)
measured 500 "train $members members" "$CONVOKE" train "${ensemble[@]}" --set ensemble.members=$members --output ensemble
says "the best of $members"
measured 300 "evaluate $members members" "$CONVOKE" evaluate ensemble
measured 300 "report of $members members" "$CONVOKE" report ensemble --output page.html
grep -q "The 16 best and the 16 worst of $members members" page.html || bad "the page shows all members"
for ((m = 0; m < joined; m++)); do
  "$CONVOKE" train "${ensemble[@]}" --set ensemble.members=$joined --member $m --output run-$m > member.log 2>&1 ||
    bad "member $m: $(tail -n 2 member.log)"
done
measured 500 "gather $joined runs" "$CONVOKE" gather run-* --output gathered

# A study of very many runs: variants x ranks x 10 repeats.
awk -v variants=$variants '
  BEGIN {
    print "system,mode,ranks,threads,fraction,batch,variant,repeat,makespan_seconds,epoch_seconds,accuracy,core_seconds"
    srand(1)
    for (v = 1; v <= variants; v++) for (r = 1; r <= 20; r++) for (n = 1; n <= 10; n++) {
      t = (1 + 10 * v / r) * (1 + 0.02 * rand())
      printf "tiny,sync,%d,1,1,strong,train.batch=%d,%d,%f,%f,%f,%f\n", r, v, n, t, t / 3, 0.9 + 0.01 * rand(), r * t
    }
  }' > times.csv
measured 600 "analyze $((200 * variants)) runs" "$CONVOKE" study analyze times.csv
measured 600 "page of $((200 * variants)) runs" "$CONVOKE" report times.csv --output times.html

# Very many samples.
"$MAKE_DATASET" many.h5 $samples 4
tiny many.h5 | sed 's/8, 8/4, 4/; s/^batch = .*/batch = 1024/; s/^micro_batch = .*/micro_batch = 64/; s/"max_pool", size = 2/"relu"/' > many.toml
measured 700 "train an epoch of $samples samples" "$CONVOKE" train many.toml --quiet --output many
measured 700 "inspect $samples samples" "$CONVOKE" inspect many.h5 --sample 500

# A dataset of 100 GiB, as a file with holes.
"$MAKE_DATASET" sparse.h5 --sparse $gib
cat > sparse.toml << TOML
name = "sparse"
[data]
path = "sparse.h5"
fraction = $fraction
[model]
input = [3, 224, 224]
layers = [
  { layer = "conv2d", filters = 8, kernel = 7, stride = 8 },
  { layer = "global_average_pool" },
  { layer = "dense", units = 2, activation = "softmax" },
]
[train]
epochs = 1
batch = 32
[run]
threads = 1
TOML
measured 400 "train on a fraction of $gib GiB" "$CONVOKE" train sparse.toml --quiet --output sparse
if [ "$size" = full ]; then
  measured 400 "inspect $gib GiB" "$CONVOKE" inspect sparse.h5 --sample 500
  says " left"
fi

# Names of 255 bytes, the most that a file system takes.
long=$(printf 'n%.0s' {1..255})
data=$(printf 'd%.0s' {1..252}).h5
cp data.h5 "$data"
tiny "$data" > "${long:0:250}.toml"
measured 300 "names of 255 bytes" "$CONVOKE" train "${long:0:250}.toml" --quiet --output "$long"
"$CONVOKE" evaluate "$long" > out.txt 2> err.txt || bad "evaluate: $(tail -n 2 err.txt)"
"$CONVOKE" report "$long" > out.txt 2> err.txt || bad "report: $(tail -n 2 err.txt)"

# Four billion parameters, which are planned and not allocated.
cat > large.toml << 'TOML'
name = "large"
[data]
path = "data.h5"
[model]
input = [1, 8, 8]
layers = [
  { layer = "conv2d", filters = 16384, kernel = 3 },
  { layer = "conv2d", filters = 27306, kernel = 3 },
  { layer = "global_average_pool" },
  { layer = "dense", units = 4, activation = "softmax" },
]
TOML
measured 200 "plan 4 billion parameters" "$CONVOKE" summary large.toml --plan
says "total parameters: 4,026,733,910 (15.0 GiB)"
"$CONVOKE" train large.toml --output large > out.txt 2> err.txt && bad "15 GiB of parameters were trained"
says "large does not fit into memory\|it may use"
[ $failed -eq 0 ]
