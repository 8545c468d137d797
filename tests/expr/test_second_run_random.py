"""Random programs of assignments, views and in-place changes: the second run computes what NumPy computes, or refuses."""

import linecache

import numpy as np
import pytest
from evaluate_with_numpy import evaluate

from infimum.errors import TraceError
from infimum.trace.trace import trace

VIEWS = ("{a}[1:]", "{a}[::-1]", "{a}.reshape(-1)", "np.ravel({a})", "np.transpose({a})", "{a}.T", "np.atleast_1d({a})",
         "np.flip({a})", "{a}[None][0]", "np.reshape({a}, {a}.shape)", "np.asarray({a})", "np.squeeze({a})",
         "np.expand_dims({a}, 0)[0]", "{a}", "np.asarray({a}, dtype=float)", "np.split({a}, [1])[1]",
         "np.broadcast_arrays({a})[0]", "np.real({a})", "{a}.real", "np.rot90({a}.reshape(1, -1), 2)[0]",
         "np.ascontiguousarray({a})", "np.atleast_2d({a})[0]", "np.moveaxis({a}[None], 0, 1)[:, 0]",
         "np.swapaxes({a}[None], 0, 1)[:, 0]", "{a}.swapaxes(0, 0)", "np.diagonal(np.array([{a}, {a}]))")
COPIES = ("{a}.copy()", "np.array({a})", "{a} * 2", "{a} + {b}[0]", "np.sin({a})", "{a}[[0, 1]]", "np.zeros_like({a})",
          "np.ones(3)", "np.where({a} > 0.2, {a}, 0.5)", "np.concatenate([{a}, {b}])", "np.array([{a}[0], 1.0, {b}[-1]])",
          "np.cumsum({a})", "np.maximum({a}, 0.1)", "np.clip({a}, -0.5, 0.5)", "np.empty(3)", "np.full(3, {a}[0])",
          "np.diag({a})[0]", "-{a}", "np.roll({a}, 1)", "np.round({a}, 1)", "{a}.clip(0, 1)", "np.tile({a}, 2)[:4]",
          "np.abs({a})", "np.stack([{a}[0], {b}[0]])", "{b}[0] * {a}", "np.positive({a})", "np.interp({a}, [0, 1], [1, 2])",
          "np.convolve({a}, {b})", "np.append({a}, {b})", "np.delete({a}, 0)", "np.repeat({a}, 2)", "np.resize({a}, 3)",
          "np.copy({a})", "np.hstack([{a}, {b}])", "np.array([{a}, {a}])[1]", "np.array({a}.tolist())", "np.array(list({a}))",
          "{a}.astype(float)", "np.minimum.accumulate({a})", "np.where(True, {a}, {b}[0])", "np.select([{a} > 0], [{a}], 0.5)",
          "np.linalg.solve(2 * np.eye({a}.size), {a})", "np.outer({a}, {b})[0]", "np.array([[0.0, {a}[0]], [1, 2]]) @ {b}[:2]",
          "({a} > 0) * {a}")
CHANGES = ("{a}[0] = {b}[-1]", "{a}[-1] = 2", "{a}[:2] = 0.25", "{a} += 1", "{a} *= 0.5", "{a}[0] += {b}[0]",
           "{a}[{a} > 0.3] = 0.1", "{a}[:2] = {b}[:2]", "{a}[[0, 1]] = 3.0", "np.add.at({a}, [0, 0], 0.5)",
           "{a}[...] = {a}[::-1] * 1.0", "{a}.fill(0.75)", "np.copyto({a}, 0.5)", "{a}[0] = max({b}[0], 0.2)", "{a} -= {a}[0]",
           "np.multiply({a}, 2.0, out={a})", "{a}[1:] *= {b}[0]", "{a}[-1] = np.sum({b})", "np.put({a}, [1], {b}[0])",
           "{a}.flat[0] = {b}[0]", "{a}[0], {a}[1] = {a}[1], {a}[0]", "{a}.put([0], 1.5)", "np.negative({a}, {a})",
           "{a} **= 2", "{a}[0:1] -= {b}[:1]", "{a}.T[0] = 0.3", "{a}.real[0] = 1.25", "{a}[:] = [{b}[0]] * {a}.size",
           "{a}[1:] = {a}[:-1]", "{a}[0] = {b}[0] > 0")


def program(rng):
    """The text of a function of three variables; every array has at least two elements, for the most part."""
    names, rows = ["x"], ["def fun(x):", "    a0 = np.zeros(3)", "    a0[0] = x[1]"]
    names.append("a0")
    for i in range(1, 8):
        kind = rng.choice(3)
        a, b = rng.choice(names, 2)
        if kind < 2:
            text = str(rng.choice(VIEWS if kind == 0 else COPIES)).format(a=a, b=b)
            rows += [f"    a{i} = {text}", *([f"    a{i}[...] = 0.125"] if text.startswith("np.empty") else [])]
            names.append(f"a{i}")
        rows.append("    " + str(rng.choice(CHANGES)).format(a=rng.choice(names), b=rng.choice(names)))
    total = " + ".join(f"{k + 1}.5 * np.sum({name} * np.arange(1, {name}.size + 1))" for k, name in enumerate(names))
    return "\n".join([*rows, f"    return {total}"])


def compiled(text, name):
    linecache.cache[name] = len(text), None, text.splitlines(True), name
    space = {"np": np}
    exec(compile(text, name, "exec"), space)
    return space["fun"]


@pytest.mark.parametrize("block", range(4))
def test_random_programs(block):
    rng = np.random.default_rng(block)
    traced = 0
    for i in range(60):
        text = program(rng)
        fun = compiled(text, f"<program {block} {i}>")
        points = rng.uniform(-1, 1, (3, 3))
        try:
            with np.errstate(all="ignore"):
                expected = [float(fun(p.copy())) for p in points]
        except (ValueError, IndexError, TypeError):  # NumPy itself cannot
            continue
        try:
            expr = trace(fun, 3)
        except TraceError:
            continue
        traced += 1
        for p, value in zip(points, expected, strict=True):
            np.testing.assert_allclose(float(evaluate(expr, p)), value, rtol=1e-10, atol=1e-11, err_msg=text)
    assert traced >= 20
