# Every template of slurm/ is submitted and succeeds. Copies have only their sizes changed, as by a user.
. "$(dirname "$0")/../place.sh"

mkdir bin
ln -s "$CONVOKE" bin/convoke
export PATH=$place/bin:$PATH
"$MAKE_DATASET" mnist.h5 240 28 10
cp -r "$TEMPLATES" mine
sed -i 's/^#SBATCH --cpus-per-task=[0-9]*/#SBATCH --cpus-per-task=1/; s/--set train.batch=[0-9]*/& --set train.epochs=2/' mine/*/*.sh
sed -i 's/^threads = .*/threads = [1]/; s/batch = 384/batch = 384, epochs = 2/' mine/scaling-study/study.toml
# All are submitted before the first is looked at: the queue has room for several.
declare -A outputs
for template in mine/*/; do outputs[$template]=$(bash "$template/submit.sh"); done
for template in mine/*/; do
  name=$(basename "$template")
  output=${outputs[$template]}
  jobs=$(sed -n 's/.*: job \([0-9]*\).*/\1/p' <<< "$output")
  result=$(sed -n 's/^result: //p' <<< "$output")
  for job in $jobs; do wait_for "$job" 180; done
  for job in $jobs; do check "$name: job $job succeeds" ended "$job" COMPLETED; done
  case $name in
    scaling-study) check "$name: three sizes in one table" [ "$(grep -c "^!\?mnist-sync-sync-[246]x1 .*one run" mnist-sync-"$job".log)" = 3 ] ;;
    ensemble-array) check "$name: four members vote" [ "$(grep -c '"member": [0-3]' "$result/summary.json")" = 8 ] ;;
    *) check "$name: a finished run" [ -s "$result/summary.json" ] ;;
  esac
done
