"""A hash of the IR of every program, for every case of the kernel tests: equal wherever the same kernels are written.

    python -m tests.nets.kernels                   compare with the kept hashes
    python -m tests.nets.kernels --keep [cases]    keep those of today (after a deliberate change of a kernel)

A kernel is written down canonically: values are numbered in the order of their definition, functions in the order of their first
call. Names of kernels and functions are left out. The constants of a kernel are part of its hash; the processor is not.
"""

import gc
import hashlib
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import infimum
from tests.backend import cases
from tests.engine.constrained_systems import CASES
from tests.evaluate.fingerprint import FUNCTIONS
from tests.nets import internals
from tests.nets.internals import Instr, Kernel, Loop, Step
from tests.nets.keeping import Kept, main_of

KEPT = Kept(Path(__file__).with_name("kernels.json"))
DOES_NOT_APPLY = "does not apply"
# parameters of programs that have some; () for all others
SIZES: dict[str, tuple[tuple[int, ...], ...]] = {
    "term_hessian": ((0,),), "term_curvature": ((0, 2),), "branch": ((), (1, 1)),
    "branch_by_pieces": ((), (1, 1, 1)), "faces": ((3,), (3, 1)), "region_outcome": ((), (3,)), "context": ((), (64,)),
    "spread": ((), (1,)), "block_context": ((2,),), "cells": ((0,),), "steep_terms": ((0,),), "second_order_bound": ((0,),),
    "contract": ((), (1, 2, 1, 1, 1)), "loop_tests": ((), (1,)), "loop_split": ((), (1,)), "levenberg": ((), (3,)),
    "at_points": ((0,),), "curves": ((0,),), "complete": ((2, 4, 2),), "complete_system": ((2, 4, 2),),
    "subdomain": ((2, 2, 1, 1), (3, 2, 0, 0)), "propagate": ((), (0,)), "lagrangian": ((), (0, 1))}
WRITTEN_OUT = ("second_order_bound", "lowest", "affine", "contract", "curves")  # without loops: never run with many variables
MANY_VARIABLES = 20
LIBM = ("15 equations",)  # its constants are values of the platform's sine
GALLERY = {"branin": 2, "hartmann_3": 3, "kowalik": 4}
CONSTRAINED_GALLERY = ("hs_15", "hs_43", "g08", "ex2_1_1", "haverly_1", "nvs08", "cb2")


def _functions() -> dict[str, Callable[[], tuple[Any, int]]]:
    found = {f"{name} {n}": (f, n) for name, f in FUNCTIONS.items() for n in (2, 5, 40)}
    found |= {"fit 3": (cases.fit, 3), "splined 3": (cases.splined, 3), "hinges 4": (cases.hinges, 4)}
    found |= {f"gallery {name}": (infimum.problems.get(name, n).fun, n) for name, n in GALLERY.items()}
    return {name: lambda f=f, n=n: (internals.function_of(f, n), n) for name, (f, n) in found.items()}


def _systems() -> dict[str, Callable[[], tuple[Any, int]]]:
    made = {f"{name} 4": lambda make=make: (make(4), 4) for name, make in cases.SYSTEMS.items()}
    made |= {f"case {name}": lambda case=case: (case.evaluator().system, len(case.bounds)) for name, case in CASES.items()
             if name not in LIBM}

    def of_gallery(name: str) -> tuple[Any, int]:
        p = infimum.problems.constrained.get(name)
        return internals.system_of(p.fun, p.n, p.constraints, tuple(np.flatnonzero(p.integrality or ()).tolist())), p.n
    return made | {f"constrained gallery {name}": lambda name=name: of_gallery(name) for name in CONSTRAINED_GALLERY}


@cache
def table() -> dict[str, Callable[[], tuple[Any, int]]]:
    """The function or system of each case, and its number of variables."""
    return {**_functions(), **_systems()}


def serial(kernel: Kernel) -> Iterator[str]:
    """A kernel as lines of text that are equal for equal kernels."""
    numbers: dict[Any, int] = {}
    functions: dict[int, int] = {}
    queue: list[Any] = []

    def use(values: Any) -> str:
        return ",".join(str(numbers[v]) for v in values)

    def define(values: Any) -> str:
        for v in values:
            numbers[v] = len(numbers)
        return ",".join(f"{numbers[v]}{v.type}{v.depth}" for v in values)

    def attribute(attr: Any) -> str:
        if attr is None or isinstance(attr, (int, str)):
            return repr(attr)
        if id(attr) not in functions:
            functions[id(attr)] = len(functions)
            queue.append(attr)
        return f"f{functions[id(attr)]}"

    def lines(items: list) -> Iterator[str]:
        for item in items:
            if isinstance(item, Instr):
                operands = use(item.operands)
                yield f"{item.op} {attribute(item.attr)} {operands} -> {define(item.results)}"
            elif isinstance(item, Loop):
                yield f"loop {use((item.count,))} {item.limit} {define((item.index,))}"
                yield from lines(item.body)
                yield "end" if item.more is None else f"end {use((item.more,))}"
            elif isinstance(item, Step):
                yield f"step {use(item.init)} {use(item.inputs)} {define(item.left)} {define(item.right)}"
                yield from lines(item.block)
                yield f"end {use(item.combined)} {define(item.results)} {define(item.prefix)} {item.exclusive}"
            else:
                raise TypeError(f"a kernel with {item!r} cannot be written down")
    yield f"kernel {kernel.inputs} {kernel.outputs} {list(kernel.buffers)} {list(kernel.homes)}"
    yield from lines(kernel.prologue)
    yield "lanes"
    yield from lines(kernel.body)
    for function in queue:  # which grows on the way
        yield f"function {define(function.params)}"
        yield from lines(function.body)
        yield f"end {use(function.results)}"


def hashed(what: Any, n: int, program: str, sizes: tuple[int, ...]) -> str:
    """Of a program with its constants."""
    kernel, doubles, positions, rows, at = internals.written(what, n, program, sizes)
    h = hashlib.sha256("\n".join(serial(kernel)).encode())
    h.update(np.where(np.isnan(doubles), np.nan, doubles).astype("<f8").tobytes())
    h.update(positions.astype("<i8").tobytes() + repr((tuple(map(int, rows)), int(at))).encode())
    return h.hexdigest()[:12]


def hashes(case: str) -> dict[str, str]:
    """Of all programs for a case. A program that is not made for a case fails while it is written, whatever the error."""
    gc.disable()  # kernels are many small objects, all of them alive
    try:
        with internals.numbers_anew():
            return _hashes(*table()[case]())
    finally:
        gc.enable()


def _hashes(what: Any, n: int) -> dict[str, str]:
    found, _held = {}, internals.derivatives(what, n)
    for program in internals.OF_SYSTEM if hasattr(what, "bodies") else internals.OF_FUNCTION:
        if n >= MANY_VARIABLES and program in WRITTEN_OUT:
            continue
        for sizes in SIZES.get(program, ((),)):
            name = ":".join((program, *map(str, sizes)))
            try:
                found[name] = hashed(what, n, program, sizes)
            except Exception:  # noqa: BLE001 - a hash that becomes this one is a difference
                found[name] = DOES_NOT_APPLY
    return found


if __name__ == "__main__":
    sys.exit(main_of(KEPT, table(), hashes))
