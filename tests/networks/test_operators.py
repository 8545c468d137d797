"""Every operator of ONNX against the reference evaluator of onnx, in doubles and traced."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from infimum.networks import network
from infimum.networks.operators import OPERATORS, OWN
from tests.networks.models import by_reference, elements, model_of, saved

RNG = np.random.default_rng(7)
W, B, M = RNG.normal(size=(3, 4)), RNG.normal(size=3), RNG.normal(size=(4, 5))
KERNEL, LINE = RNG.normal(size=(4, 2, 3, 3)), RNG.normal(size=(4, 1, 3))
FOUR = RNG.uniform(0.5, 2.0, size=4)


def ints(*values):
    return np.array(values, dtype=np.int64)


ELEMENTWISE = [("Relu", {}), ("Tanh", {}), ("Sigmoid", {}), ("Softplus", {}), ("LeakyRelu", {"alpha": 0.125}), ("LeakyRelu", {}),
               ("Elu", {"alpha": 0.5}), ("Selu", {}), ("Celu", {"alpha": 0.5}), ("HardSigmoid", {}), ("HardSwish", {}),
               ("Softsign", {}), ("Mish", {}), ("Erf", {}), ("Neg", {}), ("Abs", {}), ("Exp", {}), ("Sin", {}), ("Cos", {}),
               ("Tan", {}), ("Sinh", {}), ("Cosh", {}), ("Atan", {}), ("Asinh", {}), ("Identity", {}), ("Dropout", {}),
               ("Softmax", {}), ("Softmax", {"axis": 0}), ("LogSoftmax", {}), ("Cast", {"to": 11}), ("Flatten", {}),
               ("Flatten", {"axis": -1}), ("Transpose", {}), ("Transpose", {"perm": [1, 0]})]
# name: nodes, shape of the input, constants, operator set
CASES = {
    **{f"{op} {more}": ([(op, ["x"], ["y"], more)], (1, 4), {}, 20) for op, more in ELEMENTWISE},
    "gelu": ([("Gelu", ["x"], ["y"])], (1, 4), {}, 20),
    "gelu tanh": ([("Gelu", ["x"], ["y"], {"approximate": "tanh"})], (1, 4), {}, 20),
    "swish": ([("Swish", ["x"], ["y"], {"alpha": 0.5})], (1, 4), {}, 24),
    "log sqrt asin acos": ([("Mul", ["x", "x"], ["q"]), ("Add", ["q", "one"], ["p"]), ("Log", ["p"], ["l"]),
                            ("Sqrt", ["p"], ["s"]), ("Reciprocal", ["p"], ["r"]), ("Asin", ["r"], ["a"]), ("Acos", ["r"], ["c"]),
                            ("Sum", ["l", "s", "a", "c"], ["y"])], (1, 4), {"one": np.array(1.0)}, 18),
    "gemm": ([("Gemm", ["x", "w", "b"], ["y"], {"transB": 1, "alpha": 0.5, "beta": 0.3})], (1, 4), {"w": W, "b": B}, 13),
    "gemm without bias": ([("Gemm", ["x", "m"], ["y"])], (1, 4), {"m": M}, 13),
    "gemm transposed": ([("Gemm", ["x", "m"], ["y"], {"transA": 1})], (4, 1), {"m": M}, 13),
    "matmul add": ([("MatMul", ["x", "m"], ["h"]), ("Add", ["h", "b"], ["y"])], (1, 4), {"m": M, "b": M[0]}, 13),
    "matmul from the left": ([("MatMul", ["w", "x"], ["y"])], (4, 2), {"w": W}, 13),
    "matmul of vectors": ([("MatMul", ["x", "m"], ["y"])], (4,), {"m": M}, 13),
    "scaling": ([("Sub", ["x", "a"], ["s"]), ("Div", ["s", "b"], ["d"]), ("Mul", ["d", "b"], ["y"])], (1, 4),
                {"a": FOUR, "b": FOUR + 0.1}, 13),
    "residual": ([("MatMul", ["x", "q"], ["h"]), ("Tanh", ["h"], ["t"]), ("Add", ["x", "t"], ["a"]), ("Mul", ["a", "t"], ["m"]),
                  ("Sub", ["m", "x"], ["y"])], (1, 4), {"q": M[:, :4]}, 13),
    "pow": ([("Pow", ["x", "three"], ["y"])], (1, 4), {"three": np.array(3.0)}, 13),
    "pow each": ([("Pow", ["x", "p"], ["y"])], (1, 4), {"p": np.array([1.0, 2.0, 3.0, 2.0])}, 13),
    "min max mean": ([("Min", ["x", "a"], ["l"]), ("Max", ["x", "a", "z"], ["m"]), ("Mean", ["l", "m", "x"], ["y"])], (1, 4),
                     {"a": FOUR - 1, "z": np.zeros(1)}, 13),
    "clip": ([("Clip", ["x", "l", "h"], ["y"])], (1, 4), {"l": np.array(-0.5), "h": np.array(0.75)}, 13),
    "clip at infinity": ([("Clip", ["x", "l", "h"], ["y"])], (1, 4), {"l": np.array(-np.inf), "h": np.array(0.75)}, 13),
    "clip below": ([("Clip", ["x", "", "h"], ["y"])], (1, 4), {"h": np.array(0.75)}, 13),
    "prelu": ([("PRelu", ["x", "s"], ["y"])], (1, 4), {"s": np.array([0.1, 0.2, 0.3, 2.0])}, 16),
    "conv": ([("Conv", ["x", "k", "b"], ["y"], {"pads": [1, 0, 0, 2], "strides": [2, 1]})], (1, 2, 5, 4),
             {"k": KERNEL, "b": FOUR}, 13),
    "conv dilated": ([("Conv", ["x", "k"], ["y"], {"dilations": [2, 1]})], (1, 2, 5, 4), {"k": KERNEL}, 13),
    "conv same": ([("Conv", ["x", "k"], ["y"], {"auto_pad": "SAME_UPPER", "strides": [2, 2]})], (1, 2, 5, 4), {"k": KERNEL}, 13),
    "conv same lower": ([("Conv", ["x", "k"], ["y"], {"auto_pad": "SAME_LOWER"})], (1, 2, 4, 4), {"k": KERNEL[..., :2, :2]}, 13),
    "conv in groups": ([("Conv", ["x", "k", "b"], ["y"], {"group": 2})], (1, 4, 4, 4), {"k": KERNEL, "b": FOUR}, 13),
    "conv 1-D": ([("Conv", ["x", "k", "b"], ["y"], {"group": 2, "pads": [1, 1]})], (1, 2, 6), {"k": LINE, "b": FOUR}, 13),
    "max pool": ([("MaxPool", ["x"], ["y"], {"kernel_shape": [3, 2], "strides": [2, 1], "pads": [1, 0, 1, 0]})],
                 (1, 2, 5, 4), {}, 13),
    "max pool ceil": ([("MaxPool", ["x"], ["y"], {"kernel_shape": [2], "strides": [2], "ceil_mode": 1})], (1, 2, 5), {}, 13),
    "average pool": ([("AveragePool", ["x"], ["y"], {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]})], (1, 2, 4, 4), {}, 13),
    "average pool with padding": ([("AveragePool", ["x"], ["y"], {"kernel_shape": [3], "pads": [1, 1], "strides": [2],
                                                                 "count_include_pad": 1})], (1, 2, 6), {}, 13),
    "global pools": ([("GlobalAveragePool", ["x"], ["a"]), ("GlobalMaxPool", ["x"], ["m"]), ("Add", ["a", "m"], ["y"])],
                     (1, 2, 3, 4), {}, 13),
    "batch normalisation": ([("BatchNormalization", ["x", "s", "b", "m", "v"], ["y"], {"epsilon": 0.01})], (1, 4, 2),
                            {"s": FOUR, "b": -FOUR, "m": FOUR / 3, "v": FOUR**2}, 15),
    "reshape": ([("Reshape", ["x", "s"], ["y"])], (1, 2, 6), {"s": ints(0, -1, 3)}, 14),
    "reshape by shape": ([("Shape", ["x"], ["s"]), ("Gather", ["s", "zero"], ["n"]), ("Unsqueeze", ["n", "ax"], ["u"]),
                          ("Concat", ["u", "m1"], ["c"], {"axis": 0}), ("Reshape", ["x", "c"], ["y"])], (1, 2, 6),
                         {"zero": np.array(0, dtype=np.int64), "ax": ints(0), "m1": ints(-1)}, 14),
    "shape arithmetic": ([("Shape", ["x"], ["s"]), ("Gather", ["s", "two"], ["n"]), ("Mod", ["n", "four"], ["m"]),
                          ("Unsqueeze", ["m", "ax"], ["u"]), ("Concat", ["u", "m1"], ["c"], {"axis": 0}),
                          ("Reshape", ["x", "c"], ["y"])], (1, 2, 6),
                         {"two": np.array(2), "four": np.array(4), "ax": ints(0), "m1": ints(-1)}, 14),
    "squeeze unsqueeze": ([("Squeeze", ["x", "a"], ["s"]), ("Unsqueeze", ["s", "b"], ["y"])], (1, 1, 4),
                          {"a": ints(1), "b": ints(0, -1)}, 13),
    "squeeze of old": ([("Squeeze", ["x"], ["s"]), ("Unsqueeze", ["s"], ["y"], {"axes": [0]})], (1, 1, 4), {}, 11),
    "slice": ([("Slice", ["x", "a", "z", "ax", "st"], ["y"])], (1, 6, 3),
              {"a": ints(-1, 0), "z": ints(-100, 2), "ax": ints(1, 2), "st": ints(-2, 1)}, 13),
    "slice of old": ([("Slice", ["x"], ["y"], {"starts": [1], "ends": [100], "axes": [1]})], (1, 6), {}, 9),
    "gather": ([("Gather", ["x", "i"], ["y"], {"axis": 1})], (1, 6), {"i": ints(5, 0, -2)}, 13),
    "concat": ([("Concat", ["x", "c", "x"], ["y"], {"axis": 1})], (1, 4), {"c": FOUR[None]}, 13),
    "split": ([("Split", ["x", "s"], ["p", "q"], {"axis": 1}), ("Mul", ["p", "p"], ["r"]),
               ("Concat", ["r", "q"], ["y"], {"axis": 1})], (1, 6), {"s": ints(2, 4)}, 13),
    "pad": ([("Pad", ["x", "p", "v"], ["y"])], (1, 3), {"p": ints(0, 1, 0, 2), "v": np.array(1.5)}, 13),
    "expand": ([("Expand", ["x", "s"], ["y"])], (1, 3), {"s": ints(2, 1, 3)}, 13),
    "constants": ([("ConstantOfShape", ["s"], ["f"]), ("Cast", ["f"], ["c"], {"to": 11}), ("Add", ["x", "c"], ["y"])], (1, 3),
                  {"s": ints(1, 3)}, 13),
    **{op: ([(op, ["x", "a"], ["y"], {"keepdims": 0})], (1, 3, 2), {"a": ints(1)}, 18) for op in (
        "ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceSumSquare", "ReduceL1", "ReduceL2")},
    "reduce of old": ([("ReduceMean", ["x"], ["y"], {"axes": [-1]})], (1, 3, 2), {}, 13),
}


@pytest.mark.parametrize("name", CASES)
def test_agrees_with_the_reference(name, tmp_path):
    nodes, shape, constants, opset = CASES[name]
    model = model_of(nodes, shape, constants, opset)
    net = network(saved(model, tmp_path))
    for seed in range(3):
        x = np.random.default_rng(seed).uniform(-1.5, 1.5, size=shape)
        expected = by_reference(model, x)
        found = np.asarray(net(x.ravel()))
        assert found.size == expected.size and np.allclose(found.ravel(), expected.ravel(), rtol=1e-6, atol=1e-7)
        assert net.outputs == 1 or found.shape == (expected.shape[1:] if expected.shape[0] == 1 and expected.ndim > 1 else
                                                   expected.shape)
    lo, hi = elements(net, x)
    here = found.ravel()[:len(lo)]
    assert (lo <= hi).all() and (hi - lo <= 1e-12 * (1 + np.abs(here))).all() and np.allclose(lo, here, rtol=1e-12, atol=1e-12)


def test_softmax_of_old_takes_all_later_axes_together(tmp_path):
    """The reference evaluator has the new one only."""
    net = network(saved(model_of([("Softmax", ["x"], ["y"])], (1, 2, 2), opset=11), tmp_path))
    x = np.array([0.5, -1.0, 2.0, 0.0])
    assert np.allclose(net(x).ravel(), np.exp(x) / np.exp(x).sum())


def test_constants_are_not_rounded(tmp_path):
    """1e16 + 1 and the square root in a normalisation are no doubles; folded in doubles, the outputs would be others."""
    nodes = [("Add", ["big", "one"], ["sum"]), ("Sub", ["sum", "big"], ["d"]), ("Mul", ["x", "d"], ["y"])]
    net = network(saved(model_of(nodes, (1, 1), {"big": np.array([1e16]), "one": np.array([1.0])}), tmp_path))
    lo, hi = elements(net, np.array([3.0]))
    assert net([3.0]) == 0.0 and lo[0] <= 3.0 <= hi[0]
    third = {"s": np.array([1.0]), "b": np.array([0.0]), "m": np.array([0.1]), "v": np.array([3.0])}
    model = model_of([("BatchNormalization", ["x", "s", "b", "m", "v"], ["y"], {"epsilon": 0.0})], (1, 1), third)
    lo, hi = elements(network(saved(model, tmp_path)), np.array([1e6]))
    flint = pytest.importorskip("flint")
    with flint.ctx.workprec(200):
        exact = (flint.arb(1e6) - flint.arb(0.1)) / flint.arb(3).sqrt()
        assert flint.arb(lo[0]) <= exact <= flint.arb(hi[0]) and hi[0] - lo[0] < 1e-9


def test_every_operator_is_tested():
    used = {node[0] for nodes, *_ in CASES.values() for node in nodes} | {"Constant"}
    assert set(OPERATORS) - set(OWN) == used


def test_a_constant_node(tmp_path):
    onnx = pytest.importorskip("onnx")
    value = onnx.numpy_helper.from_array(np.array([[1.0, 2.0]]))
    model = model_of([("Constant", [], ["c"], {"value": value}), ("Constant", [], ["d"], {"value_float": 0.5}),
                      ("Mul", ["x", "c"], ["h"]), ("Mul", ["h", "d"], ["y"])], ["n", 2])
    assert network(saved(model, tmp_path))([3.0, 4.0]).tolist() == [1.5, 4.0]


@given(st.integers(0, 2**31), st.sampled_from(["Tanh", "Relu", "Sigmoid", "Softplus", "Elu", "LeakyRelu"]), st.integers(1, 3))
@settings(max_examples=20, deadline=None)
def test_random_networks(tmp_path_factory, seed, activation, layers):
    rng = np.random.default_rng(seed)
    sizes, nodes, constants, last = rng.integers(1, 5, size=layers + 1), [], {}, "x"
    for i in range(layers):
        constants |= {f"w{i}": rng.normal(size=(sizes[i], sizes[i + 1])), f"b{i}": rng.normal(size=sizes[i + 1])}
        nodes += [("MatMul", [last, f"w{i}"], [f"m{i}"]), ("Add", [f"m{i}", f"b{i}"], [f"a{i}"]),
                  (activation, [f"a{i}"], [f"h{i}"])]
        last = f"h{i}"
    model = model_of(nodes, ["batch", int(sizes[0])], constants, outputs=(last,))
    net = network(saved(model, tmp_path_factory.mktemp("random")))
    x = rng.normal(size=(1, sizes[0]))
    expected = by_reference(model, x)[0]
    assert np.allclose(np.ravel(net(x)), expected, rtol=1e-6, atol=1e-6)
    lo, hi = elements(net, x)
    here = np.ravel(net(x))[:len(lo)]
    assert (lo - 1e-12 * (1 + np.abs(here)) <= here).all() and (here <= hi + 1e-12 * (1 + np.abs(here))).all()
