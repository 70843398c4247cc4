#!/bin/bash
# A fleet on a real SLURM: a controller and two nodes on loopback. A worker is killed by SIGKILL, and then a node with all that runs on it; what is merged is what
# one machine makes of the study.
#
#   tests/fleet/slurm.sh WARPWATT DIR      DIR is a new directory that gets everything; takes some minutes, needs root
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
program=$(realpath "$1")
mkdir -p "$2"
dir=$(realpath "$2")
. "$here/cluster.sh"
trap 'cluster_stop "$dir/cluster"' EXIT
export WARPWATT_CACHE=

say() { echo "== $*"; }
state() { "$program" status "$dir/queue" | head -n 1; }
# Whether so many units are done.
done_units() { ls "$dir/queue/done" | wc -l; }
until_done() { until [ "$(done_units)" -ge "$1" ]; do sleep 0.2; done; }
# The process of the worker on a node, as the queue's files name it: the first that has taken something.
children() { pgrep -P "$1" || true; }
tree() { echo "$1"; for child in $(children "$1"); do tree "$child"; done; }

cp "$here/study.toml" "$dir/study.toml"
cluster_start "$dir/cluster"
say "$(slurmctld -V), nodes:"
sinfo -N -o "%N %T %c"

"$program" slurm "$dir/study.toml" --nodes 2 --time 00:30:00 --out "$dir/queue" --lease 5 | sed "s|$dir/||g"
say "handed in"
sh "$dir/queue/submit.sh" | tee "$dir/submitted"
job=$(sed 's/.*job \([0-9]*\), merge.*/\1/' "$dir/submitted")
merge=$(sed 's/.*merge: job //' "$dir/submitted")
until_done 20
squeue -o "%i %j %T %N %r"
state

victim=$(ls "$dir/queue/taken" | head -n 1 | sed 's/.*-\([0-9]*\)+.*/\1/')
kill -KILL "$victim"
say "a worker was killed by SIGKILL; the other goes on"
until_done 50
state

say "the other node is lost: SIGKILL for its daemon and all below it; a new task is handed in for the other node"
node=$(squeue -h -t R -o %N | head -n 1)
processes=$(tree "$(cat "$dir/cluster/node.$node")")
workers=$(ls "$dir/queue/taken" | sed 's/.*-\([0-9]*\)+.*/\1/' | sort -u)
kill -KILL $processes $workers 2>/dev/null || true
sleep 1
state
sbatch --parsable --output="$dir/queue/again.log" --array=1 "$dir/queue/array.sh" > "$dir/again"
until_done 148
say "all is done"
state
cluster_node "$dir/cluster" "$node"
until [ -z "$(squeue -h)" ]; do sleep 1; done
say "the merge of the job, which waited for the end of its workers, however they ended:"
tail -n 3 "$dir/queue/merge.log" | sed "s|$dir/||g"

"$program" run "$dir/study.toml" --out "$dir/alone" --quiet > /dev/null
for file in results.redb points.csv comparisons.csv answer.csv report.json report.html manifest.json; do
    cmp "$dir/queue/$file" "$dir/alone/$file"
done
say "the store and every file of the report are those of one machine, to the byte"
executed=$(ls "$dir/queue/traces" | grep -c 'trace$')
say "$(done_units) units, $executed executions kept"
