"""A fleet on HyperQueue: its server and two workers on this machine, a task killed by SIGKILL, and what is merged beside what one machine makes of the study.

    python3 tests/fleet/hyperqueue_fleet.py WARPWATT DIR      DIR is a new directory that gets everything; needs `pip install hyperqueue`
"""

import filecmp
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

import hyperqueue
from hyperqueue.cluster import LocalCluster, WorkerConfig

FILES = ["results.redb", "points.csv", "comparisons.csv", "answer.csv", "report.json", "report.html", "manifest.json"]


def main(program, place):
    place.mkdir(parents=True)
    os.environ["WARPWATT_CACHE"] = ""
    study = place / "study.toml"
    shutil.copy(pathlib.Path(__file__).with_name("study.toml"), study)
    queue = place / "queue"

    def warpwatt(*words):
        return subprocess.run([program, *map(str, words)], check=True, capture_output=True, text=True).stdout

    warpwatt("plan", study, "--out", queue, "--lease", 5)
    with LocalCluster(server_dir=place / "server") as cluster:
        cluster.start_worker(WorkerConfig(cores=1))
        cluster.start_worker(WorkerConfig(cores=1))
        client = cluster.client()
        # Two at a time, and a third for the one that is killed.
        job = hyperqueue.Job(place, max_fails=1)
        for number in range(3):
            out = place / f"worker-{number}.log"
            job.program([program, "work", str(queue), "--jobs", "1"], stdout=out, stderr=out)
        submitted = client.submit(job)
        done = queue / "done"
        while len(list(done.iterdir())) < 30:
            time.sleep(0.2)
        print("==", warpwatt("status", queue).splitlines()[0])
        taken = next((queue / "taken").iterdir()).name
        os.kill(int(taken.rsplit("-", 1)[1].split("+")[0]), signal.SIGKILL)
        print("== a worker was killed by SIGKILL")
        succeeded = client.wait_for_jobs([submitted], raise_on_error=False)
        print("== the job has ended,", "all tasks well" if succeeded else "one task failed")
    print("==", warpwatt("status", queue).splitlines()[0])
    warpwatt("merge", queue, "--quiet")
    warpwatt("run", study, "--out", place / "alone", "--quiet")
    for file in FILES:
        if not filecmp.cmp(queue / file, place / "alone" / file, shallow=False):
            sys.exit(f"{file} is not that of one machine")
    print("== the store and every file of the report are those of one machine, to the byte")


main(os.path.realpath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve())
