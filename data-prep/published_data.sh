# The data sets of the published systems, as functions of data-prep/get. Each becomes a table NAME.csv with the splits of
# its authors, or with the groups that a split must not part, and the folder images. The first line of SOURCE.txt says
# how much it is, and where it is from.

# Sets `source` to what there is of data set $1 without a network: the first file or folder with one of the other names
# (patterns) in $CONVOKE_DATA/$1 or in downloads, or all of $CONVOKE_DATA/$1.
find_copy() {
  local place pattern
  for place in ${CONVOKE_DATA:+"$CONVOKE_DATA/$1"} "$downloads"; do
    for pattern in "${@:2}"; do
      source=$(compgen -G "$place/$pattern" | head -n 1) && return
    done
    source=$place
    [ "$place" = "$downloads" ] || [ -z "$(ls "$place" 2> /dev/null)" ] || return 0
  done
  return 1
}

# Downloads the URL $1 to `source`.
download() {
  command -v curl > /dev/null || return 1
  fresh
  source=$work/$(basename "$1")
  say "  downloading $1"
  curl -fL --connect-timeout 10 --retry 3 --progress-bar -o "$source" "$1"
}

# Compares `source` with its checksum (SHA-256, or MD5 if it is shorter): $2 if the file is called $1, else that in the
# SHA256SUMS of its folder or the one above.
check_source() {
  [ -f "$source" ] || return 0
  local file known="" sum=sha256sum
  file=$(basename "$source")
  if [ "$file" = "$1" ]; then known=$2; else
    known=$(cat "${source%/*}"/{,../}SHA256SUMS 2> /dev/null |
      awk -v file="$file" '{ name = substr($0, 67); sub(/.*\//, "", name) } name == file { print $1; exit }') || true
  fi
  [ -n "$known" ] || { say "  $source: no checksum is known for it"; return 0; }
  [ ${#known} -eq 64 ] || sum=md5sum
  [ "$($sum < "$source")" = "$known  -" ] || fail "$source: wrong checksum, not used" "expected $known; fetch it again"
}

# Sets `tree` to the folder with the content of `source`, and `origin` to what is said of it.
open_source() {
  origin=$source
  case $source in "${work:-none}"/*) origin="a download of $(basename "$source")" ;; *) fresh ;; esac
  tree=$work/unpacked
  mkdir -p "$tree" "$work/$name"
  case $source in
    *.tar | *.tgz | *.tar.gz) tar xf "$source" -C "$tree" ;;
    *.zip) unzip_into "$tree" "$source" ;;
    *) tree=$source ;;
  esac || fail "$source cannot be unpacked" "fetch it again"
}

# Copies the pictures that the first cells of $work/rows name, relative to the folder $1.
copy_pictures() {
  mkdir "$work/$name/images"
  sed -i 's|^|images/|' "$work/rows"
  cut -f 1 "$work/rows" | cut -d / -f 2- | tar cf - -C "$1" --no-unquote -T - | tar xf - -C "$work/$name/images" ||
    fail "$source: pictures are missing in $1" "fetch it again"
}

# Writes the table with the header $1 from $work/rows (lines of three cells with tabs), and how much it is of the $2 samples of
# a complete copy, where it is from, and the terms $3.
finish_table() {
  [ -s "$work/rows" ] || fail "$source: holds no samples in a layout of $name" "data-prep/get --help"
  awk -F '\t' -v header="$1" '
    function cell(text) { gsub(/"/, "\"\"", text); return "\"" text "\"" }
    BEGIN { print header } { print cell($1) "," cell($2) "," cell($3) }' "$work/rows" > "$work/$name/$name.csv"
  awk -F '\t' -v header="$1" -v whole="$2" -v origin="$origin" '
    { classes += !seen[$2]++; ++count[$3] }
    END {
      line = NR " samples in " classes " classes"
      if (header ~ /split/) line = line ", " count["train"] + 0 " for training and " count["test"] + 0 " for the test"
      print line (NR == whole ? "" : " (a complete copy gives " whole ")") ", from " origin
    }' "$work/rows" > "$work/$name/SOURCE.txt"
  printf 'terms of use: %s\n' "$3" >> "$work/$name/SOURCE.txt"
  deliver "$name"
}

# True if the output is complete; else it must not be there.
complete() {
  [ -s "$output/$name.csv" ] && [ -s "$output/SOURCE.txt" ] || return 1
  [ ! -e "$output/images" ] || [ "$(find "$output/images" -type f | wc -l)" -eq "$(($(wc -l < "$output/$name.csv") - 1))" ]
}

# `fetch FOLDER COPY... -- URL CHECKSUM`: opens the copy of a data set, or downloads it.
fetch() {
  local copies=("$1") url sum
  shift
  while [ "$1" != -- ]; do copies+=("$1"); shift; done
  url=$2 sum=$3
  find_copy "${copies[@]}" || download "$url" ||
    fail "$name could not be downloaded from $url" "download it yourself, put it in $downloads and run this again"
  check_source "$(basename "$url")" "$sum"
  open_source
}

get_imdb() {
  fetch imdb imdb.tsv.xz imdb.tsv aclImdb_v1.tar.gz aclImdb -- \
    https://ai.stanford.edu/~amaas/data/sentiment/aclImdb_v1.tar.gz c40f74a18d3b61f90feba1e17730e0d38e8b97c05fde7008942e91923d1658fe
  case $source in
    *.tsv | *.tsv.xz)
      if [[ $source = *.xz ]]; then xz -dc "$source"; else cat "$source"; fi | awk -F '\t' '
        NR == 1 { for (i = 1; i <= NF; ++i) at[$i] = i; next }
        { print $at["text"] FS ($at["label"] == 1 ? "positive" : "negative") FS $at["split"] }' ;;
    *)
      find "$tree" -path '*/t[re]*/[pn]*/*.txt' ! -path '*/unsup/*' -print0 | LC_ALL=C sort -z | LC_ALL=C xargs -0 awk '
        function row() { if (text != "") print text "\t" sentiment "\t" split_name; text = "" }
        FNR == 1 { row(); n = split(FILENAME, part, "/"); split_name = part[n - 2]
                   sentiment = part[n - 1] == "pos" ? "positive" : "negative" }
        { gsub(/[\t\r]/, " "); text = text (text == "" ? "" : " ") $0 }
        END { row() }' ;;
  esac > "$work/rows"
  finish_table review,sentiment,split 50000 "free for research; cite Maas et al., Learning Word Vectors for Sentiment Analysis, ACL 2011"
}

# The first 1,100 pictures of each class, by name: the paper has 1,000 for training. Several pictures show the same leaf,
# and no split of the authors is known. Their names end with the number of the leaf, or with that of the photograph: those
# of a leaf follow each other. The column `leaf` has the name up to the number of the leaf, or without the last two
# digits of the photograph: all of one hundred photographs stay together.
get_tomato() {
  local url=https://github.com/spMohanty/PlantVillage-Dataset base
  if ! find_copy tomato 'tomato*.tar' PlantVillage-Dataset; then
    fresh
    source=$work/PlantVillage-Dataset
    say "  downloading raw/color/Tomato___* of $url"
    { git clone -q --depth 1 --filter=blob:none --no-checkout "$url" "$source" &&
        git -C "$source" sparse-checkout set --no-cone '/raw/color/Tomato___*' && git -C "$source" checkout -q; } >&2 ||
      fail "$name could not be downloaded from $url" "clone it yourself into $downloads/PlantVillage-Dataset and run this again"
  fi
  check_source "" ""
  open_source
  base=$(find "$tree" -type d -name 'Tomato_*' | LC_ALL=C sort | head -n 1)
  [ -n "$base" ] || fail "$source: has no folder Tomato_..." "data-prep/get --help"
  base=$(dirname "$base")
  (cd "$base" && find Tomato_* -type f -iname '*.jpg') | LC_ALL=C sort | awk -F / '
    { class = $1; sub(/^Tomato_+(Tomato_+)?/, "", class); gsub(/_+/, "_", class) }
    ++count[class] <= 1100 {
      leaf = $2; sub(/^.*___/, "", leaf); sub(/[.][Jj][Pp][Gg]$/, "", leaf); leaf = tolower(leaf)
      if (match(leaf, /^gh.*leaf [0-9]+/)) leaf = substr(leaf, 1, RLENGTH); else sub(/[0-9][0-9]$/, "", leaf)
      print $0 "\t" class "\t" class " " leaf
    }' > "$work/rows"
  copy_pictures "$base"
  finish_table filename,label,leaf 10025 "CC BY-SA 3.0; cite Hughes and Salathe, arXiv:1511.08060, 2015"
}

# The authors number pictures from 1, and 1 means training; the part with commas numbers them from 0, and 0 means training.
get_birds() {
  local lists
  fetch birds 'cub2011*.tar' CUB_200_2011.tgz CUB_200_2011 -- \
    https://data.caltech.edu/records/65de6-vp158/files/CUB_200_2011.tgz 97eceeb196236b17998738112f37df78
  lists=$(find "$tree" -name train_test_split.txt | head -n 1)
  [ -n "$lists" ] || fail "$source: has no train_test_split.txt" "data-prep/get --help"
  lists=$(dirname "$lists")
  tr -d '\r' < "$lists/images.txt" | awk -F '[, ]+' -v splits="$lists/train_test_split.txt" '
    BEGIN { while ((getline line < splits) > 0) { training = line ~ /,/ ? 0 : 1; split(line, cell, /[, \r]+/)
                                                 part[cell[1]] = cell[2] == training ? "train" : "test" } }
    { class = $2; sub(/\/.*/, "", class); sub(/^[0-9]+[.]/, "", class); print $2 "\t" class "\t" part[$1] }' > "$work/rows"
  copy_pictures "$lists/images"
  finish_table filename,label,split 11788 "for research and education, not for commerce; cite Wah et al., CNS-TR-2011-001, 2011"
}

