# Invalid requests are refused before they wait in a queue, with the reason and the fix.
. "$(dirname "$0")/../place.sh"

refused() {  # what, message, hint, options
  local what=$1 message=$2 hint=$3
  shift 3
  if PATH=${path:-$PATH} "$CONVOKE" slurm "$@" > "$what.log" 2>&1; then failed=yes; echo "FAILED: $what was accepted"; fi
  check "$what: what" says "$what.log" "$message"
  [ -z "$hint" ] || check "$what: hint" says "$what.log" "hint: .*$hint"
}
given=(--nodes 1 --ranks-per-node 1 --cpus-per-rank 1)

refused partition 'unknown partition "mains" (did you mean "main"?)' "known: main, physics, short, spare" \
  train recipe.toml --partition mains
refused partition-of-sbatch "nvalid partition" "sinfo -s lists" \
  train recipe.toml --partition mains "${given[@]}" --output jobs/a --submit
# sbatch accepts this job, which would wait forever.
job=$(slurm train recipe.toml --partition physics --account chemistry "${given[@]}" \
  --output jobs/waits --submit 2> account.log | job_of train.sh)
check "a job that waits for ever: what" says account.log "warning: job $job may wait forever: .*account"
check "a job that waits for ever: hint" says account.log "hint: .*--account"
scancel "$job"
refused constraint "nvalid feature" "lists the features" \
  train recipe.toml --constraint gold "${given[@]}" --output jobs/c --submit
refused nodes "9 nodes are more than the 3 that are available in partition main" "use fewer --nodes" train recipe.toml --nodes 9
refused cores "4 ranks with 9 cores each" "cpus-per-rank" train recipe.toml --ranks-per-node 4 --cpus-per-rank 9
refused micro_batches "12 ranks are more than tiny can use, whose work has only 8 parts" "smaller train.micro_batch" \
  train recipe.toml --nodes 3 --ranks-per-node 4
refused memory "vgg16 does not fit into memory: .* nodes of partition main have at most 3.9 GiB" "train.micro_batch" \
  train vgg16 --set train.batch=256 --set train.micro_batch=32 --nodes 1
refused time "a limit of 00:02:00 is too short: the warning, 120 s before the end, would come before the job begins" "longer --time" train recipe.toml --time 2
refused limit "--time 10: more than partition short allows, 00:05:00" "continues in the queue by itself" \
  train recipe.toml --partition short --time 10
refused no-time '"soon" is not a time' "2-12" train recipe.toml --time soon
refused members "the number of members is not set" "ensemble.members=8" ensemble mnist-ensemble
refused sync "trains one synchronous model" "mode=ensemble" ensemble recipe.toml
refused sweep "not of the form KEY=VALUE,VALUE" "learning_rate" train recipe.toml --sweep seed
refused sweep-value "train.epochs=-1: .* must be at least 0" "" train recipe.toml --sweep train.epochs=1,-1
refused source "the source of the samples is missing" "--source" prepare recipe.toml
check "the queue is empty" no_jobs

# No Slurm on the PATH, then a Slurm that is not configured.
mkdir bin
for command in bash sh dirname; do ln -s "$(command -v $command)" bin/; done
path=$place/bin
refused no-slurm "Slurm is not installed here: sinfo is not on the PATH" "login node" train recipe.toml
refused no-sbatch "Slurm is not installed here: sbatch is not on the PATH" "bash jobs/d/submit.sh" \
  train recipe.toml "${given[@]}" --output jobs/d --submit
path=
if [ ! -e /etc/slurm/slurm.conf ]; then
  known=$SLURM_CONF
  unset SLURM_CONF
  refused no-cluster "sinfo fails" "not configured" train recipe.toml
  export SLURM_CONF=$known
fi

# Scripts that a user has changed are not overwritten.
slurm train recipe.toml "${given[@]}" --output jobs/mine > /dev/null
echo "# mine" >> jobs/mine/train.sh
refused overwrite "jobs/mine/train.sh: this file exists with other contents" "choose another --output" \
  train recipe.toml "${given[@]}" --output jobs/mine

# A warning that comes before training starts: the limit is too short, and the job is not requeued endlessly.
slurm train recipe.toml --set train.epochs=100000 "${given[@]}" --output jobs/early > /dev/null
sed -i 's/^"${launch\[@\]}".* &$/sh -c "kill -USR1 \\$\\$" \&/' jobs/early/train.sh
job=$(sbatch --parsable jobs/early/train.sh)
wait_for "$job" 180
check "too short, at run time" says "tiny-$job.log" "ended with 138: the warning came before training began"
check "and not requeued" ended "$job" FAILED
