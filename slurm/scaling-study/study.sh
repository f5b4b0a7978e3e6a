#!/bin/bash
# mnist-sync: each job of the array is one run of the study
# Written by: convoke slurm study mnist-sync --set train.batch=384 --nodes 3 --ranks-per-node 2 --cpus-per-rank 4 --time 1:00:00
#SBATCH --job-name=mnist-sync
#SBATCH --nodes=3
#SBATCH --ntasks-per-node=2          # MPI ranks on each node
#SBATCH --cpus-per-task=4            # cores of a rank, with a worker thread on each
#SBATCH --mem=512M                   # per node: the prediction and a quarter more
#SBATCH --time=01:00:00              # days-hours:minutes:seconds
#SBATCH --array=0-0                  # a job for each of these numbers
#SBATCH --output=%x-%A-%a.log        # name, number of the array, number in it

study=${1:?the folder of the study}

# Modules that your cluster may need:
# module load openmpi hdf5
convoke=(convoke)
# convoke=(apptainer exec --bind "$PWD" convoke.sif convoke)   # the host's mpirun starts a container per rank

"${convoke[@]}" study "$study/study.toml" --output "$study" --task "$((SLURM_ARRAY_TASK_ID + ${2:-0}))"
