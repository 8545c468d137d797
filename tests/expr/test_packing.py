"""Expressions that travel: what arrives has the same keys, also in a process that has never seen the function."""

import pickle
import sys

import numpy as np

import infimum
from infimum.expr.node import topological
from infimum.problem.packing import PackedExprs, PackedSystem
from infimum.problems import all_problems, constrained
from infimum.trace.constraint_reading import read_constraints
from infimum.trace.trace import trace
from tests import children

ARRIVED = """
import pickle, sys
for packed in pickle.load(sys.stdin.buffer):
    found = packed.unpacked()
    print(found.key if hasattr(found, "key") else found[0].key)
"""


def table(x):
    """Constants of two ends, positions, pieces: all that a node may hold."""
    return np.interp(x[0], [0, 1, 3], [1, 0, 2]) + infimum.pi * x[1] + 0.1 * x[0] + np.sum(x[[1, 0, 1]] ** 3) + np.cumsum(x)[-1]


def test_what_arrives_is_what_was_sent():
    traced = [trace(p.fun, p.n, ()) for p in all_problems() if p.n <= 10] + [trace(table, 2, ())]
    systems = [read_constraints(p.constraints, len(p.bounds)).system(trace(p.fun, len(p.bounds), ()))
               for p in constrained.all_problems()[:20]]
    packed = [PackedExprs.of([f]) for f in traced] + [PackedSystem.of(system) for system in systems]
    sent = pickle.dumps(packed)
    assert all(a is b for one, f in zip(packed, traced, strict=False) for a, b in zip(one.unpacked(), [f], strict=True))
    arrived = children.run(sys.executable, "-c", ARRIVED, input=sent, text=False, check=True)
    assert arrived.stdout.decode().split() == [one.key for one in (*traced, *systems)]
    assert len(packed) > 60


def test_constants_stay_what_they_are():
    """One that is known exactly is told from one between two equal ends, by identity."""
    f = trace(table, 2, ())
    kinds = {(node.lo is node.hi) for node in topological(pickle.loads(pickle.dumps(PackedExprs.of([f]))).unpacked())
             if node.op == "const"}
    assert kinds == {True, False}
