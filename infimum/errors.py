"""Every error that infimum raises on purpose. The class docstring is the help: cause, example, cure."""


class InfimumError(Exception):
    """Base class of all errors of this library: `except infimum.InfimumError` catches every one of them.

    >>> try:
    ...     raise BoundsError("the bounds of variable 0 are reversed: 1.0 > 0.0")
    ... except InfimumError as error:
    ...     print(type(error).__name__, isinstance(error, ValueError))
    BoundsError True
    """

    def _render_traceback_(self) -> list[str]:
        """The lines that IPython shows in place of a traceback."""
        from infimum.support.notebook import short_traceback

        return short_traceback(self)


class TraceError(InfimumError):
    """The function could not be traced.

    infimum calls the function once with a symbolic array and records the NumPy operations on it. That fails where the code
    leaves NumPy (`math.sin(x[0])`), asks a symbol for its value (`if x[0] > 0:`, `float(x[0])`), or uses a NumPy function that
    cannot be traced. The message names the line and what to write instead.

    Example: `def f(x): return math.sin(x[0])`. Cure: `def f(x): return np.sin(x[0])`.
    """

    again = False         # may tracing succeed in a second run, component by component?
    may_be_tried = True   # may trials of the function, which trace nothing, succeed?


class UserFunctionError(TraceError):
    """Your function itself raised an exception, which is chained as `__cause__`.

    Example: `def f(x): return x[7]` with n = 2. Cure: correct the function, or pass the right `n` or bounds.
    """


class AgreementError(TraceError):
    """The function is another one for plain numbers than it was when it was traced, or two calls with the same numbers differ.

    Every function is called with plain numbers at a few points and at the point that is returned, and compared with what was
    traced. They differ where the function looks at its argument in a way that tracing does not see: its type, a count of calls, a
    file that changes, the time, random numbers. A proof about what was traced would be a proof about another function.

    Example: `def f(x): return x[0]**2 if isinstance(x, np.ndarray) else x[0]`. Cure: compute the value from x with NumPy alone,
    or use `engine="index"`, which calls the function and proves nothing. `check=False` leaves out the comparison.
    """


class BoundsError(InfimumError, ValueError):
    """The bounds do not describe a box.

    Causes: a lower bound above its upper bound, a NaN, a complex or non-numeric entry, the wrong shape, no variable at all,
    an interval that is a point at infinity. Example: `bounds=[(1, 0)]`. Cure: pairs `(low, high)` with `low <= high`;
    infinite bounds are allowed.
    """


class ShapeError(InfimumError, ValueError):
    """An array given to an evaluator has the wrong shape or type. The message states which shape was expected."""


class DataError(InfimumError, ValueError):
    """The data of a fit cannot be used, or the model does not return one number for each of them.

    Causes: NaN or infinite numbers, a standard deviation that is not positive, arrays whose shapes do not fit together, fewer
    measurements than parameters. Example: `fit(model, x, y)` with `y[3] = np.nan`. Cure: the message names the rows.
    """


class OptionError(InfimumError, ValueError):
    """An argument or option of `minimize` is unknown or has an invalid value.

    Example: `minimize(f, bounds, options={"particels": 100})`. Cure: the message lists the known names or the valid values.
    """


class UndefinedError(InfimumError):
    """The function had no finite value at any point that was tried.

    Example: `np.log(-1 - x[0]**2)`. Cure: correct the function, or give bounds within its natural domain.
    """


class CheckpointError(InfimumError):
    """A checkpoint cannot be written or read, or does not belong to this problem.

    Causes: the folder is missing or not writable, or the disk full, before a run begins; the file is damaged or not a checkpoint;
    the traced function is a different one. Cure: the message names the file and what is wrong. A run is never resumed from an
    incomplete file. A disk that is full later is a warning: it costs no result.
    """


class TrialError(InfimumError):
    """A black box cannot be tried, or workers cannot be started.

    Causes: the function returned something that is no number (an array, a string, a complex number, None, a comparison), or the
    command printed none; the program of a command is not there; a function cannot be sent to other processes, since it is a
    lambda or was defined within a function; a script starts workers without `if __name__ == "__main__":`; every trial failed;
    a Ray cluster cannot be reached.
    Example: `workers=4` with `lambda x: x[0]`. Cure: the message names the function and what to write instead.
    """


