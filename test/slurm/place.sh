# For the cases, sourced: a folder with a recipe, and functions to submit jobs and check their results.
#   CONVOKE: the program. MAKE_DATASET: make_dataset.cpp. PARTITION: where the jobs run (default: main). A case ends with 77 if
#   there is no Slurm.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/eventually.sh"
cluster_folder=${CONVOKE_SLURM:-/tmp/convoke-slurm}
export SLURM_CONF=$cluster_folder/slurm.conf
[ -e "$SLURM_CONF" ] || { "$here/cluster.sh" check || exit 77; echo "no Slurm here: it was not started"; exit 77; }

# Simulated nodes are one machine: nodes must not divide its few cores again, and waiting ranks yield.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMP_NUM_THREADS=1
export OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_hwloc_base_binding_policy=none

place=$(mktemp -d /tmp/convoke-slurm-case-XXXXXX)
# Prints the jobs of this case that are in the queue. A case in another partition runs beside it.
jobs_of_here() { squeue -h -o '%A %Z' 2> /dev/null | awk -v place="$place" 'index($2, place) == 1 { print $1 }' | sort -u; }
no_jobs() { local jobs; jobs=$(jobs_of_here) && [ -z "$jobs" ]; }  # false also while the controller does not answer
failed=
finish() {
  local code=$?
  set +e  # nothing below decides how the case ends
  [ -z "$failed" ] || code=1
  no_jobs || scancel $(jobs_of_here)
  eventually 30 no_jobs  # until then, they write into the folder
  [ $code -eq 0 ] || for log in "$place"/*.log; do echo "--- $log"; cat "$log"; done
  rm -rf "$place"
  exit $code
}
trap finish EXIT
cd "$place"

"$MAKE_DATASET" data.h5
cp "$here/../support/tiny.toml" recipe.toml

check() {  # what, then a command that must succeed
  local what=$1
  shift
  if "$@"; then echo "ok: $what"; else echo "FAILED: $what: $*"; failed=yes; fi
}
same() { cmp "$1" "$2"; }
says() { grep -qs -- "$2" "$1"; }  # file, pattern
absent() { [ ! -e "$1" ]; }

slurm() { "$CONVOKE" slurm "$@" --bind none ${PARTITION:+--partition "$PARTITION"}; }
# Prints the job number of a submitted script: submitted < <(slurm train ... --submit)
job_of() { sed -n "s/^$1: job \([0-9]*\).*/\1/p"; }

out_of_queue() { local jobs; jobs=$(squeue -h -o '%A %F' 2> /dev/null) && ! grep -qw "$1" <<< "$jobs"; }
wait_for() {  # job, timeout in seconds
  eventually "$2" out_of_queue "$1" || { echo "FAILED: job $1 is still in the queue after $2 s"; squeue; failed=yes; }
}
wait_until() {  # timeout in seconds, command
  eventually "$@" || { echo "FAILED: did not happen: $*"; failed=yes; }
}
state_of() {  # state of a job that has ended
  sed -n "s/^JobId=$1 .* JobState=\([A-Z_]*\) .*/\1/p" "$cluster_folder/log/jobs.txt" | tail -n 1
}
ended() { [ "$(state_of "$1")" = "$2" ] || { echo "$1 is $(state_of "$1")"; false; }; }
has_checkpoint() { ls "$1"/checkpoints/*.h5 > /dev/null 2>&1; }
