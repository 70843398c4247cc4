#!/bin/sh
# Writes the shipped boards again, from what is published of them (../facts) and what was measured (../measured).
# A board that was measured is fitted to its own measurements; the others are what the measured ones say of them.
#   boards/make.sh path/to/warpwatt
set -eu
warpwatt=$1
cd "$(dirname "$0")"
board() {
    name=$1
    shift
    "$warpwatt" calibrate "$@" --board "../facts/$name.toml" --out "$name.toml" >/dev/null
    rm -f "$name.svg"
}
board gtx-titan-x ../measured/gtx_titan_x_micro.csv
board titan-xp ../measured/titan_xp_micro.csv
board titan-v ../measured/titan_v_micro.csv
loops=gtx-titan-x.toml,titan-xp.toml,titan-v.toml
board qv100 ../measured/qv100_kernels.csv --transfer $loops
board h100 ../measured/h100 --transfer $loops,qv100.toml
for name in v100 titan-x-pascal rtx2060s a100; do
    board $name --transfer $loops,qv100.toml
done
board h200 ../measured/h200 --transfer $loops,qv100.toml,h100.toml
