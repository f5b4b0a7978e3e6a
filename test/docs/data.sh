#!/usr/bin/env bash
# Makes small data for the pages' commands: data.sh FOLDER (CONVOKE_BINARY names the program).
set -euo pipefail
convoke=$CONVOKE_BINARY
root=$(cd "$(dirname "$0")/../.." && pwd)
data=$1/made
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
rm -rf "$data"
mkdir -p "$data"
cd "$data"

# MNIST's four files, and the same as arrays of NumPy: noise with a bright bar, whose row is the class.
perl -MIO::Compress::Zip -e '
  my $archive;
  sub member {  # NAME SHAPE BYTES
    my $header = sprintf "%-117s\n", "{\x27descr\x27: \x27|u1\x27, \x27fortran_order\x27: False, \x27shape\x27: ($_[1],), }";
    if ($archive) { $archive->newStream(Name => "$_[0].npy") } else { $archive = IO::Compress::Zip->new("arrays.npz", Name => "$_[0].npy") or die }
    $archive->print("\x93NUMPY\x01\x00", pack("v", length $header), $header, $_[2]);
  }
  sub put { open my $file, ">:raw", $_[0] or die; print $file $_[1] }
  srand 1;
  mkdir "mnist";
  for (["train", 800], ["t10k", 200]) {
    my ($split, $n) = @$_;
    my ($images, $labels) = (pack("N4", 0x803, $n, 28, 28), pack("N2", 0x801, $n));
    for my $i (0 .. $n - 1) {
      my $class = $i % 10;
      $labels .= chr $class;
      for my $row (0 .. 27) {
        my $base = int($row / 2.8) == $class ? 150 : 0;
        $images .= join "", map { chr($base + int rand 100) } 1 .. 28;
      }
    }
    put("mnist/$split-images-idx3-ubyte", $images);
    put("mnist/$split-labels-idx1-ubyte", $labels);
    my $name = $split eq "train" ? "train" : "test";
    member("x_$name", "$n, 28, 28", substr $images, 16);
    member("y_$name", $n, substr $labels, 8);
  }
  $archive->close'
"$convoke" prepare mnist --output mnist.h5 > /dev/null

# Pictures in folders, pictures in a CSV.
"$convoke" synthesize shapes --output leaves --samples 120 --size 64x64 > /dev/null
"$convoke" prepare leaves --output leaves.h5 --size 32x32 --split train=0.8,validation=0.2 > /dev/null
"$convoke" synthesize shapes --output eyes/train --samples 60 --classes 5 --size 64x64 > /dev/null
(cd eyes/train && ls */*.jpg) | awk -F / 'BEGIN { print "image,level,patient" }
  $1 != last { ++grade; last = $1 } { print $0 "," grade - 1 "," int(NR / 2) }' > eyes/labels.csv
mapfile -t pictures < <(find leaves -name '*.jpg' | sort)
cp "${pictures[0]}" photo.jpg
cp "${pictures[-1]}" another.jpg

# Texts in folders and in a CSV, rows of a table, a NumPy batch.
"$convoke" synthesize reviews --output aclImdb --samples 60 > /dev/null
{ echo "review,sentiment"
  for file in aclImdb/train/*/*.txt; do
    printf '"%s",%s\n' "$(tr -d '"\n' < "$file")" "$(basename "$(dirname "$file")")"
  done; } > reviews.csv
printf 'I liked it.\nNever again.\n' > lines.txt

