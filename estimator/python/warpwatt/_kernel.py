"""Kernels with their launches."""

import os

from . import _native
from ._arguments import Arguments, file_of, quoted, text as as_text
from ._run import Run
from ._units import several, whole

#: Warp instructions that a launch may execute before it is taken for endless.
LIMIT = 1_000_000_000
#: Cycles that timing may take.
CYCLE_LIMIT = 1_000_000_000_000


class Kernel:
    """A kernel with one launch: a program, its arguments and its shape.

    Make one with Kernel.ptx, .cuda_c, .triton, .numba, .gcn, .suite or .file, and run it on any GPU. It is executed once, and timed on each.
    Arrays are copied when the kernel is made; a run leaves them alone and returns what buffers hold in `outputs`.
    """

    def __init__(self, native, name, arrays=None, saved=None):
        self._native = native
        self.name = name
        self._arrays = arrays
        self._saved = saved
        #: How it is made again elsewhere.
        self._made = None

    @classmethod
    def ptx(cls, text, entry=None, args=(), grid=1, block=1, shared=0, *, cluster=None, registers=None, names=None, name=None):
        """A kernel of PTX.

        text: the PTX. entry: its name, or its C++ name; not needed if there is one.
        args: in the order of the parameters, or a dict by name in that order. An array (numpy, `__array_interface__`, host DLPack) is a buffer, a number a scalar,
        bytes or numpy.void a structure, None a null pointer.
        grid: CTAs, an int or (x, y, z). block: threads of a CTA. shared: bytes of dynamic shared memory. cluster: CTAs of a cluster.
        registers: the most registers a thread may have. names: names of the arguments, where args has none.
        """
        where = _program(name, "ptx")
        entry, parameters = _native.entry(as_text(text, "PTX"), entry, where)
        arguments = _bound(entry, parameters, args, names)
        return cls._launch(name or entry, (where, text.encode()), entry, arguments, (grid, block, shared, cluster), registers)

    @classmethod
    def gcn(cls, object, entry=None, args=(), grid=1, block=1, shared=0, *, names=None, name=None):
        """A kernel of machine code of Southern Islands (docs/southern-islands.md), for GPUs with wavefronts of 64: Gpu("tahiti").

        object: a code object, as bytes or as a path. The other arguments are those of Kernel.ptx; grid counts work-groups, block work-items of a group.
        """
        if isinstance(object, (str, os.PathLike)):
            with open(object, "rb") as file:
                object = file.read()
        where = _program(name, "o")
        entry, parameters = _native.object_entry(bytes(object), entry, where)
        arguments = _bound(entry, parameters, args, names)
        return cls._launch(name or entry, (where, bytes(object)), entry, arguments, (grid, block, shared, None), None)

    @classmethod
    def cuda_c(cls, text, entry=None, args=(), grid=1, block=1, shared=0, *, arch="compute_80", options=(), **more):
        """A kernel of CUDA C++, compiled by NVRTC (pip install nvidia-cuda-nvrtc), else by nvcc or clang.

        entry: a name as in the source (`copy<float>` too, if it is instantiated there). arch: "compute_80", "sm_90". options: further options of the compiler.
        The other arguments are those of Kernel.ptx.
        """
        from . import _cuda

        ptx = _cuda.compiled(text, arch, tuple(options))
        return cls.ptx(ptx, entry, args, grid, block, shared, **more)

    @classmethod
    def triton(cls, fn, args, constexpr=None, grid=1, target="sm_80", num_warps=4, num_stages=3, *, num_ctas=1, maxnreg=None, debug=None, name=None, registers=None):
        """A kernel of Triton, compiled without a GPU.

        fn: a function under @triton.jit. args: its arguments but for the constants, in order, or all by name. constexpr: the constants by name. Parameters that are left out have
        their defaults. grid: an int, a tuple, or a function of the constants. target: "sm_80", "sm_90". A CTA has 32 * num_warps threads.
        num_ctas: CTAs of a cluster. maxnreg: registers a thread, as ptxas is told. debug: device_assert is checked; left out, as @triton.jit says.
        """
        from . import _triton

        options = {"num_warps": num_warps, "num_stages": num_stages, "num_ctas": num_ctas, "maxnreg": maxnreg, "debug": debug}
        made = _triton.compiled(fn, args, constexpr or {}, grid, target, options)
        return cls.ptx(made.ptx, made.entry, made.arguments, *made.shape, cluster=made.cluster, name=name or made.entry, registers=registers or made.registers)

    @classmethod
    def numba(cls, f, args, grid=1, block=1, shared=0, *, target="sm_80", **more):
        """A kernel of Numba (a plain function or one under @cuda.jit), compiled without a GPU.

        args: as the function takes them; arrays of any shape. grid, block: an int or up to three. Options of @cuda.jit are kept; `registers` goes before its max_registers.
        """
        from . import _numba

        _numba.bounded(f, extents(block))
        ptx, entry, arguments, registers = _numba.compiled(f, args, target)
        return cls.ptx(ptx, entry, arguments, grid, block, shared, **{"name": entry, "registers": registers, **more})

    @classmethod
    def suite(cls, name, case=None, *, build=None, registers=None):
        """A kernel of the suite (`warpwatt list kernels`), with the size that its case has; the first one if none is named."""
        kernel = cls(_native.Kernel.suite(name, case, build, registers), name, saved=(name, case))
        kernel._made = cls._suite, (name, case, build, registers)
        return kernel

    @classmethod
    def _suite(cls, name, case, build, registers):
        return cls.suite(name, case, build=build, registers=registers)

    @classmethod
    def file(cls, path, case=None, *, registers=None):
        """A launch file (docs/launch-files.md), or launches that were recorded elsewhere."""
        path = os.fspath(path)
        name = os.path.splitext(os.path.basename(path))[0]
        kernel = cls(_native.Kernel.file(path, case, registers), name, saved=(path, case))
        kernel._made = cls._file, (os.path.abspath(path), case, registers)
        return kernel

    @classmethod
    def _file(cls, path, case, registers):
        return cls.file(path, case, registers=registers)

    @classmethod
    def _launch(cls, name, program, entry, arguments, shape, registers):
        text = _launch_text(name, program[0], entry, arguments, shape)
        extent = extents(shape[0]), extents(shape[1])
        return cls._memory(name, (text, program, arguments.files(), registers), extent, arguments.arrays())

    @classmethod
    def _memory(cls, name, launch, extent, arrays):
        """A launch in memory: text, program, contents of buffers and the limit of registers."""
        limit = launch[3] if launch[3] is None else whole("registers", launch[3], 1, 255)
        kernel = cls(_native.Kernel.memory(*launch[:3], limit), name, arrays)
        kernel._text, kernel._program, kernel._files, _ = launch
        kernel.grid, kernel.block = extent
        kernel._made = launch
        return kernel

    @classmethod
    def _sent(cls, name, launch, extent, kinds):
        """A launch that came from elsewhere; `kinds` say what the arrays were like."""
        from ._arguments import numpy

        np = numpy()
        arrays = {key: np.frombuffer(launch[2][file_of(key)], kind).reshape(shape, order=order) for key, (kind, shape, order) in kinds.items()}
        return cls._memory(name, launch, extent, arrays)

    def __reduce__(self):
        if self._saved is not None:
            return self._made
        kinds = {key: (one.dtype, one.shape, "C" if one.flags.c_contiguous else "F") for key, one in self._arrays.items()}
        return Kernel._sent, (self.name, self._made, (self.grid, self.block), kinds)

    def run(self, gpu, *, limit=LIMIT, cycle_limit=CYCLE_LIMIT):
        """Executes the launch, times it on `gpu`, and prices it if the GPU has a node. Returns a Run.

        limit: warp instructions before a launch is taken for endless. cycle_limit: cycles before timing is given up.
        """
        checked(gpu)
        if gpu._clock not in (None, "fixed"):
            raise _native.Error(f'clock="{gpu._clock}" is for what_if: a run is timed at the clock that its GPU has, sm__clock_mhz=...')
        return Run(self._native.run(gpu._native, whole("limit", limit), whole("cycle_limit", cycle_limit)), self, gpu)

    def execute(self, gpu=None, *, limit=LIMIT):
        """Only executes the launch: outputs and counts of instructions, no cycles and no energy."""
        from ._gpu import Gpu

        gpu = Gpu() if gpu is None else checked(gpu)
        return Run(self._native.execute(gpu._native, whole("limit", limit)), self, gpu)

    def save(self, directory):
        """Writes the launch for `warpwatt kernel DIRECTORY/launch.toml`: launch file, program and buffers. Returns the launch file's path."""
        from pathlib import Path

        if self._saved is not None:
            raise TypeError(f"`{self.name}` is not in memory: `warpwatt kernel {self._saved[0]}` runs it as it is")
        folder = Path(directory)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / self._program[0]).write_bytes(self._program[1])
        for file, contents in self._files.items():
            (folder / file).write_bytes(contents)
        launch = folder / "launch.toml"
        launch.write_text(self._text)
        return launch

    def __repr__(self):
        return f"<warpwatt.Kernel {self.name}>"