get_idrid() {
  local zip="B. Disease Grading.zip"
  find_copy retinopathy 'idrid*.tar' 'B.*Disease*Grading.zip' "${zip%.zip}" ||
    fail "IDRiD needs an account, so it is not downloaded" \
         "get \"$zip\" from https://ieee-dataport.org/open-access/indian-diabetic-retinopathy-image-dataset-idrid, put it in $downloads and run this again"
  check_source "" ""
  open_source
  local folder
  folder=$(find "$tree" -type d -name '*Original Images' | head -n 1)
  if [ -n "$folder" ]; then
    local labels
    for labels in "$folder"/../*Groundtruths/*Labels.csv; do
      tr -d '\r' < "$labels" | awk -F , -v training="$([[ $labels = *Training* ]] && echo 1)" '
        $1 ~ /^IDRiD/ { print (training ? "a. Training Set/" : "b. Testing Set/") $1 ".jpg\t" $2 + 0 "\t" (training ? "train" : "test") }'
    done
  else
    folder=$tree
    (cd "$tree" && find train test -name '*.jpg' 2> /dev/null) | LC_ALL=C sort | awk -F / '{ print $0 "\t" $2 "\t" $1 }'
  fi > "$work/rows"
  copy_pictures "$folder"
  finish_table filename,label,split 516 "CC BY 4.0; cite Porwal et al., Data 3(3):25, 2018"
}
