#!/bin/bash
# Kills `plan`, `work` and `merge` at each system call that changes a file or a folder, lets another go on, and compares what is merged with what one machine makes.
# Counts how often each unit was done: no outcome is lost, and none is computed again that was in place.
#
#   tests/fleet/killed.sh WARPWATT DIR      DIR is a new directory that gets everything; needs strace; takes some minutes
set -euo pipefail
program=$(realpath "$1")
mkdir -p "$2"
cd "$2"
export WARPWATT_CACHE=
calls=openat,rename,unlink,fsync,mkdir,write

cat > study.toml <<'STUDY'
[study]
title = "Killed"
[gpu]
preset = "tesla-16sm"
sm.count = 2
node = "32nm"
[workloads]
kernels = ["vector_add"]
[[technique]]
name = "filter_cache"
entries = 16
STUDY
"$program" run study.toml --out alone --quiet > /dev/null

# Whether the command was killed at the call of this number; if it was not, there are no more such calls.
killed() {
    local call=$1 number=$2
    shift 2
    ! strace -f -qq -o /dev/null -e trace="$call" -e inject="$call:signal=KILL:when=$number" "$program" "$@" > out 2>&1
}

finish() {
    "$program" plan study.toml --out queue --lease 1 > out 2>&1
    "$program" work queue --jobs 1 > out 2> log
    "$program" merge queue --quiet > out
    for file in points.csv comparisons.csv answer.csv report.json report.html manifest.json; do
        cmp "queue/$file" "alone/$file"
    done
    [ -z "$(ls -A queue/todo queue/failed | grep -v : || true)" ] || { echo "something is left"; exit 1; }
}

total=0
for command in plan work merge; do
    for call in ${calls//,/ }; do
        number=1
        while :; do
            rm -rf queue
            case $command in
                plan) words="plan study.toml --out queue --lease 1" ;;
                work)
                    "$program" plan study.toml --out queue --lease 1 > out 2>&1
                    words="work queue --jobs 1"
                    ;;
                merge)
                    "$program" plan study.toml --out queue --lease 1 > out 2>&1
                    "$program" work queue --jobs 1 > out 2>&1
                    words="merge queue --quiet"
                    ;;
            esac
            killed "$call" "$number" $words || break
            there=$(find queue/done -type f ! -name ".*" 2> /dev/null | wc -l || true)
            finish
            again=$(grep -c -E '^(executed|timed)' log || true)
            [ $((there + again)) = 3 ] || { echo "$command, $call $number: $there units were done, and $again again"; exit 1; }
            total=$((total + 1))
            # What is read at the start alone is the same call over and over: the first of many are enough.
            if [ "$call" = openat ] || [ "$call" = write ]; then number=$((number + number / 8 + 1)); else number=$((number + 1)); fi
        done
    done
    echo "$command: all is as on one machine; $total kills so far"
done
