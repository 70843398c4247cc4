"""Studies on other threads and processes, against one machine's."""

import os
import pickle
import signal
import threading
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context

import pytest

import warpwatt as ww

STUDY = {
    "study": {"title": "A filter cache"},
    "gpu": {"preset": "tesla-16sm", "node": ["16nm", "7nm"]},
    "workloads": {"kernels": ["vector_add", "scan"]},
    "technique": [{"name": "filter_cache", "entries": [16, 32]}],
}
STORE = "results.redb"


def processes(workers=2):
    """Not forked: threads of this process may hold locks."""
    return ProcessPoolExecutor(workers, mp_context=get_context("spawn"))


@pytest.fixture
def alone(tmp_path):
    """The study on this machine, and its store."""
    results = ww.Study(STUDY).run(out=tmp_path / "alone")
    return results.document, (tmp_path / "alone" / STORE).read_bytes()


@pytest.mark.parametrize("pool", [lambda: ThreadPoolExecutor(3), processes])
def test_results_are_those_of_one_machine(pool, alone, tmp_path):
    heard = []
    with pool() as executor:
        results = ww.Study(STUDY).run(executor=executor, out=tmp_path / "others", progress=lambda *far: heard.append(far))
        in_memory = ww.Study(STUDY).run(executor=executor)
    assert results.document == in_memory.document == alone[0]
    assert (tmp_path / "others" / STORE).read_bytes() == alone[1]
    assert heard[-1] == (12, 12)


class Now(Executor):
    """Does a unit when it is submitted; the units from `after` on fail as those of a worker that was killed."""

    def __init__(self, after=None):
        self.after = after
        self.units = []

    def submit(self, function, *arguments):
        future = Future()
        future.set_running_or_notify_cancel()
        if self.after is not None and len(self.units) >= self.after:
            future.set_exception(self.failure())
        else:
            self.units.append(arguments[1][1])
            future.set_result(function(*arguments))
        return future

    @staticmethod
    def failure():
        from concurrent.futures.process import BrokenProcessPool

        return BrokenProcessPool("a process was killed")


def test_what_is_finished_is_kept_and_not_done_twice(alone, tmp_path):
    first, second = Now(after=2), Now()
    with pytest.raises(ww.Error, match="a worker of the executor ended"):
        ww.Study(STUDY).run(executor=first, out=tmp_path / "out")
    results = ww.Study(STUDY).run(executor=second, out=tmp_path / "out")
    done = [point for units in (first.units, second.units) for unit in units for point in unit]
    assert len(first.units) == 2 and sorted(done) == list(range(12))
    assert results.document == alone[0]


def test_a_killed_process_loses_nothing(alone, tmp_path):
    study = ww.Study({**STUDY, "workloads": {"kernels": ["vector_add", "scan", "hotspot", "matmul_tiled"]}})
    done = []
    executor = processes(1)

    def kill(far, _):
        if not done:
            os.kill(next(iter(executor._processes)), signal.SIGKILL)
        done.append(far)

    with executor, pytest.raises(ww.Error, match="a worker of the executor ended"):
        study.run(executor=executor, out=tmp_path / "out", progress=kill)
    assert 0 < done[-1] < len(study)
    again = []
    with processes(2) as executor:
        results = study.run(executor=executor, out=tmp_path / "out", progress=lambda far, _: again.append(far))
    assert again[-1] == len(study) - done[-1]
    assert results.document == study.run().document


def test_questions_go_to_workers_too(add):
    def answer(**how):
        gpu = ww.Gpu("tesla-16sm", {"sm.threads": 512})
        return ww.what_if([add, "scan"], gpu, ["filter_cache"], node=["16nm", "7nm"], settings={"entries": [16, 32]}, **how).document

    heard = []
    with processes(2) as executor:
        assert answer(executor=executor, progress=lambda *far: heard.append(far)) == answer()
    assert heard[-1] == (12, 12)


def test_kernels_in_memory_go_along(add, tmp_path):
    study = ww.Study({"gpu": {"preset": "v100", "node": "7nm"}, "workloads": {"kernels": [add, "scan"]}})
    with processes(1) as executor:
        assert study.run(executor=executor).document == study.run().document


def test_a_study_file_goes_along(tmp_path):
    path = tmp_path / "study.toml"
    path.write_text('[study]\ntitle = "x"\n[gpu]\npreset = "v100"\nnode = "7nm"\n[workloads]\nkernels = ["vector_add"]\n')
    study = ww.Study.load(path)
    again = pickle.loads(pickle.dumps(study))
    assert again.title == "x" and again.run().document == study.run().document


def test_kernels_are_pickled(add, vectors):
    a, b, _ = vectors
    again = pickle.loads(pickle.dumps(add))
    run = again.run(ww.Gpu("tesla-16sm")).check(c=a + b)
    assert run.document == add.run(ww.Gpu("tesla-16sm")).document
    suite = pickle.loads(pickle.dumps(ww.Kernel.suite("scan")))
    assert suite.run(ww.Gpu("tesla-16sm")).passed


def test_other_inputs_are_refused(tmp_path):
    path = tmp_path / "study.toml"
    text = '[study]\ntitle = "x"\n[gpu]\npreset = "v100"\nnode = "7nm"\n[workloads]\nkernels = ["vector_add"]\n'
    path.write_text(text)
    study = ww.Study.load(path)
    other = ww.Study._of_text("study.toml", text.replace("7nm", "12nm"), str(tmp_path))

    class Elsewhere(Now):
        def submit(self, function, sent, unit, *how):
            return super().submit(lambda *_: other._native.work(unit, 1, None), sent, unit)

    with pytest.raises(ww.Error, match="other inputs"):
        study.run(executor=Elsewhere())


def test_a_unit_that_fails_says_why():
    class Failing(Now):
        @staticmethod
        def failure():
            return ww.Error("no")

    with pytest.raises(ww.Error, match="^no$"):
        ww.Study(STUDY).run(executor=Failing(after=0))
    with pytest.raises(TypeError, match="is no executor"):
        ww.Study(STUDY).run(executor=3)


def test_ctrl_c_ends_it():
    class Never(Now):
        def submit(self, *_):
            return Future()

    timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        ww.Study(STUDY).run(executor=Never())


def test_dask(alone, tmp_path):
    distributed = pytest.importorskip("distributed", reason="Dask is not installed")
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, distributed.Client(cluster) as client:
        results = ww.Study(STUDY).run(executor=ww.dask(client), out=tmp_path / "out")
    assert results.document == alone[0]
    assert (tmp_path / "out" / STORE).read_bytes() == alone[1]


def test_dask_goes_on_when_a_worker_is_killed(tmp_path):
    distributed = pytest.importorskip("distributed", reason="Dask is not installed")
    study = ww.Study({**STUDY, "workloads": {"kernels": ["vector_add", "scan", "hotspot", "matmul_tiled"]}})
    heard = []
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, distributed.Client(cluster) as client:
        victims = list(client.run(os.getpid).values())

        def kill(far, _):
            if not heard:
                os.kill(victims[0], signal.SIGKILL)
            heard.append(far)

        results = study.run(executor=ww.dask(client), out=tmp_path / "out", progress=kill)
        assert victims[0] not in client.run(os.getpid).values()
    assert heard == sorted(set(heard)) and heard[-1] == len(study)
    assert results.document == study.run().document