class JournalError(InfimumError):
    """A journal of trials cannot be written or read, does not belong to this problem, or is in use by another run.

    Causes: the folder is missing or the disk is full; a line of the file was changed; bounds, constraints or the function are
    other ones, or what the function is bound to; its best point has another value now; two runs were given one file. Example:
    `journal="run.jsonl"` with `partial(g, c=0.8)` after `partial(g, c=0.2)`. Cure: the message names the file, the line and what
    differs; for noisy functions `check=False`. A record that was cut off by a crash is no damage: it is removed, and its trial is
    run again.
    """


class NotLocalError(InfimumError):
    """The engine needs a function that can be split into the contributions of its variables, and this one cannot.

    Example: `engine="complete"` with `np.sum(np.cumsum(x)**2)`. Cure: `engine="auto"`.
    """


class NotKeptError(InfimumError, LookupError):
    """A result holds too many regions to keep them one by one.

    Example: `result.regions.lo` after a run that was stopped with a hundred million regions. Cure: `result.boxes`, which holds
    them all, merged; or limits that stop the run earlier. If the regions are a product, `result.regions.unions` holds them all.
    """


class ModelFileError(InfimumError, ValueError):
    """An AMPL model cannot be read: the file is damaged, or the model has something in it that infimum does not know.

    Causes: a truncated file; bounds that are reversed; imported functions, complementarity or logical constraints, special
    ordered sets. Example: a line `o99` in the file, an operator that does not exist. Cure: the message names the line (in binary
    files the byte); write the model without it.
    """


class NetworkError(InfimumError, ValueError):
    """A network or a property of one cannot be read.

    Causes: the package onnx is not installed; a file that is not ONNX, is truncated, or uses an operator or operator set that is
    not known; NaN or infinite weights; a dynamic shape; weights in other files; pickles, which are never read; a VNN-LIB file
    that says something else than bounds and linear inequalities. Cure: the message names the file, the node or the line;
    `pip install infimum[onnx]`, or export the network again.
    """


class InternalError(InfimumError):
    """infimum has found a contradiction in its own results, and returns none rather than a wrong one.

    Cure: there is nothing you can do about it; please report it, together with the function and the bounds.
    """

    def _render_traceback_(self) -> list[str]:
        from traceback import format_exception

        return format_exception(self)  # all of it, for the report


class HostError(InfimumError):
    """This machine cannot run the kernels: the processor lacks fused multiply-add, or LLVM has no target for it.

    Without a hardware `fma` the enclosures would depend on a library call that cannot be trusted.
    Cure: a processor of 2013 or later (x86-64 with FMA3, or any 64-bit Arm), or the slow `python` backend.
    """


class DeviceError(InfimumError):
    """The requested GPU cannot be used.

    Causes: CuPy is not installed; there is no NVIDIA GPU, or no driver for it; there is no GPU with that number; the chip is
    older than 2016 or the driver rejects the kernel; one box needs more memory than `memory_limit` allows; the GPU was lost, or
    a launch on it failed. Example: `device="cuda"` on a laptop without a GPU. Cure: `pip install infimum[cuda]` and NVIDIA's
    driver (no CUDA toolkit is needed), another number, or `device="cpu"`, which gives the same bits. A run with a checkpoint can
    be continued on any device: `infimum.resume(file, fun, device="cpu")`.
    """


class DeviceMemoryError(DeviceError, MemoryError):
    """The memory of the GPU is full, and splitting the launch did not help.

    A search that runs out of memory while branching ends with the enclosure it has. Cure: close other programs that use the
    GPU's memory, a smaller `batch`, fewer particles, or `device="cpu"`.
    """


class SolverError(InfimumError, ImportError):
    """A library that a run was told to use is not there, or cannot be imported.

    Example: `options={"lp": True}` where HiGHS is not installed. Cure: `pip install highspy`; or leave the option out: proofs
    then go on by bounds of infimum itself.
    """


class GalleryError(InfimumError, ValueError):
    """The gallery has no such problem, or not with that many variables.

    Example: `get("rosenbrok")`, `get("branin", 3)`, `get("rosenbrock", 1)`. Cure: the message suggests similar names or the
    sizes that exist; `names()` lists all problems.
    """
