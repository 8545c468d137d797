"""What a node means: places where a network was read as another function, each with its relatives."""

import numpy as np
import pytest

import infimum
from infimum.errors import NetworkError
from infimum.networks import Outcome, largest, network, smallest
from tests.networks.models import elements, model_of, saved

pytest.importorskip("onnx")


def ints(*values, kind=np.int64):
    return np.array(values, dtype=kind)


def read(tmp_path, nodes, shape, constants=None, opset=18, **more):
    return network(saved(model_of(nodes, shape, constants, opset, **more), tmp_path))


# ---- windows
@pytest.mark.parametrize("pads, dilations, strides, windows", [
    ([0, 2], [1], [1], 3), ([0, 3], [1], [1], 4), ([2, 2], [1], [1], 5), ([0, 3], [2], [1], 3), ([0, 4], [1], [3], 2),
])
def test_a_convolution_has_all_its_windows(tmp_path, pads, dilations, strides, windows):
    """The last one sees padding alone: 8 - 0, and the others 8 less what they see."""
    attributes = {"pads": pads, "dilations": dilations, "strides": strides}
    nodes = [("Conv", ["x", "w", "b"], ["c"], attributes), ("ReduceMax", ["c", "axes"], ["y"])]
    constants = {"w": -np.ones((1, 1, 2)), "b": np.array([8.0]), "axes": ints(1, 2)}
    net = read(tmp_path, nodes, (1, 1, 2), constants)
    assert net([0.5, 1.0]) == 8.0
    assert infimum.verify(net, [(0.5, 1.0)] * 2, largest(limit=7.5)).verdict is Outcome.VIOLATED
    assert read(tmp_path, nodes[:1], (1, 1, 2), constants, outputs=("c",)).outputs == windows


def test_groups_keep_their_last_windows(tmp_path):
    net = read(tmp_path, [("Conv", ["x", "w", "b"], ["y"], {"pads": [0, 2], "group": 2})], (1, 2, 1),
               {"w": np.ones((2, 1, 2)), "b": np.array([1.0, 2.0])})
    assert net([3.0, 4.0]).tolist() == [[4.0, 1.0], [6.0, 2.0]]


@pytest.mark.parametrize("op", ["MaxPool", "AveragePool"])
def test_windows_of_pools(tmp_path, op):
    """Those that begin after the input are left out where ceil_mode adds them, and not clear elsewhere."""
    def pooled(**attributes):
        return read(tmp_path, [(op, ["x"], ["y"], attributes)], (1, 1, 3))([1.0, 2.0, 4.0]).ravel().tolist()

    both = {"MaxPool": [1.0, 4.0], "AveragePool": [1.0, 3.0]}[op]
    assert pooled(kernel_shape=[2], strides=[2], pads=[1, 0]) == both
    assert pooled(kernel_shape=[2], strides=[3], pads=[1, 1], ceil_mode=1) == [both[0], 4.0]
    assert pooled(kernel_shape=[1], strides=[3], pads=[0, 1], ceil_mode=1) == [1.0]
    for attributes, said in ((dict(kernel_shape=[2], pads=[0, 2]), "begins in the padding after the last element"),
                             (dict(kernel_shape=[2], auto_pad="VALID", ceil_mode=1), "cannot be combined"),
                             (dict(kernel_shape=[2], auto_pad="SAME_UPPER", pads=[1, 1]), "cannot be combined")):
        with pytest.raises(NetworkError, match=said):
            pooled(**attributes)


def test_padding_counts_where_it_is_declared(tmp_path):
    attributes = {"kernel_shape": [3], "strides": [2], "pads": [1, 1], "ceil_mode": 1}
    for include, expected in ((0, [1.5, 3.0, 4.0]), (1, [1.0, 3.0, 2.0])):  # the last window reaches beyond the padding
        node = ("AveragePool", ["x"], ["y"], attributes | {"count_include_pad": include})
        assert read(tmp_path, [node], (1, 1, 4))([1.0, 2.0, 3.0, 4.0]).ravel().tolist() == expected


# ---- integers
def test_shapes_are_divided_as_integers(tmp_path):
    """5 // 2 is 2: the network is x / 2, and not x / 2.5."""
    nodes = [("Shape", ["x"], ["s"]), ("Gather", ["s", "one"], ["n"]), ("Div", ["n", "two"], ["h"]),
             ("Cast", ["h"], ["f"], {"to": 11}), ("ReduceSum", ["x", "one"], ["t"]), ("Div", ["t", "f"], ["y"])]
    net = read(tmp_path, nodes, (1, 5), {"one": ints(1), "two": ints(2)})
    assert net([1, 0, 0, 0, 0]) == 0.5
    assert infimum.verify(net, [(1, 1)] + [(0, 0)] * 4, smallest(limit=0.5)).holds


