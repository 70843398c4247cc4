"""Questions, studies, tables, arrays and technologies, against the command's."""

import os
import signal

import numpy as np
import pytest

import warpwatt as ww

STUDY = {
    "study": {"title": "A filter cache"},
    "gpu": {"preset": "tesla-16sm", "node": ["16nm", "7nm"]},
    "workloads": {"kernels": ["vector_add", "scan"]},
    "technique": [{"name": "filter_cache", "entries": [16, 32]}],
    "pareto": {"metrics": ["energy_j", "area_m2"]},
}


@pytest.fixture(scope="module")
def results():
    study = dict(STUDY)
    del study["pareto"]
    return ww.Study(study).run(jobs=2)


def test_a_question_is_the_command_s(command):
    gpu = ww.Gpu("tesla-16sm", {"sm.threads": 512}, node="16nm", vdd=0.8)
    found = ww.what_if("scan", gpu, ["filter_cache(entries=16)"], node=["16nm", "7nm"], vdd="0.7V")
    told = command(
        *"what-if -k scan -t filter_cache(entries=16) --set sm.threads=512 --node 16nm,7nm --vdd 0.7V --no-cache --json".split()
    )
    del told["inputs"]
    assert found.document == told
    assert len(found.answer) == 2 and set(found.points["node"]) == {"16nm", "7nm"}


def test_results_are_their_answer(results):
    polars = pytest.importorskip("polars")
    assert results.to_polars().equals(results.answer.to_polars())
    assert polars.DataFrame(results).columns == results.answer.columns
    plain = ww.Study({"gpu": {"preset": "v100", "node": "16nm"}, "workloads": {"kernels": ["scan"]}}).run()
    assert plain.to_polars().equals((plain.points if plain.answer is None else plain.answer).to_polars())


def test_a_question_about_a_kernel_in_memory(add, command, tmp_path):
    found = ww.what_if(add, ww.Gpu("tesla-16sm"), ["filter_cache"], node=7)
    launch = add.save(tmp_path)
    told = command(*f"what-if -k ./{launch.name} -t filter_cache --node 7nm --no-cache --json".split())
    del told["inputs"]
    assert found.document == told


def test_tables_go_to_polars(results):
    polars = pytest.importorskip("polars", reason="Polars is not installed")
    frame = results.points.to_polars()
    assert frame.shape == (12, len(results.points.columns))
    assert frame["area_m2"].dtype == polars.Float64 and frame["cycles"].dtype == polars.UInt64
    assert frame["area_m2"].to_list() == results.points["area_m2"]
    assert polars.DataFrame(results.comparisons).height == 8


def test_tables_go_to_pandas_and_numpy(results):
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    frame = results.answer.to_pandas()
    assert isinstance(frame, pandas.DataFrame) and len(frame) == 4
    assert results.points.to_numpy()["area_m2"].dtype == np.float64


def test_tables_are_pythonic(results):
    points = results.points
    assert len(points.rows()) == len(points) == 12
    assert "<table>" in points._repr_html_() and "12 rows" in repr(points)
    with pytest.raises(KeyError, match="no column `energy`"):
        points["energy"]
    assert points.to_numpy()["kernel"].dtype == object


def test_a_figure_is_explained(results):
    found = results.explain(1, "energy_j")
    energy = results.points["dynamic_energy_j"][0] + results.points["leakage_energy_j"][0]
    assert found.value == pytest.approx(energy) and found.unit == "J"
    assert str(found).startswith("energy_j")
    with pytest.raises(ww.Error, match="energy_j"):
        results.explain(1, "energy_jj")


def test_the_best_points(results):
    front = results.pareto("energy_j", "area_m2")
    assert 0 < len(front) <= 12 and front.columns == results.points.columns


def test_faults_of_a_study_have_the_command_s_words(tmp_path, command):
    text = '[study]\ntitle = "x"\n[gpu]\npreset = "v1000"\nnode = "7nn"\n[workloads]\nkernels = ["scam"]\n'
    path = tmp_path / "study.toml"
    path.write_text(text)
    with pytest.raises(ww.Error) as raised:
        ww.Study.load(path)
    assert str(raised.value) == command("run", str(path), "--out", "out", fails=True)
    assert len(raised.value.diagnostics) >= 3


def test_what_is_finished_stays(tmp_path):
    study = ww.Study(dict(STUDY))
    heard = []
    first = study.run(progress=lambda done, points: heard.append((done, points)), out=tmp_path / "results")
    assert heard[-1] == (12, 12) and (tmp_path / "results/results.redb").exists()
    heard.clear()
    again = study.run(progress=lambda *far: heard.append(far), out=tmp_path / "results")
    assert not heard and again.document == first.document


def test_ctrl_c_keeps_what_is_finished(tmp_path):
    study = ww.Study({**STUDY, "workloads": {"kernels": ["vector_add", "matmul_tiled", "scan", "hotspot"]}})
    done = []

    def interrupt(points, _):
        if not done:
            os.kill(os.getpid(), signal.SIGINT)
        done.append(points)

    with pytest.raises(KeyboardInterrupt):
        study.run(jobs=1, progress=interrupt, out=tmp_path / "results")
    assert done[0] < len(study)
    heard = []
    gone_on = study.run(progress=lambda points, _: heard.append(points), out=tmp_path / "results")
    assert heard and heard[-1] <= len(study) - done[0]
    assert gone_on.document == study.run().document


def test_jobs_change_nothing(results):
    study = dict(STUDY)
    del study["pareto"]
    assert ww.Study(study).run(jobs=1).document == results.document


def test_a_kernel_in_a_study(add):
    study = ww.Study({"gpu": {"preset": "v100", "node": "7nm"}, "workloads": {"kernels": [add, "scan"]}})
    assert ww.Study.run(study).points["kernel"] == ["vector_add", "scan"]


def test_an_array_is_the_command_s(command):
    found = ww.array("4KiB", word=128, ports="1r1w", node="7nm")
    assert found.document == command(*"array --capacity 4KiB --word 128b --ports 1r1w --node 7nm --json".split())
    assert found.area_m2 > 0 and "<warpwatt.Array area_m2=" in repr(found)


def test_arrays_are_the_command_s(command, tmp_path):
    table = {"size_bytes": [4096, 8192, 4096], "block_bytes": [16, 32, 0], "node_um": [0.032, 0.045, 0.032], "name": ["a", "b", "c"]}
    found = ww.arrays(table, library="itrs")
    rows = ["size_bytes,block_bytes,node_um,name", "4096,16,0.032,a", "8192,32,0.045,b", "4096,0,0.032,c"]
    (tmp_path / "specs.csv").write_text("\n".join(rows))
    command("array", "--batch", "specs.csv", "--out", "results.csv", "--library", "itrs", "--json")
    told = [line.split(",") for line in (tmp_path / "results.csv").read_text().splitlines()]
    assert found.columns == told[0]
    assert found["area_mm2"][:2] == [float(row[told[0].index("area_mm2")]) for row in told[1:3]]
    assert found["area_mm2"][2] is None and found["error"][2]


@pytest.mark.parametrize("options, message", [(dict(), "node"), (dict(node="7nm", wrd=3), "no option `wrd`"), (dict(node="7nm", word="x"), "word")])
def test_arrays_that_cannot_be(options, message):
    with pytest.raises(ww.Error, match=message):
        ww.array("4KiB", **options)


def test_a_technology_is_the_command_s(command):
    found = ww.Technology("7nm", vdd=0.6)
    assert found.document == command(*"tech show 7nm --vdd 0.6V --json".split())
    assert isinstance(found.values, dict) and found.values
