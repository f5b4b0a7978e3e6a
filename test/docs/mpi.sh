# Sourced by the scripts that run the program: how Open MPI starts it on a machine for tests.
# More ranks than this machine may have cores; the pages are about machines that have them.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
# Open MPI 4 gives all programs without mpirun one folder, in which two that begin at once disturb each other.
OMPI_MCA_orte_tmpdir_base=$(mktemp -d)
export OMPI_MCA_orte_tmpdir_base
trap 'rm -rf "$OMPI_MCA_orte_tmpdir_base" || true' EXIT  # a daemon that is still ending may write into it
