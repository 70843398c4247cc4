"""Types of warpwatt. Quantities are in SI units: joules, watts, seconds, square metres, hertz."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from os import PathLike
from typing import Any, Protocol, Union

import numpy as np

from . import readers as readers

__version__: str

Extents = Union[int, Sequence[int]]
Quantity = Union[str, float]
Quantities = Union[Quantity, Sequence[Quantity]]
Value = Union[str, int, float, bool, Sequence[Any]]
Arguments = Union[Sequence[Any], Mapping[str, Any]]
Path = Union[str, PathLike[str]]

class Error(ValueError):
    diagnostics: list[dict[str, Any]]

class PtxError(Error): ...
class KernelFault(Error): ...
class Defect(RuntimeError): ...

class Gpu:
    def __init__(
        self,
        preset: str | None = None,
        overrides: Mapping[str, Value] | None = None,
        *,
        node: Quantity | None = None,
        vdd: Quantity | None = None,
        temperature: Quantity | None = None,
        library: str | None = None,
        flavour: str | None = None,
        lower: str | None = None,
        board: Path | Calibration | None = None,
        clock: str | None = None,
        **settings: Value,
    ) -> None: ...
    @property
    def preset(self) -> str: ...
    @property
    def board(self) -> str | None: ...
    @property
    def node(self) -> str | None: ...
    def keys(self) -> dict[str, Any]: ...
    @property
    def clock_hz(self) -> float: ...
    @property
    def sms(self) -> int: ...

def Board(name: Path | Calibration, **keys: Any) -> Gpu: ...

class Calibration:
    document: dict[str, Any]
    board: str
    rows: int
    cases: int
    left_out_error: float | None
    left_out_bias: float | None
    scatter: float
    contradicted: bool
    warnings: list[str]
    refused: list[dict[str, Any]]
    values: list[dict[str, Any]]
    toml: str
    compared: Table
    def save(self, path: Path) -> PathLike[str]: ...
    def gpu(self, **keys: Any) -> Gpu: ...
    def predict(
        self,
        counts: Any,
        *,
        map: Path | None = None,
        operands: str | None = None,
        clock_mhz: float | None = None,
        memory_mhz: float | None = None,
        temperature_k: float | None = None,
        supply: float | None = None,
    ) -> Prediction: ...
    def plot(self, *, ax: Any = None) -> Any: ...

class Prediction:
    document: dict[str, Any]
    board: str
    rows: list[dict[str, Any]]
    errors: dict[str, Any] | None
    refused: list[dict[str, Any]]
    table: Table

def calibrate(
    measured: Any = None,
    board: Path | None = None,
    *,
    transfer: Path | Sequence[Path] = (),
    map: Path | None = None,
    operands: str | None = None,
) -> Calibration: ...
def predict(
    counts: Any,
    board: Path | Calibration,
    *,
    map: Path | None = None,
    operands: str | None = None,
    clock_mhz: float | None = None,
    memory_mhz: float | None = None,
    temperature_k: float | None = None,
    supply: float | None = None,
) -> Prediction: ...

class Kernel:
    name: str
    @classmethod
    def ptx(
        cls,
        text: str,
        entry: str | None = None,
        args: Arguments = (),
        grid: Extents = 1,
        block: Extents = 1,
        shared: int = 0,
        *,
        cluster: Extents | None = None,
        registers: int | None = None,
        names: Sequence[str] | None = None,
        name: str | None = None,
    ) -> Kernel: ...
    @classmethod
    def cuda_c(
        cls,
        text: str,
        entry: str | None = None,
        args: Arguments = (),
        grid: Extents = 1,
        block: Extents = 1,
        shared: int = 0,
        *,
        arch: str = "compute_80",
        options: Iterable[str] = (),
        cluster: Extents | None = None,
        registers: int | None = None,
        names: Sequence[str] | None = None,
        name: str | None = None,
    ) -> Kernel: ...
    @classmethod
    def triton(
        cls,
        fn: Any,
        args: Arguments,
        constexpr: Mapping[str, Any] | None = None,
        grid: Extents | Callable[[dict[str, Any]], Extents] = 1,
        target: str | int = "sm_80",
        num_warps: int = 4,
        num_stages: int = 3,
        *,
        num_ctas: int = 1,
        maxnreg: int | None = None,
        debug: bool | None = None,
        name: str | None = None,
        registers: int | None = None,
    ) -> Kernel: ...
    @classmethod
    def numba(
        cls,
        f: Callable[..., Any],
        args: Sequence[Any],
        grid: Extents = 1,
        block: Extents = 1,
        shared: int = 0,
        *,
        target: str = "sm_80",
        registers: int | None = None,
    ) -> Kernel: ...
    @classmethod
    def gcn(
        cls,
        object: bytes | Path,
        entry: str | None = None,
        args: Arguments = (),
        grid: Extents = 1,
        block: Extents = 1,
        shared: int = 0,
        *,
        names: Sequence[str] | None = None,
        name: str | None = None,
    ) -> Kernel: ...
    @classmethod
    def suite(cls, name: str, case: str | None = None, *, build: str | None = None, registers: int | None = None) -> Kernel: ...
    @classmethod
    def file(cls, path: Path, case: str | None = None, *, registers: int | None = None) -> Kernel: ...
    def run(self, gpu: Gpu, *, limit: int = ..., cycle_limit: int = ...) -> Run: ...
    def execute(self, gpu: Gpu | None = None, *, limit: int = ...) -> Run: ...
    def save(self, directory: Path) -> PathLike[str]: ...

class Run:
    kernel: Kernel
    gpu: Gpu
    @property
    def document(self) -> dict[str, Any]: ...
    @property
    def cycles(self) -> int | None: ...
    @property
    def time_s(self) -> float | None: ...
    @property
    def energy(self) -> float | None: ...
    @property
    def dynamic_energy(self) -> float | None: ...
    @property
    def leakage_energy(self) -> float | None: ...
    @property
    def power(self) -> float | None: ...
    @property
    def board(self) -> dict[str, Any] | None: ...
    @property
    def stalls(self) -> dict[str, int] | None: ...
    @property
    def counters(self) -> dict[str, int] | None: ...
    @property
    def structures(self) -> list[dict[str, Any]] | None: ...
    @property
    def passed(self) -> bool: ...
    @property
    def outputs(self) -> dict[str, np.ndarray]: ...
    def check(self, /, *wrong: Any, rtol: float = 0.0, atol: float = 0.0, **expected: Any) -> Run: ...
    def plot(self, what: str | None = None, *, ax: Any = None) -> Any: ...
    def page(self, path: Path | None = None) -> Page: ...
    def _repr_html_(self) -> str: ...

class Page:
    html: str
    pictures: list[tuple[str, str, str]]
    def __init__(self, html: str, pictures: list[tuple[str, str, str]]) -> None: ...
    def save(self, path: Path) -> None: ...
    def _repr_html_(self) -> str: ...

class Table:
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
    @property
    def columns(self) -> list[str]: ...
    def __len__(self) -> int: ...
    def __getitem__(self, name: str) -> list[Any]: ...
    def rows(self, most: int | None = None) -> list[dict[str, Any]]: ...
    def to_dict(self) -> dict[str, list[Any]]: ...
    def to_numpy(self) -> dict[str, np.ndarray]: ...
    def to_polars(self) -> Any: ...
    def to_pandas(self) -> Any: ...
    def plot(self, y: str, x: str | None = None, *, by: str | None = None, ax: Any = None) -> Any: ...

class Executor(Protocol):
    def submit(self, function: Callable[..., Any], /, *arguments: Any) -> Future[Any]: ...

def dask(client: Any, *, retries: int = 3, **options: Any) -> Executor: ...

class Study:
    def __init__(self, study: Mapping[str, Any], *, directory: Path = ".") -> None: ...
    @classmethod
    def load(cls, path: Path) -> Study: ...
    @property
    def title(self) -> str: ...
    def __len__(self) -> int: ...
    def run(
        self,
        jobs: int | None = None,
        progress: bool | Callable[[int, int], object] = False,
        out: Path | None = None,
        cache: Path | None = None,
        executor: Executor | None = None,
    ) -> Results: ...

class Results:
    @property
    def tables(self) -> list[str]: ...
    def table(self, name: str) -> Table | None: ...
    @property
    def answer(self) -> Table | None: ...
    @property
    def points(self) -> Table: ...
    @property
    def comparisons(self) -> Table: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
    def to_polars(self) -> Any: ...
    def to_pandas(self) -> Any: ...
    def explain(self, point: int | str, metric: str, depth: int = 3) -> Explanation: ...
    def pareto(self, *metrics: str) -> Front: ...
    def plot(self, ax: Any = None) -> Any: ...
    @property
    def document(self) -> dict[str, Any]: ...
    def page(self) -> str: ...

class Front(Table):
    def plot(self, y: str | None = None, x: str | None = None, *, by: str | None = "kernel", ax: Any = None) -> Any: ...

class Explanation:
    document: dict[str, Any]
    metric: str
    value: float
    unit: str
    sigma: float
    derivation: dict[str, Any]

def what_if(
    kernel: Kernel | str | Sequence[Kernel | str],
    gpu: Gpu,
    techniques: str | Iterable[str] = (),
    *,
    node: Quantities | None = None,
    settings: Mapping[str, Value] | None = None,
    jobs: int | None = None,
    progress: bool | Callable[[int, int], object] = False,
    executor: Executor | None = None,
    vdd: Quantities | None = None,
    temperature: Quantities | None = None,
    flavour: str | Sequence[str] | None = None,
    library: str | Sequence[str] | None = None,
) -> Results: ...

class Array:
    document: dict[str, Any]
    area_m2: float
    access_time_s: float
    cycle_time_s: float
    read_energy_j: float
    write_energy_j: float
    leakage_w: float
    intervals: dict[str, dict[str, float]]
    def __getattr__(self, name: str) -> Any: ...

def array(capacity: str | None = None, **options: Quantity | bool) -> Array: ...
def arrays(table: Any, *, library: str | None = None, profile: str | None = None, jobs: int | None = None) -> Table: ...

class Logic:
    document: dict[str, Any]
    block: str
    area_m2: float
    delay_s: float
    energy_j: float
    write_energy_j: float
    leakage_w: float
    gate_leakage_w: float
    def __getattr__(self, name: str) -> Any: ...

def logic(block: str | None = None, **options: Quantity) -> Any: ...

class Technology:
    node: str
    def __init__(
        self,
        node: Quantity,
        *,
        library: str = "silicon",
        flavour: str = "hp",
        temperature: Quantity = "300 K",
        vdd: Quantity | None = None,
    ) -> None: ...
    @property
    def document(self) -> dict[str, Any]: ...
    @property
    def values(self) -> dict[str, Any]: ...

class capture:
    gpu: Gpu
    launches: list[dict[str, Any]]
    def __init__(self, gpu: Gpu, *, target: str = "sm_80", limit: int = ..., cycle_limit: int = ...) -> None: ...
    def __enter__(self) -> capture: ...
    def __exit__(self, *exception: object) -> bool | None: ...
    def launch(self, kernel: Kernel) -> Run: ...
    def report(self) -> Any: ...
