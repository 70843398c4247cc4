#!/bin/sh
# Prints the tables of `warpwatt validate all` anew into the pages that show them, between `<!-- table: SUITE -->` and `<!-- end of table -->`, and draws all suites together and each by itself:
#   docs/tables.sh path/to/warpwatt
# It takes some two hours of processor time.
set -eu
tables=$(mktemp)
trap 'rm -f "$tables" "$tables.page"' EXIT
# It ends with 1 as long as there are gaps.
pictures=$(dirname "$0")/pictures
"$1" validate all --markdown --quiet --picture "$pictures/validation.svg" --pictures "$pictures/suites" > "$tables" || [ $? -eq 1 ]
cd "$(dirname "$0")"
for page in $(grep -l '^<!-- table: ' ./*.md); do
  awk -v tables="$tables" '
    BEGIN {
      name = "all"
      while ((getline line < tables) > 0)
        if (line ~ /^### /) name = substr(line, 5)
        else text[name] = text[name] line "\n"
      for (name in text) { sub(/^\n+/, "", text[name]); sub(/\n+$/, "\n", text[name]) }
    }
    /^<!-- end of table -->/ { skip = 0 }
    !skip { print }
    /^<!-- table: / && $3 in text { printf "%s", text[$3]; skip = 1 }
  ' "$page" > "$tables.page"
  cat "$tables.page" > "$page"
done
