"""Boards learned from measured watts, against the command's."""

import csv
import warnings

import pytest

import warpwatt as ww
from conftest import ROOT

MEASURED = ROOT / "estimator/board/measured/titan_v_micro.csv"

pytestmark = pytest.mark.filterwarnings("ignore:warning")


@pytest.fixture(scope="module")
def rows():
    with open(MEASURED) as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def learned(rows):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ww.calibrate(rows, "titan-v")


def test_a_calibration_is_the_command_s(learned, command, tmp_path):
    told = command("calibrate", str(MEASURED), "--board", "titan-v", "--out", str(tmp_path / "command.toml"), "--json")
    assert learned.document == told
    # The table has no name of a file in memory.
    saved = learned.save(tmp_path / "library")
    assert saved.read_text().replace('"the table"', f'"{MEASURED.name}"') == (tmp_path / "command.toml").read_text()
    assert saved.with_suffix(".svg").read_text() == (tmp_path / "command.svg").read_text()
    assert ww.calibrate(MEASURED, "titan-v").toml == (tmp_path / "command.toml").read_text()


def test_a_prediction_is_the_command_s(rows, command):
    told = command("predict", str(MEASURED), "--board", "titan-v", "--set", "clock_mhz=1300", "--json")
    drawn = ww.predict(rows, "titan-v", clock_mhz=1300)
    assert drawn.document == told
    table = drawn.table.to_dict()
    parts = [name for name in table if name.endswith("_w") and name not in ("power_w", "low_w", "high_w", "measured_w")]
    for number, watts in enumerate(table["power_w"]):
        assert sum(table[name][number] for name in parts) == pytest.approx(watts)
        assert table["low_w"][number] < watts <= table["high_w"][number]


def test_cases_that_were_left_out_are_predicted(rows):
    names = sorted({row["name"] for row in rows})
    held = set(names[::3])
    half = ww.calibrate([row for row in rows if row["name"] not in held], "titan-v", transfer="titan-xp")
    unseen = half.predict([row for row in rows if row["name"] in held], operands="still")
    assert unseen.errors["rows"] == sum(row["name"] in held for row in rows)
    assert unseen.errors["mean_absolute_percentage_error"] < 8
    assert len(half.compared) == len(rows) - unseen.errors["rows"]


def test_kernels_run_on_what_was_learned(learned, tmp_path):
    kernel = ww.Kernel.suite("matmul_tiled")
    drawn = kernel.run(learned.gpu(node="12nm")).board
    assert drawn["low_w"] < drawn["power_w"] < drawn["high_w"]
    board = ww.Board(learned.save(tmp_path / "board.toml"))
    assert kernel.run(board).board == drawn
    asked = ww.what_if("scan", board, ["filter_cache"], node="12nm")
    assert "board draws" in str(asked)


def test_nothing_measured_is_what_others_tell():
    told = ww.calibrate(board="titan-v", transfer=["titan-xp", "qv100"])
    assert told.cases == 0 and told.left_out_error is None and len(told.compared) == 0
    assert "told" in told._repr_html_()


def test_warnings_are_python_s(rows):
    with pytest.warns(UserWarning, match="columns that play no part: mood"):
        ww.predict([{**row, "mood": 1} for row in rows[:3]], "titan-v")


@pytest.mark.parametrize(
    "wrong, words",
    [
        (lambda rows: ww.calibrate(rows, "titan"), "did you mean `titan-v`"),
        (lambda rows: ww.calibrate([row for row in rows if row["name"] < "case_004"], "titan-v"), "3 cases with watts can be used, at least 5"),
        (lambda rows: ww.calibrate([{"a": 1}], "titan-v"), "of no layout that is known"),
        (lambda rows: ww.calibrate("nothing.csv", "titan-v"), "cannot read `nothing.csv`"),
        (lambda rows: ww.calibrate(rows, "titan-v", operands="stil"), "did you mean `still`"),
        (lambda rows: ww.calibrate(rows, "titan-v", map="nvm"), "did you mean `nvml`"),
        (lambda rows: ww.predict(rows, "titan-v", clock_mhz=-1), "above zero"),
        (lambda rows: ww.calibrate([], "titan-v"), "no header"),
        (lambda rows: ww.calibrate(5, "titan-v"), "not int"),
        (lambda rows: ww.calibrate(rows), "needs board"),
        (lambda rows: ww.calibrate(board="titan-v"), "needs measured rows"),
    ],
)
def test_wrong_input_says_what_is_wrong(rows, wrong, words):
    with pytest.raises((ww.Error, TypeError)) as told:
        wrong(rows)
    assert words in str(told.value)


def test_a_study_names_a_board_by_its_file(learned):
    with pytest.raises(ww.Error, match="save the calibration"):
        ww.what_if("scan", ww.Board(learned, node="12nm"), ["filter_cache"])
