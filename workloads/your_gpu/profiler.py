"""Hardware counters of one launch of a benchmark, by Nsight Compute."""

import csv
import subprocess

# What calibration and `map = "ncu"` of a study read. What a GPU does not have is left out; it is named in gpu.json.
METRICS = """
sm__cycles_elapsed.max sm__cycles_elapsed.avg.per_second gpc__cycles_elapsed.max gpu__time_duration.sum
sm__cycles_active.avg sm__warps_active.avg
smsp__inst_executed.sum smsp__thread_inst_executed.sum smsp__inst_issued.sum sm__icc_requests.sum
smsp__sass_thread_inst_executed_op_integer_pred_on.sum smsp__sass_thread_inst_executed_op_bit_pred_on.sum
smsp__sass_thread_inst_executed_op_control_pred_on.sum smsp__sass_thread_inst_executed_op_conversion_pred_on.sum
smsp__sass_thread_inst_executed_op_inter_thread_communication_pred_on.sum smsp__sass_thread_inst_executed_op_memory_pred_on.sum
smsp__sass_thread_inst_executed_op_misc_pred_on.sum smsp__sass_thread_inst_executed_op_uniform_pred_on.sum
smsp__sass_thread_inst_executed_op_fadd_pred_on.sum smsp__sass_thread_inst_executed_op_fmul_pred_on.sum
smsp__sass_thread_inst_executed_op_ffma_pred_on.sum smsp__sass_thread_inst_executed_op_dadd_pred_on.sum
smsp__sass_thread_inst_executed_op_dmul_pred_on.sum smsp__sass_thread_inst_executed_op_dfma_pred_on.sum
smsp__sass_thread_inst_executed_op_hadd_pred_on.sum smsp__sass_thread_inst_executed_op_hmul_pred_on.sum
smsp__sass_thread_inst_executed_op_hfma_pred_on.sum
sm__inst_executed_pipe_alu.sum sm__inst_executed_pipe_fma.sum sm__inst_executed_pipe_fp16.sum sm__inst_executed_pipe_fp64.sum
smsp__inst_executed_pipe_xu.sum sm__inst_executed_pipe_tensor.sum sm__inst_executed_pipe_lsu.sum sm__inst_executed_pipe_tex.sum
sm__inst_executed_pipe_uniform.sum sm__inst_executed_pipe_cbu.sum sm__inst_executed_pipe_adu.sum
idc__requests.sum
l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum
l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum
l1tex__t_sectors_pipe_tex_mem_texture.sum
l1tex__data_pipe_lsu_wavefronts_mem_shared.sum l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum
l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum
lts__t_sectors_op_read.sum lts__t_sectors_op_read_lookup_hit.sum lts__t_sectors_op_write.sum lts__t_sectors_op_red.sum
lts__t_sectors_op_atom.sum dram__bytes_read.sum dram__bytes_write.sum
""".split()


def known_metrics(ncu):
    """Those of ours that the profiler knows on this GPU, and the others; without an answer, all are tried."""
    answer = subprocess.run([ncu, "--query-metrics"], capture_output=True, text=True, check=False)
    bases = {line.split()[0] for line in answer.stdout.splitlines() if "__" in line.split(" ")[0]}
    if not bases:
        return METRICS, []
    known = [metric for metric in METRICS if metric.split(".")[0] in bases]
    return known, [metric for metric in METRICS if metric not in known]


def command(ncu, metrics, log, bench, name, iterations):
    """Clocks stay as they are, so that rates can be set beside the measurement of power."""
    return [
        *(ncu, "--csv", "--page", "raw", "--print-units", "base", "--clock-control", "none", "--profile-from-start", "off"),
        *("--log-file", str(log), "--metrics", ",".join(metrics)),
        *(str(bench), "once", name, "--iterations", str(iterations)),
    ]


def number(text):
    """A value of the profiler; "n/a" and the like are None."""
    try:
        return float(text.replace(",", ""))
    except ValueError:
        return None


def counts(text):
    """The metrics of the last launch of a raw page: names, units and a row a launch, among lines of the profiler that begin with ==."""
    lines = [line for line in text.splitlines() if line.startswith('"')]
    rows = list(csv.reader(lines))
    if len(rows) < 3 or "Kernel Name" not in rows[0]:
        return {}
    return {name: number(value) for name, value in zip(rows[0], rows[-1]) if name in METRICS}


def profile(ncu, metrics, folder, bench, name, iterations):
    """Counts of one launch. The profiler's own file stays in the folder, where a study can read it."""
    folder.mkdir(exist_ok=True)
    log = folder / f"{name}.csv"
    ran = subprocess.run(command(ncu, metrics, log, bench, name, iterations), capture_output=True, text=True, check=False)
    said = log.read_text() if log.exists() else ""
    found = counts(said)
    if not found:
        raise RuntimeError((ran.stderr or said or ran.stdout).strip()[-400:] or "the profiler said nothing")
    return found
