#!/usr/bin/env bash
# Runs each kernel at the commit BASE and in the working tree, and writes a section a kernel with what `warpwatt diff` prints. What takes more than ALLOW more is told to
# the steps that follow.
set -euo pipefail

work="$(mktemp -d "${RUNNER_TEMP:-/tmp}/energy-diff.XXXXXX")"
trap 'git worktree remove --force "$work/base"' EXIT
git cat-file -e "$BASE^{commit}" 2> /dev/null || git fetch --quiet --depth=1 origin "$BASE"
git worktree add --quiet --detach "$work/base" "$BASE"
report="$work/report.md"
exceeded=false

# The runs of one side. Where a kernel is not there there is no file; one that fails is told.
side() {
    cd "$1"
    [ -z "$BUILD" ] || bash -euo pipefail -c "$BUILD"
    mkdir "$work/$2"
    number=0
    while IFS= read -r kernel; do
        [ -n "$kernel" ] || continue
        number=$((number + 1))
        [ -f "$kernel" ] || continue
        "$WARPWATT" kernel "$kernel" --preset "$PRESET" --node "$NODE" --json > "$work/$2/$number.json" || {
            echo "$kernel, $2: warpwatt kernel ended with $?" >&2
            cat "$work/$2/$number.json" >&2
            exit 1
        }
    done <<< "$KERNELS"
}
(side "$work/base" before)
(side . after)

{
    echo "<!-- energy-diff -->"
    echo "## Energy on $PRESET at $NODE"
    number=0
    while IFS= read -r kernel; do
        [ -n "$kernel" ] || continue
        number=$((number + 1))
        before="$work/before/$number.json"
        after="$work/after/$number.json"
        printf '\n### `%s`\n\n' "$kernel"
        if [ -f "$before" ] && [ -f "$after" ]; then
            code=0
            "$WARPWATT" diff "$before" "$after" --format markdown ${ALLOW:+--allow "$ALLOW"} || code=$?
            [ "$code" -le 1 ] || exit "$code"
            [ "$code" -eq 0 ] || exceeded=true
        elif [ -f "$after" ]; then
            echo "New here: there is nothing to compare it with."
        elif [ -f "$before" ]; then
            echo "Gone."
        else
            echo "There is no such file, before or after."
        fi
    done <<< "$KERNELS"
} > "$report"
printf 'report=%s\nexceeded=%s\n' "$report" "$exceeded" >> "${GITHUB_OUTPUT:-/dev/stdout}"
cat "$report" >> "${GITHUB_STEP_SUMMARY:-/dev/null}"
