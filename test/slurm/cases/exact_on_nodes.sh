# A job on three nodes, started by mpirun and by srun, gives the model of one process, bit for bit.
. "$(dirname "$0")/../place.sh"

"$CONVOKE" train recipe.toml --quiet --output alone > alone.log
for launcher in mpirun srun; do
  job=$(slurm train recipe.toml --nodes 3 --ranks-per-node 1 --cpus-per-rank 1 --launcher $launcher \
    --output jobs/$launcher --submit | job_of train.sh)
  wait_for "$job" 120
  check "$launcher: the job succeeds" ended "$job" COMPLETED
  check "$launcher: three ranks on three nodes" says "runs/tiny-$job/environment.json" '"nodes": 3'
  check "$launcher: the same model" same alone/model.h5 "runs/tiny-$job/model.h5"
  check "$launcher: its log reports it" says "tiny-$job.log" 'job .* on node\[1-3\]: done'
done

# The output of sinfo is enough to compute the size: a step of 8 micro-batches, nodes of 4 cores.
slurm train recipe.toml --dry-run > worked-out.log
check "nodes by micro-batches and cores" says worked-out.log '--nodes=2 *$'
check "a rank for each socket" says worked-out.log '--ntasks-per-node=4'
