# Members that are jobs of an array, gathered by a job that depends on them, form the ensemble of one job.
. "$(dirname "$0")/../place.sh"

ensemble=(recipe.toml --set train.mode=ensemble --set ensemble.members=3)
"$CONVOKE" train "${ensemble[@]}" --quiet --output joint > joint.log
output=$(slurm ensemble "${ensemble[@]}" --nodes 1 --ranks-per-node 2 --cpus-per-rank 1 --at-once 2 --submit)
members=$(job_of member.sh <<< "$output") gather=$(job_of gather.sh <<< "$output")
wait_for "$gather" 180
check "the vote succeeds" ended "$gather" COMPLETED
run=runs/tiny-$members
check "submit.sh prints where it is" [ "$(sed -n 's/^result: //p' <<< "$output")" = "$run/ensemble" ]
check "the same ensemble" same joint/ensemble.h5 "$run/ensemble/ensemble.h5"
votes() { sed -n '/"prefix_accuracy"/,/"disagreement"/p' "$1/summary.json"; }
check "the same votes" [ "$(votes joint)" = "$(votes "$run/ensemble")" ]
check "votes exist" [ -n "$(votes joint)" ]

# A warned job of the array is requeued, as the same member. The others go on, although the number of the last
# job is that of the array.
slurm ensemble "${ensemble[@]}" --set train.epochs=100000 --nodes 1 --ranks-per-node 1 --cpus-per-rank 1 \
  --output jobs/warned > /dev/null
members=$(sbatch --parsable --array=1-2 jobs/warned/member.sh)
run=runs/tiny-$members
for member in 1 2; do
  wait_until 120 eval 'ls $run/member-$member/checkpoints/member-00$member/*.h5 > /dev/null 2>&1'
done
scancel --batch --signal=USR1 "${members}_2"
wait_until 120 says "tiny-$members-2.log" "restart 1"
wait_until 120 says "tiny-$members-2.log" "member 3/3  epoch"
check "it prints why" says "tiny-$members-2.log" "stopped by a signal, with a checkpoint; requeued"
goes_on() { ! says "$1" "REQUEUE\|restart 1\|ended with"; }
check "the other member goes on" goes_on "tiny-$members-1.log"
scancel "$members"
