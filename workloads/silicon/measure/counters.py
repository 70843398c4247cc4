"""Hardware counters by Nsight Compute: which, as what columns, and how its raw page is read."""

import csv
import subprocess
import sys

METRICS = {
    "cycles": "gpc__cycles_elapsed.max",
    "clock_mhz": "gpc__cycles_elapsed.avg.per_second",
    "time_ns": "gpu__time_duration.sum",
    "active_cycles": "sm__cycles_active.avg",
    "warp_instructions": "smsp__inst_executed.sum",
    "thread_instructions": "smsp__thread_inst_executed.sum",
    "global_loads": "sass__inst_executed_global_loads",
    "global_stores": "sass__inst_executed_global_stores",
    "shared_loads": "sass__inst_executed_shared_loads",
    "shared_stores": "sass__inst_executed_shared_stores",
    "l1_load_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "l1_load_hit_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum",
    "l1_store_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "shared_load_wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    "shared_store_wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
    "l2_read_sectors": "lts__t_sectors_op_read.sum",
    "l2_write_sectors": "lts__t_sectors_op_write.sum",
    "dram_read_bytes": "dram__bytes_read.sum",
    "dram_write_bytes": "dram__bytes_write.sum",
    "registers": "launch__registers_per_thread",
    "alu_instructions": "sm__inst_executed_pipe_alu.sum",
    "fma_instructions": "sm__inst_executed_pipe_fma.sum",
    "xu_instructions": "sm__inst_executed_pipe_xu.sum",
    "fp64_instructions": "sm__inst_executed_pipe_fp64.sum",
    "uniform_instructions": "sm__inst_executed_pipe_uniform.sum",
    "tensor_instructions": "sm__inst_executed_pipe_tensor.sum",
}
SCALE = {"clock_mhz": 1e-6}


def value(column, text):
    """A number of the profiler; "n/a" and the like are None."""
    try:
        number = float(text.replace(",", "")) * SCALE.get(column, 1)
    except ValueError:
        return None
    return int(number) if number.is_integer() else number


def table(text):
    """The launches of a raw page: names, units and a row a launch, among lines of the profiler that begin with ==."""
    rows = list(csv.reader(line for line in text.splitlines() if line.startswith('"')))
    if len(rows) < 3:
        return []
    found = [dict(zip(rows[0], row)) for row in rows[2:]]
    return [
        {
            "kernel": row["Kernel Name"],
            "grid": row["Grid Size"].strip("()").replace(", ", " x "),
            "block": row["Block Size"].strip("()").replace(", ", " x "),
            **{column: value(column, row.get(metric, "")) for column, metric in METRICS.items()},
        }
        for row in found
    ]


def profile(ncu, log, words):
    """Runs this program again under the profiler: what it printed, and the counters of each launch. Clocks stay as they are; caches are flushed before each launch."""
    options = ["--csv", "--page", "raw", "--print-units", "base", "--clock-control", "none", "--cache-control", "all", "--profile-from-start", "off"]
    command = [ncu, *options, "--log-file", str(log), "--metrics", ",".join(METRICS.values()), sys.executable, *map(str, words)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    found = table(log.read_text() if log.exists() else "")
    if not found:
        raise RuntimeError((ran.stderr or ran.stdout).strip()[-400:] or "the profiler said nothing")
    sys.stderr.write(ran.stderr)
    return ran.stdout.splitlines(), found
