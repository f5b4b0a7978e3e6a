#!/bin/bash
# mnist-ensemble: evaluates the run on the test split of its recipe
# Written by: convoke slurm ensemble mnist-ensemble --set ensemble.members=4 --nodes 1 --ranks-per-node 1 --cpus-per-rank 4 --at-once 2 --chain --time 1:00:00
#SBATCH --job-name=mnist-ensemble
#SBATCH --nodes=1
#SBATCH --ntasks-per-node=1          # MPI ranks on each node
#SBATCH --cpus-per-task=4            # cores of a rank, with a worker thread on each
#SBATCH --mem=512M                   # per node: the prediction and a quarter more
#SBATCH --time=01:00:00              # days-hours:minutes:seconds
#SBATCH --output=%x-%j.log           # name and number of the job

run=${1:?the folder of a run}

# Modules that your cluster may need:
# module load openmpi hdf5
convoke=(convoke)
# convoke=(apptainer exec --bind "$PWD" convoke.sif convoke)   # the host's mpirun starts a container per rank

# Without these settings, mpirun notices a host that is cut off after eight minutes instead of one.
export OMPI_MCA_oob_tcp_keepalive_time=20 OMPI_MCA_oob_tcp_keepalive_intvl=5 OMPI_MCA_oob_tcp_keepalive_probes=4
# Each rank has its own cores. By default, Open MPI gives one or two ranks a single core for all their threads.
launch=(mpirun --map-by "slot:PE=$SLURM_CPUS_PER_TASK" --bind-to core)

"${launch[@]}" "${convoke[@]}" evaluate "$run"
