# The runs of a study as jobs of arrays, one array for each size, and a job that collects them in one table.
. "$(dirname "$0")/../place.sh"

cat > s.toml << 'STUDY'
recipe = "recipe.toml"
ranks = [1, 2, 8]
repeats = 2
at_most = 2
warm_up = 1
contended_above = 1e9
[set]
train.epochs = 1
STUDY
study() { "$CONVOKE" study s.toml --slurm --output out --bind none --ranks-per-node 4 "$@"; }
lines() { tail -n +2 out/measurements.csv | wc -l; }

output=$(study --at-once 2 --submit)
echo "$output"
check "an array for each size" [ "$(grep -c '^study.sh: job' <<< "$output")" = 3 ]
check "eight ranks use two nodes" grep -q -- "--nodes=2 --ntasks-per-node=4" out-jobs/submit.sh
collect=$(job_of collect.sh <<< "$output")
refused=$(study --resume --submit 2>&1) || true
check "runs in the queue are not submitted again" grep -q "out: jobs of this study are still in the queue: .*$collect" <<< "$refused"
wait_for "$collect" 240
check "collecting succeeds" ended "$collect" COMPLETED
check "a line for each run" [ "$(lines)" = 6 ]
check "no run has failed" [ "$(grep -c failed out/measurements.csv)" = 0 ]
for ranks in 1 2 8; do check "$ranks ranks form a configuration" says "s-$collect.log" "^!\?tiny-sync-${ranks}x1  *2 "; done

# Only a missing run is made again.
sed -i '/,sync,8,1,1,strong,,2,/d' out/measurements.csv
check "one is missing" [ "$(lines)" = 5 ]
output=$(study --resume --submit)
check "one array is left" [ "$(grep -c '^study.sh: job' <<< "$output")" = 1 ]
collect=$(job_of collect.sh <<< "$output")
wait_for "$collect" 120
check "the missing run was made" [ "$(lines)" = 6 ]
refused=$(study --resume --submit 2>&1) && failed=yes
check "no run is missing now" grep -q "out: no run is missing" <<< "$refused"

# The job that collects adds runs until makespans reach a target, which no two runs can reach.
sed 's/^ranks = .*/ranks = [1]/; s/^at_most = .*/at_most = 5\ntarget = 1e-9/' s.toml > u.toml
output=$("$CONVOKE" study u.toml --slurm --output added --bind none --ranks-per-node 4 --submit)
echo "$output"
added() { [ "$(tail -n +2 added/measurements.csv 2> /dev/null | wc -l)" = 5 ]; }
wait_until 240 added
wait_until 60 no_jobs
check "two, then two, then one, which are at_most" [ "$(cut -d, -f8 added/measurements.csv | paste -sd,)" = repeat,1,2,3,4,5 ]
check "each round prints what it adds" [ "$(cat u-*.log | grep -c "more runs, to know every makespan to")" = 2 ]
check "warm-ups leave no folder" [ -z "$(find added/runs -name '*warm-up*')" ]

# srun starts two ranks on two nodes.
sed 's/^ranks = .*/ranks = [2]/; s/^repeats = .*/repeats = 1/; s/^at_most = .*/at_most = 1/' s.toml > t.toml
output=$("$CONVOKE" study t.toml --slurm --output by-srun --bind none --ranks-per-node 1 --launcher srun --submit)
collect=$(job_of collect.sh <<< "$output")
wait_for "$collect" 120
check "srun: a run of two ranks" grep -q ',sync,2,1,' by-srun/measurements.csv
check "srun: that has not failed" [ "$(grep -c failed by-srun/measurements.csv)" = 0 ]
check "srun: on two nodes" says by-srun/runs/tiny-sync-2x1-1/environment.json '"nodes": 2'
