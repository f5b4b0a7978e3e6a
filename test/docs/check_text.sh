#!/usr/bin/env bash
# Looks at the text of all pages, from the root of the sources: links and anchors lead somewhere, a page that nobody prints is at most 200
# lines long, and words that this house has replaced do not come back. The overview of the results has the figures of its pages.
# Comments name only files that exist. Code below <!-- from: FILE --> is in that file, but for blanks.
set -euo pipefail
shopt -s globstar nullglob
pages=(*.md docs/**/*.md apps/**/*.md)
failed=0
complain() { echo "$*" >&2; failed=1; }

# The anchors of a page as GitHub makes them of headings.
anchors() {
  awk '/^```/ { inside = !inside } !inside && /^#+ / {
    sub(/^#+ /, "")
    $0 = tolower($0)
    gsub(/[^a-z0-9 _-]/, "")
    gsub(/ /, "-")
    print
  }' "$1"
}

for page in "${pages[@]}"; do
  lines=$(wc -l < "$page")
  [ "$lines" -le 200 ] || grep -qE '<!-- (printed by: |reference)' "$page" || complain "$page: $lines lines, of at most 200: split it"

  while IFS= read -r link; do
    case $link in http*://* | mailto:*) continue ;; esac
    file=${link%%#*}
    target=$page
    [ -z "$file" ] || target=$(dirname "$page")/$file
    [ -e "$target" ] || { complain "$page: there is no $link"; continue; }
    case $link in
      *.md#* | \#*) anchors "$target" | grep -qxF -- "${link#*#}" || complain "$page: there is no heading for $link" ;;
    esac
  done < <(awk '/^```/ { inside = !inside } !inside' "$page" | { grep -oE '\]\([^) ]+\)|src="[^"]+"' || true; } |
    sed -E 's/^(\]\(|src=")//; s/[)"]$//')

  # Plain English: the text outside of blocks and `code`.
  while IFS= read -r found; do complain "$page: not plain English: $found"; done < <(
    awk '/^```/ { inside = !inside } !inside' "$page" | sed 's/`[^`]*`//g' |
      grep -nP '(^|[.:] )Of |(^|\. )What [^?#]* is |(?<![Tt]here )\b(is|are) no (?!longer|more|better|slower|larger)|\bbeside\b|\b[Mm]end(s|ed)?\b|\bleeway\b' || true)
done

# Code that a page quotes is in the source.
while IFS=$'\t' read -r page file code; do
  [[ $(tr -d '[:space:]' < "$file") == *"$code"* ]] || complain "$page: $file does not have the code ${code:0:60}..."
done < <(awk '
  /^<!-- from: / { file = $3 }
  /^```/ {
    if (inside && file != "") { print FILENAME "\t" file "\t" code; file = "" }
    inside = !inside; code = ""; next
  }
  inside { gsub(/[[:space:]]/, ""); code = code $0 }' "${pages[@]}")

# The figures in the overview of the results stand in the pages of its rows.
while IFS= read -r row; do
  page=docs/results/$(sed -E 's/^\| \[[^]]*\]\(([^)]*)\).*/\1/' <<< "$row")
  for figure in $(cut -d '|' -f 3- <<< "$row" | grep -oE '[0-9]+\.[0-9]+'); do
    grep -qP "(?<![\d.])${figure//./\\.}(?![\d])" "$page" || complain "docs/results/README.md: $page does not have $figure"
  done
done < <(grep -E '^\| \[[^]]*\]\([^)]*\.md\)' docs/results/README.md)

# Comments name only sources that exist.
sources=$(find include src data-prep apps test -name '*.[ch]pp' -printf '/%p\n')
while IFS=: read -r file name; do
  [[ $sources$'\n' == */"$name"$'\n'* ]] || complain "$file: a comment names $name, which does not exist"
done < <(grep -roP --include='*.[ch]pp' '//[^"]*?\K\b[\w/]+\.[ch]pp\b' include src data-prep apps test)
exit $failed
