#!/bin/bash
# mnist-ensemble: the run evaluated on the split that its recipe tests on
# Written by: convoke slurm ensemble mnist-ensemble --set ensemble.members=4 --nodes 1 --ranks-per-node 1 --cpus-per-rank 4 --at-once 2 --chain --time 1:00:00
#SBATCH --job-name=mnist-ensemble
#SBATCH --nodes=1
#SBATCH --ntasks-per-node=1          # MPI ranks on each node
#SBATCH --cpus-per-task=4            # cores of a rank, a worker thread on each
#SBATCH --mem=512M                   # of each node: as predicted, and a quarter more
#SBATCH --time=01:00:00              # days-hours:minutes:seconds
#SBATCH --output=%x-%j.log           # name and number of the job

run=${1:?the folder of a run}

# What a cluster may want first:
# module load openmpi hdf5
convoke=(convoke)
# convoke=(apptainer exec --bind "$PWD" convoke.sif convoke)   # the host's mpirun starts a container per rank

# Each rank on cores of its own. Open MPI by itself gives one or two ranks a single core for all their threads.
launch=(mpirun --map-by "slot:PE=$SLURM_CPUS_PER_TASK" --bind-to core)

"${launch[@]}" "${convoke[@]}" evaluate "$run"
