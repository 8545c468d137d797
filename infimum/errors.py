"""Every error that infimum raises on purpose. The class docstring is the help: cause, example, cure."""


class InfimumError(Exception):
    """Base of all errors of this library: `except infimum.InfimumError` catches each of them."""


class TraceError(InfimumError):
    """The function could not be turned into an expression.

    infimum calls the function once with a symbolic array and records what NumPy is asked to do. That fails where
    the code leaves NumPy (`math.sin(x[0])`), asks a symbolic number for its value (`if x[0] > 0:`, `float(x[0])`),
    or uses a NumPy function without a rule. The message names the line and the cure.

    Example: `def f(x): return math.sin(x[0])`. Cure: `def f(x): return np.sin(x[0])`.
    """

    again = False  # may tracing succeed in a second run, component by component?


class UserFunctionError(TraceError):
    """The user's function itself raised an exception; it is chained as `__cause__`.

    Example: `def f(x): return x[7]` with n = 2. Cure: correct the function, or pass the right `n` or bounds.
    """


class BoundsError(InfimumError, ValueError):
    """The bounds do not describe a box.

    Causes: a lower end above its upper end, a NaN, a complex or non-numeric entry, the wrong shape, no variable at all,
    an interval that is a point at infinity. Example: `bounds=[(1, 0)]`. Cure: pairs `(low, high)` with `low <= high`;
    infinite ends are allowed.
    """


class ShapeError(InfimumError, ValueError):
    """An array given to an evaluator has the wrong shape or type. The message states which shape was expected."""


class OptionError(InfimumError, ValueError):
    """An argument or option of `minimize` is unknown or has no meaning.

    Example: `minimize(f, bounds, options={"particels": 100})`. Cure: the message lists what is known and which values are legal.
    """


class UndefinedError(InfimumError):
    """The function has no finite value anywhere that was looked.

    Example: `np.log(-1 - x[0]**2)`. Cure: correct the function, or give bounds within its natural domain.
    """


class CheckpointError(InfimumError):
    """A checkpoint cannot be written, read, or does not belong to this problem.

    Causes: the folder is missing or not writable; the file is damaged or no checkpoint; the function, as traced, is another one.
    Cure: the message names the file and what is wrong; nothing is ever resumed from a file that is not whole.
    """


class NotLocalError(InfimumError):
    """The engine needs a function that can be taken apart into what each variable contributes, and this one cannot.

    Example: `engine="complete"` with `np.sum(np.cumsum(x)**2)`. Cure: `engine="auto"`.
    """


class InternalError(InfimumError):
    """infimum has found a contradiction in its own work. No result is better than a wrong one.

    Cure: none on your side; please report it, together with the function and the bounds.
    """


class HostError(InfimumError):
    """This machine cannot run the kernels: the processor lacks fused multiply-add, or LLVM has no target for it.

    Without a hardware `fma` the enclosures would need a library call that cannot be trusted, so the host is refused.
    Cure: a processor of 2013 or later (x86-64 with FMA3, or any 64-bit Arm), or the slow `python` target.
    """


class DeviceError(InfimumError):
    """The GPU asked for cannot be used.

    Causes: CuPy is not installed; there is no NVIDIA GPU, or no driver for it; the number names none; the chip is older than 2016
    or the driver refuses the kernel; one box needs more memory than `memory_limit` allows; the GPU was lost, or a launch on it
    failed. Example: `device="cuda"` on a laptop without a GPU. Cure: `pip install infimum[cuda]` and NVIDIA's driver (no CUDA
    toolkit is needed), another number, or `device="cpu"`, which gives the same bits. A run that kept a checkpoint goes on from
    it, on any device: `infimum.resume(file, fun, device="cpu")`.
    """


class DeviceMemoryError(DeviceError, MemoryError):
    """The memory of the GPU is full, and splitting the launch did not help.

    A search that meets it while it branches ends with the enclosure it has. Cure: free the GPU's memory of other programs, a
    smaller `batch`, fewer particles, or `device="cpu"`.
    """


class GalleryError(InfimumError, ValueError):
    """The gallery has no such problem, or not with so many variables.

    Example: `get("rosenbrok")`, `get("branin", 3)`, `get("rosenbrock", 1)`. Cure: the message names near names and the sizes
    that exist; `names()` lists all.
    """