@pytest.mark.parametrize("op, a, b, attributes, expected", [
    ("Div", [7, -7, 7, -7, 6], [2, 2, -2, -2, -3], {}, [3, -3, -3, 3, -2]),
    ("Mod", [7, -7, 7, -7], [3, 3, -3, -3], {}, [1, 2, -2, -1]),
    ("Mod", [7, -7, 7, -7], [3, 3, -3, -3], {"fmod": 1}, [1, -1, 1, -1]),
    ("Pow", [2, -2, 3, 0], [3, 3, 0, 0], {}, [8, -8, 1, 1]), ("Pow", [2**31], [2], {}, [2**62]),
    ("Mul", [2**30, -3], [2, 5], {}, [2**31, -15]), ("Sub", [1, 2], [5, -5], {}, [-4, 7]),
    ("Min", [1, 9], [5, 5], {}, [1, 5]), ("Max", [1, 9], [5, 5], {}, [5, 9]),
])
def test_integer_arithmetic(tmp_path, op, a, b, attributes, expected):
    nodes = [(op, ["a", "b"], ["c"], attributes), ("Cast", ["c"], ["f"], {"to": 11}), ("Add", ["x", "f"], ["y"])]
    net = read(tmp_path, nodes, (1, len(a)), {"a": ints(*a), "b": ints(*b)})
    assert np.ravel(net(np.zeros(len(a)))).tolist() == expected
    lo, hi = elements(net, np.zeros(len(a)))
    assert lo.tolist() == hi.tolist() == expected[:3]


@pytest.mark.parametrize("op, a, b, said", [
    ("Div", ints(1), ints(0), "divides an integer by 0"), ("Mod", ints(1), ints(0), "divides an integer by 0"),
    ("Div", ints(-2**63), ints(-1), "may overflow the type int64"), ("Mul", ints(2**62), ints(2), "may overflow"),
    ("Add", ints(2**31 - 1, kind=np.int32), ints(1, kind=np.int32), "may overflow the type int32"),
    ("Pow", ints(10), ints(30), "may overflow"), ("Pow", ints(2), ints(-1), "negative power"),
    ("Pow", ints(2), np.array([0.5]), "no integer"), ("Neg", ints(-2**63), None, "may overflow"),
    ("ReduceSum", ints(2**62, 2**62), None, "may overflow"), ("ReduceMean", ints(1, 2), None, "ReduceMean is known for float"),
    ("Sqrt", ints(4), None, "Sqrt is known for float"), ("Relu", ints(4), None, "Relu is known for float"),
    ("Add", ints(1), np.array([1.0]), "input 1 of Add is of type float, and one before it of type int64"),
    ("Concat", ints(1), ints(1, kind=np.int32), "of type int32, and one before it of type int64"),
    ("Mod", np.array([3.5]), np.array([2.0]), "Mod is known for int32 or int64"),
    ("MatMul", ints(1, 2), ints(1, 2), "MatMul is known for float"), ("Not", np.array([True]), None, "operator Not .* not known"),
    ("Neg", np.array([True]), None, "of type bool, and Neg is known for float, int32 or int64"),
])
def test_other_arithmetic_of_integers_is_refused(tmp_path, op, a, b, said):
    nodes = [(op, ["a", "b"] if b is not None else ["a"], ["c"], {"axis": 0} if op == "Concat" else {}),
             ("Cast", ["c"], ["f"], {"to": 11}), ("Add", ["x", "f"], ["y"])]
    with pytest.raises(NetworkError, match=said):
        read(tmp_path, nodes, (1, 1), {"a": a} | ({} if b is None else {"b": b}))


def test_casts(tmp_path):
    """To a narrower type integers lose bits, as ONNX says; what floats would lose is not known."""
    def cast(value, *types):
        nodes = [("Cast", [f"c{i}"], [f"c{i + 1}"], {"to": to}) for i, to in enumerate(types)]
        return float(read(tmp_path, [*nodes, ("Add", ["x", f"c{len(types)}"], ["y"])], (1, 1), {"c0": value})([0.0]))

    assert cast(ints(2**32 + 5), 6, 11) == 5.0 and cast(ints(2**31), 6, 7, 11) == -2.0**31 and cast(ints(-3), 9, 11) == 1.0
    assert cast(np.array([True]), 7, 1) == 1.0 and cast(np.array([0.1]), 1, 11) == 0.1
    for value, to, said in ((np.array([2.5]), 7, "rounds floats"), (np.array([2.5]), 9, "rounds floats"),
                            (ints(2**53 + 1), 11, "is no double"), (ints(3), 2, "number 2"), (ints(3), 17, "number 17")):
        with pytest.raises(NetworkError, match=said):
            cast(value, to, 11)


