#!/usr/bin/env bash
# Makes the golden files of the formats that Convoke writes: test/golden/format-2. Run it only when a format gets a new
# version, with the folder of that version: the older folders stay, because every version must still read them.
#   make.sh CONVOKE FOLDER
set -euo pipefail
convoke=$(realpath "$1")
target=$(realpath -m "$2")
here=$(cd "$(dirname "$0")" && pwd)
# Absolute paths are stored in recipes and checkpoints, so all is made in a folder whose name says nothing.
work=/tmp/convoke-golden
mkdir "$work"
trap 'rm -rf "$work"' EXIT
cd "$work"

# Pictures of 6 x 6 pixels in the layout of MNIST, one class for each half that is brighter. (The table of format-1 had
# 24 rows, and no pictures.)
idx() {  # NAME FIRST COUNT
  printf '%b' "$(awk -v first="$2" -v n="$3" 'BEGIN { printf "\\0\\0\\010\\03\\0\\0\\0\\0%o\\0\\0\\0\\06\\0\\0\\0\\06", n
    for (i = first; i < first + n; i++) for (p = 0; p < 36; p++)
      printf "\\0%o", (i * 31 + p * 17) % 97 + (int(p / 18) == i % 2 ? 120 : 20) }')" > "idx/$1-images-idx3-ubyte"
  printf '%b' "$(awk -v first="$2" -v n="$3" 'BEGIN { printf "\\0\\0\\010\\01\\0\\0\\0\\0%o", n
    for (i = first; i < first + n; i++) printf "\\0%o", i % 2 }')" > "idx/$1-labels-idx1-ubyte"
}
mkdir idx
idx train 0 18
idx t10k 18 6
"$convoke" prepare idx --encoded png --output data.h5 > /dev/null
"$convoke" prepare idx --encoded png --shards 2 --output shards > /dev/null
cp "$here/recipe.toml" recipe.toml
"$convoke" train recipe.toml --quiet --output run > /dev/null
"$convoke" train recipe.toml --quiet --set train.mode=ensemble --set ensemble.members=2 --output ensemble > /dev/null
cat > study.toml << 'STUDY'
recipe = "recipe.toml"
ranks = [1]
repeats = 2
at_most = 2
warm_up = 0
contended_above = 1e9
STUDY
"$convoke" study study.toml --output study > /dev/null 2>&1

# What describes the machine is left out.
rm -rf "$target"
mkdir -p "$target/run/checkpoints" "$target/ensemble" "$target/study"
cp data.h5 recipe.toml "$target"
cp -r shards "$target"
cp run/{recipe.toml,metrics.jsonl,summary.json,evaluation.json,model.h5} "$target/run"
sed -E 's/("(command|build|compiler|cpu|memory)": )"[^"]*"/\1"left out"/; s/("host": )"[^"]*"/\1"node1"/' \
  run/environment.json > "$target/run/environment.json"
cp run/checkpoints/epoch-0003.h5 "$target/run/checkpoints"
cp ensemble/{recipe.toml,summary.json,ensemble.h5} "$target/ensemble"
cp study/study.toml "$target/study"
sed 's/,"[^"]*",/,,/' study/measurements.csv > "$target/study/measurements.csv"
(cd "$target" && "$convoke" study analyze study/measurements.csv --output study/analysis.json > /dev/null)
