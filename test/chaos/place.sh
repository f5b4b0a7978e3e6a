# Sourced by the scripts of this folder: goes to an empty temporary folder, which is removed at the end.
set -uo pipefail
: "${CONVOKE:?}" "${MAKE_DATASET:?}"   # the programs
export OMPI_MCA_mpi_yield_when_idle=1  # waiting ranks leave the core to working ones
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
cd "$place" || exit 1
# Open MPI 4 removes the folder of its jobs when it is empty, and a job that starts just then fails.
export OMPI_MCA_orte_tmpdir_base=$place/mpi
mkdir -p "mpi/ompi.$(uname -n).$(id -u)/keep"
failed=0
bad() {  # MESSAGE: the script goes on, and fails at its end
  echo "FAILED: $*"
  failed=1
}
make_recipe() { sed "s/^epochs = .*/epochs = $1/" "$here/../support/tiny.toml" > recipe.toml; }  # EPOCHS