# ---- rearrangement
@pytest.mark.parametrize("start, end, step, expected", [
    (-100, -2**63, -1, [1]), (-5, -100, -1, [1]), (3, -2**63, -2, [4, 2]), (2**63 - 1, -2**63, -1, [4, 3, 2, 1]),
    (3, 0, -1, [4, 3, 2]), (-1, -5, -1, [4, 3, 2, 1]), (-1, -4, -1, [4, 3, 2]), (-100, 2**63 - 1, 3, [1, 4]),
    (0, -1, 1, [1, 2, 3]), (-2, 2**63 - 1, 1, [3, 4]),
])
def test_slices_are_those_of_onnx(tmp_path, start, end, step, expected):
    """Python's slice(-100, None, -1) of four elements is empty; ONNX moves the start to the first one."""
    constants = {"a": ints(start), "z": ints(end), "axes": ints(1), "steps": ints(step)}
    net = read(tmp_path, [("Slice", ["x", "a", "z", "axes", "steps"], ["y"])], (1, 4), constants)
    assert np.ravel(net([1.0, 2.0, 3.0, 4.0])).tolist() == expected


def test_an_output_without_a_name_is_no_input(tmp_path):
    """"" stands for inputs that are left out, whatever a node before has put there."""
    nodes = [("Split", ["x", "s"], ["p", "", "q"], {"axis": 1}), ("Clip", ["q", "", "h"], ["y"])]
    net = read(tmp_path, nodes, (1, 3), {"s": ints(1, 1, 1), "h": np.array(5.0)})
    assert net([0.0, 3.0, 1.0]) == 1.0


def test_numbers_among_constants_are_not_rounded(tmp_path):
    """An element that Gather picks is as exact as an array."""
    nodes = [("Gather", ["c", "i"], ["a"]), ("Gather", ["c", "j"], ["b"]), ("Add", ["a", "b"], ["s"]), ("Sub", ["s", "a"], ["d"]),
             ("Mul", ["x", "d"], ["y"])]
    net = read(tmp_path, nodes, (1, 1), {"c": np.array([1e16, 1.0]), "i": np.array(0), "j": np.array(1)})
    lo, hi = elements(net, np.array([3.0]))
    assert lo[0] <= 3.0 <= hi[0]


def test_shapes_broadcast(tmp_path):
    assert read(tmp_path, [("Pow", ["x", "p"], ["y"])], (3,), {"p": np.full((1, 2, 1), 2.0)[:, :1]}).output_shape == (1, 3)
    net = read(tmp_path, [("Clip", ["x", "l", "h"], ["y"])], (1, 2), {"l": np.array(3.0), "h": np.array(-1.0)})
    assert net([0.0, 9.0]).tolist() == [-1.0, -1.0]  # where the lower limit is above the upper one
    net = read(tmp_path, [("Exp", ["l"], ["e"]), ("Clip", ["x", "e"], ["y"])], (1, 1), {"l": np.array(0.5)})
    assert elements(net, np.array([0.0]))[0][0] == pytest.approx(np.exp(0.5))  # a limit that is computed
    wide = read(tmp_path, [("Mul", ["x", "c"], ["m"]), ("Clip", ["m"], ["y"], {"min": 0.0})], (1, 1), {"c": np.array([1e300])}, 9)
    assert wide([1.0]) == np.finfo(np.float32).max  # the default of that operator set


# ---- where a network is not defined
def test_what_is_undefined_somewhere_does_not_hold(tmp_path):
    root = read(tmp_path, [("Sqrt", ["x"], ["y"])], (1, 1))
    assert infimum.verify(root, [(0.5, 1)], largest(limit=2.0)).holds
    for asked in (largest(limit=2.0), smallest(limit=-1.0), lambda y: y[0] < 2):
        found = infimum.verify(root, [(-1, 1)], asked)
        assert found.verdict is Outcome.UNKNOWN and "may be undefined" in repr(found)
    # 1 / (1 - x y) is defined, which is seen in parts of the box alone
    nodes = [("Mul", ["x", "x"], ["q"]), ("Sub", ["q", "x"], ["d"]), ("Add", ["d", "c"], ["p"]), ("Log", ["p"], ["y"])]
    assert infimum.verify(read(tmp_path, nodes, (1, 1), {"c": np.array([0.75])}), [(-1, 1)], smallest(limit=-1.0)).holds
