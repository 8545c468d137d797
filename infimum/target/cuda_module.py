"""From LLVM IR to a function on the GPU: by way of PTX and the driver's linker, whose machine code is kept on disk."""

from contextlib import suppress
from types import ModuleType
from typing import Any

from infimum.target import disk_cache, ptx


def function(cupy: ModuleType, text: str, name: str) -> Any:
    """The entry of a kernel's LLVM IR on CuPy's current device. `name` is of all that the machine code follows from.

    What the driver does not take from the cache is compiled again; if it refuses that too, a CUDADriverError says why.
    """
    kept = disk_cache.read(name)
    if kept is not None:
        with suppress(cupy.cuda.driver.CUDADriverError):
            return _loaded(cupy, kept)
    words = ptx.assemble(text).encode()
    image = _linked(cupy, words)
    found = _loaded(cupy, image)
    disk_cache.write(name, image)
    return found


def _loaded(cupy: ModuleType, image: bytes) -> Any:
    module = cupy.cuda.function.Module()
    module.load(image)
    return module.get_function(ptx.ENTRY)  # keeps the module


def _linked(cupy: ModuleType, words: bytes) -> bytes:
    """The machine code of PTX; the PTX itself where the linker cannot be used: loading it compiles it just as well."""
    with suppress(AttributeError, TypeError, cupy.cuda.driver.CUDADriverError):
        state = cupy.cuda.function.LinkState()
        state.add_ptr_data(words, "infimum.ptx")
        return state.complete()
    return words
