"""Pictures: by matplotlib where it is asked for, as SVG in notebooks."""

import base64
import re
import subprocess
import sys
import xml.etree.ElementTree as xml

import pytest

import warpwatt as ww

STUDY = {
    "gpu": {"preset": "tesla-16sm", "node": ["16nm", "7nm"]},
    "workloads": {"kernels": ["vector_add", "scan"]},
    "technique": [{"name": "filter_cache", "entries": [16, 32]}],
}


@pytest.fixture(scope="module")
def results():
    return ww.Study(STUDY).run()


@pytest.fixture(scope="module")
def run():
    return ww.Kernel.suite("scan").run(ww.Gpu("tesla-16sm", node=7))


@pytest.fixture
def matplotlib():
    matplotlib = pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    matplotlib.use("agg")
    yield matplotlib
    matplotlib.pyplot.close("all")


def lengths(ax):
    return [bar.get_width() for bar in ax.patches]


def names(ax):
    return [label.get_text() for label in ax.get_yticklabels()]


def test_a_run_is_drawn_by_structure_and_by_stalls(run, matplotlib):
    energy = run.plot()
    assert sum(lengths(energy)) == pytest.approx(run.energy) and lengths(energy) == sorted(lengths(energy), reverse=True)[:-1] + lengths(energy)[-1:]
    assert names(energy)[0] == run.structures[0]["name"] and energy.get_xlabel() == "energy (J)"
    stalls = dict(zip(names(ax := run.plot("stalls")), lengths(ax)))
    assert stalls == {name: cycles for name, cycles in run.stalls.items() if cycles}
    with pytest.raises(ValueError, match="cannot be drawn"):
        run.plot("heat")
    with pytest.raises(ValueError, match="has no node"):
        ww.Kernel.suite("scan").run(ww.Gpu("tesla-16sm")).plot("energy")


def test_a_front_is_drawn_among_the_points(results, matplotlib):
    front = results.pareto("energy_j", "area_m2")
    ax = front.plot()
    drawn = sum(len(line.get_xdata()) for line in ax.lines)
    hollow = sum(len(one.get_offsets()) for one in ax.collections)
    assert (drawn, drawn + hollow) == (len(front), 12)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("area_m2", "energy_j")
    assert sorted(x for line in ax.lines for x in line.get_xdata()) == sorted(front["area_m2"])
    with pytest.raises(ww.Error, match="no metric of this front: energy_j, area_m2"):
        front.plot("cycles")
    with pytest.raises(ww.Error, match="two metrics"):
        results.pareto("energy_j").plot()


def test_points_are_drawn_by_column(results, matplotlib):
    bars = results.points.plot("energy_j")
    assert sorted(lengths(bars)) == sorted(a + b for a, b in zip(results.points["dynamic_energy_j"], results.points["leakage_energy_j"]))
    assert names(bars)[0] == "vector_add 7nm filter_cache(entries=32)"
    lines = results.points.plot("leakage_w", "vdd_v", by="kernel")
    assert [line.get_label() for line in lines.lines] == ["vector_add", "scan"] and len(lines.lines[0].get_xdata()) == 6
    with pytest.raises(KeyError, match="no column `joules`"):
        results.points.plot("joules")


def test_the_answer_is_drawn_with_its_intervals(results, matplotlib):
    ax = results.plot()
    assert lengths(ax) == pytest.approx([100 * change for change in results.answer["energy_change"]])
    assert names(ax)[0] == "filter_cache(entries=16) · 16nm"
    figure, own = matplotlib.pyplot.subplots()
    assert results.plot(ax=own) is own


def test_without_matplotlib_the_remedy_is_named():
    code = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "import warpwatt as ww\n"
        "run = ww.Kernel.suite('scan').run(ww.Gpu('tesla-16sm'))\n"
        "assert '<table' in run._repr_html_()\n"
        "try: run.plot()\n"
        "except ImportError as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.startswith("plots need matplotlib: pip install matplotlib"), done.stderr


def svgs(html):
    found = re.findall(r"src='data:image/svg\+xml;base64,([^']+)'", html)
    return [xml.fromstring(base64.b64decode(one)) for one in found]


def test_a_notebook_shows_the_report_s_pictures(results):
    shown = svgs(results._repr_html_())
    titles = [svg.find("{*}title").text for svg in shown]
    # Changes, over nodes, by kernel, the roofline, the die, the flow.
    assert len(shown) == 6 and all(titles) and len(set(titles)) == 6
    assert all("--paper" in svg.find("{*}style").text for svg in shown)
    front = svgs(results.pareto("energy_j", "area_m2")._repr_html_())
    circles = [len(svg.findall("{*}circle")) + len(svg.findall("{*}path")) for svg in front]
    assert len(front) == 2 and all(circles)


def test_a_run_has_a_page_and_its_pictures(run, tmp_path):
    page = run.page(tmp_path / "run.html")
    assert (tmp_path / "run.html").read_text(encoding="utf-8") == page.html
    headings = [heading for heading, _, _ in page.pictures]
    assert headings == ["From instructions to structures", "Power over time", "What SMs spend their cycles on", "Power of each SM", "Priced area to scale"]
    mean = re.search(r"Power over time: mean ([\d.]+) W", page.html)
    assert float(mean[1]) == pytest.approx(run.power, rel=1e-3)
    assert page._repr_html_().count("<img") == len(headings)
    for _, _, svg in page.pictures:
        xml.fromstring(svg)
    assert page == run.page()


def test_what_has_no_page_says_so(run):
    import pickle

    with pytest.raises(ww.Error, match="no node"):
        ww.Kernel.suite("scan").run(ww.Gpu("tesla-16sm")).page()
    with pytest.raises(ValueError, match="another process"):
        pickle.loads(pickle.dumps(run)).page()