# Small data in the layouts that data-prep/get takes from $CONVOKE_DATA: film reviews, leaves, birds, eyes. One of the eyes is in
# both parts of the split, with two grades.
mkdir imdb tomato birds retinopathy packed
for file in aclImdb/t*/[pn]*/*.txt; do
  IFS=/ read -r _ part side _ <<< "$file"
  printf '%s\t%s\t%s\n' "$part" "$([ "$side" = pos ] && echo 1 || echo 0)" "$(cat "$file")"
done | { printf 'split\tlabel\ttext\n'; cat; } > imdb/imdb.tsv
for class in leaves/*/; do
  class=$(basename "$class")
  mkdir -p "packed/Tomato_$class"
  for file in leaves/"$class"/*; do cp "$file" "packed/Tomato_$class/${file: -9:5}___RS_HL ${file: -8}"; done
done
tar cf tomato/tomato-64.tar -C packed . && rm -r packed
mkdir -p packed/images
cp -r leaves/*/ packed/images
(cd packed/images && ls */*) | awk '{ print NR - 1 ", " $0 }' > packed/images.txt
awk -F , '{ print $1 ", " $1 % 3 % 2 }' packed/images.txt > packed/train_test_split.txt
tar cf birds/cub2011-10species.tar -C packed . && rm -r packed
grade=0
for class in eyes/train/*/; do
  mkdir -p packed/{train,test}/$grade
  mapfile -t files < <(ls "$class"*)
  cp "${files[@]:0:8}" packed/train/$grade
  cp "${files[@]:8}" packed/test/$grade
  grade=$((grade + 1))
done
cp "$(find packed/train/3 -type f | sort | head -n 1)" packed/test/0/IDRiD_064.jpg
tar cf retinopathy/idrid-64.tar -C packed . && rm -r packed
awk 'BEGIN {
  print "length,width,color,species"
  for (i = 0; i < 60; ++i) printf "%.1f,%.1f,%s,%s\n", 3 + i % 7 / 3, 1 + i % 5 / 4, i % 2 ? "red" : "white", i % 3 ? "iris" : "rose"
}' > flowers.csv
cut -d, -f1-3 flowers.csv | head -n 4 > rows.csv
perl -e '
  my $header = sprintf "%-117s\n", q({"descr": "|u1", "fortran_order": False, "shape": (4, 28, 28, 1), }) =~ tr/"/\x27/r;
  open my $file, ">:raw", "batch.npy" or die;
  print $file "\x93NUMPY\x01\x00", pack("v", length $header), $header, "\x40" x (4 * 28 * 28)'

# Tables of times, published ones among them.
published=$root/docs/results/published
cp "$published/birds-tpu-epoch-seconds.csv" epoch-seconds.csv
cp "$published/birds-tpu-derived.csv" derived.csv
cat > times.csv <<'END'
system,mode,ranks,repeat,makespan_seconds,accuracy
cnn,sync,1,1,100.2,0.98
cnn,sync,1,2,101.0,0.98
cnn,sync,1,3,99.1,0.97
cnn,sync,2,1,53.0,0.98
cnn,sync,2,2,52.1,0.98
cnn,sync,2,3,52.8,0.97
cnn,sync,4,1,28.9,0.98
cnn,sync,4,2,29.5,0.98
cnn,sync,4,3,28.8,0.97
END
awk '/^```toml/ { on = 1; next } /^```/ { on = 0 } on' "$root/docs/advise.md" > prices.toml
mkdir first-and-second
cp "$root/docs/results/mnist/"{first,second}.csv first-and-second/

# Finished runs and studies.
export CONVOKE_RECIPES=$root/apps/recipes CONVOKE_DATA=$data OMPI_MCA_rmaps_base_oversubscribe=1
export PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
train() { mpirun -n "$1" "$convoke" train "${@:3}" --output "runs/$2" --quiet > /dev/null; }
train 1 first mnist-sync --set train.epochs=1
train 2 second mnist-sync --set train.epochs=1
train 2 votes mnist-ensemble --set train.epochs=1
train 1 leaves tomato-leaf --set data.path="$data/leaves.h5" --set train.epochs=1 --set model.input='[3, 32, 32]'
"$convoke" prepare reviews.csv --output reviews.h5 --vocabulary 500 --length 40 \
  --split train=0.7,validation=0.1,test=0.2 --allow-duplicates > /dev/null
"$convoke" prepare flowers.csv --output flowers.h5 --scale yeo-johnson --label-column species --allow-duplicates > /dev/null
train 1 sentiment imdb-sentiment --set data.path="$data/reviews.h5" --set train.epochs=1 --set model.input="[40]"
cat > flowers.toml <<'END'
[data]
path = "flowers.h5"
[model]
input = [4]
layers = [{ layer = "dense", units = 2, activation = "softmax" }]
END
train 1 flowers flowers.toml
printf 'recipe = "mnist-sync"\nranks = [1, 2]\nrepeats = 2\nat_most = 2\nwarm_up = 0\ncontended_above = 100\n[set]\ntrain.epochs = 1\n' > study.toml
for study in first second; do
  "$convoke" study study.toml --output "studies/$study" > /dev/null
  sed -i 's/^at_most/seed = 2\nat_most/' study.toml
done
