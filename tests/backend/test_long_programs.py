"""Very long straight-line programs: compiled in the plain way, with the same bits."""

import numpy as np

import infimum
from infimum.backend import host


def chain(x):
    total = x[0]
    for k in range(400):
        total = total * 0.75 + np.abs(x[k % 3] - 0.25) / 3
    return total


def test_long_programs_are_compiled_in_reasonable_time_and_give_the_same_bits(monkeypatch):
    rng = np.random.default_rng(0)
    lo = rng.uniform(-2, 2, (3, 100))
    usual = infimum.compile(chain, 3).gradient(lo, lo + 0.1)
    monkeypatch.setattr(host, "PLAIN", 100)
    infimum.evaluate._lowered.clear()
    infimum.backend.cpu._compiled.clear()
    plain = infimum.compile(chain, 3).gradient(lo, lo + 0.1)
    for a, b in ((usual.value.lo, plain.value.lo), (usual.value.hi, plain.value.hi), (usual.lo, plain.lo), (usual.hi, plain.hi)):
        assert (a.view(np.int64) == b.view(np.int64)).all()