def _bound(entry, parameters, args, names):
    """Arguments against the parameters of an entry."""
    if isinstance(args, dict):
        named = list(args.items())
    elif isinstance(args, (str, bytes)) or not hasattr(args, "__iter__"):
        raise TypeError(f"args is a list, a tuple or a dict of arguments, not {args!r}: args=(x, y, 3)")
    else:
        args = list(args)
        names = list(names or [])
        named = [(names[at] if at < len(names) else f"arg{at}", value) for at, value in enumerate(args)]
    if len(named) != len(parameters):
        takes = ", ".join(f".{element} {name}" for name, element, _ in parameters)
        raise _native.Error(f"`{entry}` takes {len(parameters)} arguments ({takes}), and {len(named)} are given")
    arguments = Arguments()
    for (name, value), (_, element, size) in zip(named, parameters):
        arguments.add(name, value, (element, size))
    return arguments


def checked(gpu):
    """A GPU, which somebody passed."""
    from ._gpu import Gpu

    if not isinstance(gpu, Gpu):
        raise TypeError(f"a kernel runs on a Gpu, not on {gpu!r}: Gpu(\"h100\"), Board(\"titan-v\")")
    return gpu


def _program(name, extension):
    """The file name of a program."""
    return file_of(as_text(name or "kernel", "the name of a kernel"), extension)


def extents(value, what="an extent"):
    """An int or up to three, as three."""
    values = several(value)
    if not 1 <= len(values) <= 3:
        raise ValueError(f"{what} has one, two or three numbers, not {value!r}")
    return tuple(whole(what, one, 0, (1 << 31) - 1) for one in values) + (1,) * (3 - len(values))


def _launch_text(name, ptx, entry, arguments, shape):
    """The launch file."""
    grid, block, shared, cluster = shape
    lines = [
        f"name = {quoted(name)}",
        f"[build]\nptx = {quoted(ptx)}",
        "[run]",
        f"kernel = {quoted(entry)}",
        f"grid = {list(extents(grid, 'grid'))}",
        f"block = {list(extents(block, 'block'))}",
        f"dynamic_shared = {whole('shared', shared)}",
        f"args = [{', '.join(quoted(argument.name) for argument in arguments.all)}]",
    ]
    if cluster is not None:
        lines.append(f"cluster = {list(extents(cluster, 'cluster'))}")
    return "\n".join(lines) + "\n" + "".join(argument.text("run") for argument in arguments.all)
