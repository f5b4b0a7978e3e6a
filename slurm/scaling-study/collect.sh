#!/bin/bash
# mnist-sync: collects the measurements of its runs, and submits further runs
# Written by: convoke slurm study mnist-sync --set train.batch=384 --nodes 3 --ranks-per-node 2 --cpus-per-rank 4 --time 1:00:00
#SBATCH --job-name=mnist-sync
#SBATCH --nodes=1
#SBATCH --ntasks-per-node=1          # MPI ranks on each node
#SBATCH --cpus-per-task=1            # cores of a rank, with a worker thread on each
#SBATCH --time=01:00:00              # days-hours:minutes:seconds
#SBATCH --output=%x-%j.log           # name and number of the job

study=${1:?the folder of the study}
here=${2:?the folder of these scripts}

# Modules that your cluster may need:
# module load openmpi hdf5
convoke=(convoke)
# convoke=(apptainer exec --bind "$PWD" convoke.sif convoke)   # the host's mpirun starts a container per rank

"${convoke[@]}" study "$study/study.toml" --output "$study" --collect --more "$here" --ranks-per-node 2
