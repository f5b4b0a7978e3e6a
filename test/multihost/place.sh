# Sourced by the tests beside it: hosts that are network namespaces, in a folder with a dataset and a recipe.
#   CONVOKE: the program. MAKE_DATASET: test/slurm/make_dataset.cpp. Ends with 77 if there are no namespaces here.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cannot() { echo "no hosts here: $1"; exit 77; }
[ "$(id -u)" -eq 0 ] || cannot "network namespaces need root"
for command in ip nsenter unshare; do command -v $command > /dev/null || cannot "$command is missing"; done
ip netns add cvkbench-try 2> /dev/null || cannot "this machine (a container?) cannot create network namespaces"
ip netns del cvkbench-try

. "$here/../../apps/bench/linked_hosts.sh"
export OMPI_MCA_mpi_yield_when_idle=1  # more ranks than cores
cd "$linked_folder"
"$MAKE_DATASET" data.h5 640
cat > recipe.toml << 'RECIPE'
name = "tiny"
seed = 3
[data]
path = "data.h5"
[model]
input = [1, 8, 8]
layers = [
  { layer = "conv2d", filters = 8, kernel = 3 },
  { layer = "batch_norm" },
  { layer = "relu" },
  { layer = "flatten" },
  { layer = "dense", units = 64, activation = "relu" },
  { layer = "dense", units = 4, activation = "softmax" },
]
[train]
epochs = 4
batch = 32
micro_batch = 4
reduction = "exact"
clip_norm = 1.0
ema = 0.9
[run]
threads = 1
bucket_kib = 8
RECIPE
list_of() {  # the ranks on each host; prints them for mpirun --host
  local list= host=0 ranks
  for ranks in "$@"; do
    host=$((host + 1))
    list+=${list:+,}$linked_network.$host:$ranks
  done
  echo "$list"
}
processes_on() {  # a host, a program; prints the numbers of its processes
  local number
  for number in $(ip netns pids "cvkbench$1"); do
    ! grep -qsx "$2" "/proc/$number/comm" || echo "$number"
  done
}
failed=0
check() {  # what is checked, then a command
  local what=$1
  shift
  if "$@"; then echo "ok: $what"; else echo "FAILED: $what ($*)"; failed=1; fi
}
