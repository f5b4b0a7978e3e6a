#!/bin/bash
# mnist-sync: its runs side by side; arguments: their folders
# Written by: convoke slurm study mnist-sync --set train.batch=512 --nodes 3 --ranks-per-node 2 --cpus-per-rank 4 --time 1:00:00
#SBATCH --job-name=mnist-sync
#SBATCH --nodes=1
#SBATCH --ntasks-per-node=1          # MPI ranks on each node
#SBATCH --cpus-per-task=1            # cores of a rank, a worker thread on each
#SBATCH --time=01:00:00              # days-hours:minutes:seconds
#SBATCH --output=%x-%j.log           # name and number of the job


# What a cluster may want first:
# module load openmpi hdf5
convoke=(convoke)
# convoke=(apptainer exec --bind "$PWD" convoke.sif convoke)   # the host's mpirun starts a container per rank

# Each rank on cores of its own. Open MPI by itself gives one or two ranks a single core for all their threads.
launch=(mpirun --map-by "slot:PE=$SLURM_CPUS_PER_TASK" --bind-to core)

"${launch[@]}" "${convoke[@]}" compare "$@"
