"""What is not read is refused by name: attributes, types, operator sets, names that are given twice, sizes without limit."""

import tracemalloc

import numpy as np
import pytest

import infimum
from infimum.errors import NetworkError
from infimum.networks import graph
from infimum.networks.node import LATEST, OLDEST
from infimum.networks.operators import OPERATORS, OWN
from infimum.networks.signature import attributes_of, inputs_of
from tests.networks.models import model_of, saved

onnx = pytest.importorskip("onnx")


def ints(*values):
    return np.array(values, dtype=np.int64)


def refused(tmp_path, said, nodes, shape=(1, 4), constants=None, opset=18, **more):
    with pytest.raises(NetworkError, match=said):
        infimum.network(saved(model_of(nodes, shape, constants, opset, **more), tmp_path))


# ---- the table against onnx's own
KINDS = {"INT": "int", "FLOAT": "float limit", "STRING": "text", "INTS": "ints", "FLOATS": "floats", "TENSOR": "tensor"}
NOT_READ = {("Constant", name) for name in ("sparse_value", "value_string", "value_strings")}
OPSETS = range(OLDEST, min(LATEST, onnx.defs.onnx_opset_version()) + 1)


@pytest.mark.parametrize("op", sorted(set(OPERATORS) - set(OWN)))
def test_rows_say_what_onnx_says(op):
    first = min(s.since_version for s in onnx.defs.get_all_schemas_with_history() if (s.name, s.domain) == (op, ""))
    row = OPERATORS[op]
    assert row.since == max(first, OLDEST)
    for opset in OPSETS:
        if opset < first:
            continue
        schema = onnx.defs.get_schema(op, opset)
        known = row.attributes_at(opset)
        assert set(known) == {name for name in schema.attributes if (op, name) not in NOT_READ}, opset
        for name, attribute in known.items():
            assert attribute.kind in KINDS[schema.attributes[name].type.name].split(), (opset, name)
            assert attribute.required == schema.attributes[name].required or op == "Constant", (opset, name)
        inputs = row.inputs_at(opset)
        assert len(inputs) == len(schema.inputs) and bool(inputs and inputs[-1].repeated) == (schema.max_input > 100), opset
        needed = sum(not part.optional for part in inputs)
        assert needed == (2 if op == "Gemm" else schema.min_input), opset  # the third of Gemm was not optional at first


def test_rows_are_well_written():
    for op, row in OPERATORS.items():
        assert all(part.type for part in inputs_of(row.takes)), op
        assert all(part.first <= part.last for part in attributes_of(row.reads).values()), op


# ---- attributes, inputs, outputs, operator sets
NORM = {"s": np.ones(4), "b": np.zeros(4), "m": np.zeros(4), "v": np.ones(4)}
NORM_INPUTS = ["x", "s", "b", "m", "v"]


@pytest.mark.parametrize("node, constants, opset, said", [
    (("BatchNormalization", NORM_INPUTS, ["y"], {"spatial": 0}), NORM, 8, "BatchNormalization of y: spatial = 0 .* not known"),
    (("BatchNormalization", NORM_INPUTS, ["y"], {"spatial": 1}), NORM, 9, "'spatial' = 1 of BatchNormalization is not known"),
    (("BatchNormalization", NORM_INPUTS, ["y"], {"training_mode": 1}), NORM, 15, "training mode"),
    (("BatchNormalization", NORM_INPUTS, ["y", "a", "b2", "c", "d"]), NORM, 9, "training mode"),
    (("BatchNormalization", NORM_INPUTS, ["y"]), {k: np.ones(1) for k in NORM}, 15, "must have the length of axis 1"),
    (("Relu", ["x"], ["y"], {"alpha": 1.0}), {}, 18, "'alpha' = 1.0 of Relu is not known in the operator set 18; known is none"),
    (("LeakyRelu", ["x"], ["y"], {"alpha": 1}), {}, 18, "'alpha' = 1 of LeakyRelu is not of the kind float"),
    (("LeakyRelu", ["x"], ["y"], {"alpha": float("nan")}), {}, 18, "not of the kind float"),
    (("Elu", ["x"], ["y"], {"alpha": float("inf")}), {}, 18, "not of the kind float"),
    (("Concat", ["x", "x"], ["y"]), {}, 18, "attribute 'axis' of Concat is missing"),
    (("Gelu", ["x"], ["y"], {"approximate": "fast"}), {}, 20, "approximate = 'fast' is not one of none, tanh"),
    (("Gelu", ["x"], ["y"]), {}, 19, "Gelu is an operator since the operator set 20"),
    (("Erf", ["x"], ["y"]), {}, 8, "Erf is an operator since the operator set 9, .* opset_version=9"),
    (("ReduceSum", ["x"], ["y"], {"axes": [1]}), {}, 13, "the attribute 'axes'"),
    (("Clip", ["x"], ["y"], {"min": 0.0}), {}, 11, "the attribute 'min'"),
    (("ReduceMean", ["x", "a"], ["y"]), {"a": ints(1)}, 17, "ReduceMean has 2 inputs in the operator set 17; it takes 1"),
    (("Slice", ["x", "a", "a"], ["y"]), {"a": ints(1)}, 9, "Slice has 3 inputs|'starts' of Slice is missing"),
    (("Add", ["x"], ["y"]), {}, 18, "Add has 1 input"), (("Add", ["x", ""], ["y"]), {}, 18, "input 1 of Add is left out"),
    (("Relu", ["x", "x"], ["y"]), {}, 18, "Relu has 2 inputs"), (("Max", [], ["y"]), {}, 18, "Max has 0 inputs"),
    (("Dropout", ["x", "r", "t"], ["y"]), {"r": np.array(0.5), "t": np.array(True)}, 13, "training_mode is set"),
    (("Dropout", ["x"], ["z", "y"]), {}, 13, "the network reads 'y', an output of node Dropout"),
    (("MaxPool", ["x"], ["z", "y"], {"kernel_shape": [1]}), {}, 13, "the network reads 'y', an output of node MaxPool"),
    (("Pad", ["x", "p"], ["y"], {"mode": "reflect"}), {"p": ints(0, 1, 0, 1)}, 18, "mode = 'reflect' is not one of constant"),
    (("Pad", ["x", "p"], ["y"]), {"p": ints(0, -1, 0, 0)}, 18, "not negative"),
    (("Split", ["x"], ["y", "z", "w"], {"axis": 1}), {}, 17, "4 elements of axis 1 cannot be split into 3"),
    (("Split", ["x"], ["y", "z"], {"axis": 1, "num_outputs": 3}), {}, 18, "num_outputs = 3 does not fit"),
    (("ReduceSum", ["x"], ["y"], {"noop_with_empty_axes": 1}), {}, 18, "noop_with_empty_axes"),
    (("Celu", ["x"], ["y"], {"alpha": 0.0}), {}, 18, "divides by 0"),
    (("Clip", ["x", "l"], ["y"]), {"l": np.array(np.inf)}, 18, "clips to inf"),
    (("Clip", ["x"], ["y"], {"max": float("-inf")}), {}, 9, "clips to -inf"),
    (("Reshape", ["x", "s"], ["y"]), {"s": ints(-2, 2)}, 18, "negative length"),
    (("Reshape", ["x", "s"], ["y"], {"allowzero": 1}), {"s": ints(0, -1)}, 18, "both 0 and -1"),
    (("PRelu", ["x", "s"], ["y"]), {"s": np.ones((2, 4))}, 18, r"slopes of the shape \(2, 4\)"),
    (("Gemm", ["x", "w", "c"], ["y"]), {"w": np.ones((4, 2)), "c": np.ones((3, 2))}, 18, "does not fit a product"),
    (("Gemm", ["x", "w"], ["y"]), {"w": np.ones((2, 4, 2))}, 18, "multiplies two matrices"),
    (("Sum", ["x", "c"], ["y"]), {"c": np.ones(4)}, 7, "inputs of one shape before the operator set 8"),
    (("com.microsoft.Gelu", ["x"], ["y"]), {}, 20, "is not known"),
])
def test_nodes(tmp_path, node, constants, opset, said):
    refused(tmp_path, said, [node], (1, 4) if node[0] != "MaxPool" else (1, 1, 4), constants, opset)


@pytest.mark.parametrize("op, axes, before", [
    ("Slice", (1, -1), {"a": ints(0, 0), "z": ints(1, 1)}), ("Squeeze", (0, -2), {}), ("Unsqueeze", (1, 1), {}),
    ("ReduceSum", (1, -1), {}), ("Pad", (1, 1), {"p": ints(1, 1, 1, 1), "v": np.array(0.0)}),
])
def test_axes_are_named_once(tmp_path, op, axes, before):
    constants = before | {"axes": ints(*axes)}
    refused(tmp_path, "name one axis twice", [(op, ["x", *constants], ["y"])], (1, 4), constants)
    if op in ("Squeeze", "Unsqueeze", "ReduceSum"):
        refused(tmp_path, "name one axis twice", [(op, ["x"], ["y"], {"axes": list(axes)})], (1, 4), {}, 11)


def test_orders_of_axes(tmp_path):
    for perm in ([0, 0], [0], [0, -1], [0, 2]):
        refused(tmp_path, "is no order of 2 axes", [("Transpose", ["x"], ["y"], {"perm": perm})])


# ---- names
@pytest.mark.parametrize("nodes, said", [
    ([("Relu", ["x"], ["h"]), ("Tanh", ["x"], ["h"]), ("Add", ["h", "x"], ["y"])], "node Tanh of h computes 'h', which is there"),
    ([("Relu", ["x"], ["x"]), ("Tanh", ["x"], ["y"])], "computes 'x', which is there already"),
    ([("Relu", ["x"], ["w"]), ("Tanh", ["w"], ["y"])], "computes 'w', which is there already"),
    ([("Constant", [], ["w"], {"value_float": 1.0}), ("Mul", ["x", "w"], ["y"])], "computes 'w'"),
    ([("Split", ["x"], ["h", "h"], {"axis": 1}), ("Tanh", ["h"], ["y"])], "computes 'h'"),
    ([("Tanh", ["h"], ["y"]), ("Relu", ["x"], ["h"])], "node Tanh of y reads 'h', which no node before it computes"),
    ([("Add", ["x", "g"], ["h"]), ("Add", ["x", "h"], ["g"]), ("Relu", ["g"], ["y"])], "reads 'g', which no node before it"),
    ([("Mul", ["x", "c"], ["y"]), ("Constant", [], ["c"], {"value_float": 1.0})], "reads 'c', which no node before it"),
    ([("Dropout", ["x"], ["h", "m"]), ("Cast", ["m"], ["f"], {"to": 1}), ("Mul", ["f", "h"], ["y"])], "reads 'm', an output of"),
])
def test_names_are_given_once_and_before_they_are_read(tmp_path, nodes, said):
    refused(tmp_path, said, nodes, (1, 4), {"w": np.ones(4)})


def changed(change):
    model = model_of([("MatMul", ["x", "w"], ["y"])], (1, 2), {"w": np.eye(2)})
    change(model)
    return model


def _twice(model):
    model.graph.initializer.append(model.graph.initializer[0])


def _attribute(**fields):
    def change(model):
        model.graph.node[0].op_type = "Softmax"
        del model.graph.node[0].input[1:]
        for _ in range(fields.pop("count", 1)):
            model.graph.node[0].attribute.append(onnx.helper.make_attribute("axis", 1))
        for name, value in fields.items():
            setattr(model.graph.node[0].attribute[0], name, value)
    return change


def _opset(domain, version):
    return lambda model: model.opset_import.append(onnx.helper.make_opsetid(domain, version))


def _type(number):
    return lambda model: setattr(model.graph.input[0].type.tensor_type, "elem_type", number)


def _weights(**fields):
    def change(model):
        tensor = model.graph.initializer[0]
        for name, value in fields.items():
            getattr(tensor, name).extend(value) if isinstance(value, list) else setattr(tensor, name, value)
    return change


@pytest.mark.parametrize("change, said", [
    (_twice, "two weights of the name 'w'"), (_weights(name=""), "without a name|reads 'w'"),
    (_attribute(count=2), "'axis' is given twice"), (_attribute(ref_attr_name="a"), "refers to one of a function"),
    (_attribute(type=0), "'axis' is of an unknown kind"), (_opset("ai.onnx", 12), r"several operator sets of ONNX \(12, 18\)"),
    (lambda m: setattr(m, "ir_version", 999), "pip install --upgrade onnx"),
    (lambda m: m.graph.node.extend([onnx.helper.make_node("Relu", ["y"], ["z"], domain="ai.onnx.ml")]) or
     setattr(m.graph.output[0], "name", "z"), "operator ai.onnx.ml.Relu of the network is not known"),
    *[(lambda m: setattr(m.graph.node[0], "overload", "a"), "is not known")][:hasattr(onnx.NodeProto, "overload")],
    (lambda m: m.functions.append(onnx.FunctionProto(name="f")), "defines functions of its own"),
    (_type(onnx.TensorProto.INT64), "input 'x' is of type INT64; known are DOUBLE"), (_type(onnx.TensorProto.UINT8), "UINT8"),
    (_type(onnx.TensorProto.STRING), "STRING"), (_type(0), "UNDEFINED"), (_type(99), "of type 99"),
    (lambda m: setattr(m.graph.input[0].type.tensor_type.shape.dim[0], "dim_value", 0), "an axis of length 0"),
    (_weights(data_type=onnx.TensorProto.FLOAT8E4M3FN), "weights 'w' are of type FLOAT8E4M3FN; known are DOUBLE"),
    (_weights(data_type=onnx.TensorProto.INT8), "of type INT8"), (_weights(data_type=21), "of type UINT4|of type 21"),
    (_weights(data_type=onnx.TensorProto.COMPLEX64), "COMPLEX64"), (_weights(double_data=[1.0]), "given several times over"),
    (_weights(dims=[3]), "'w' cannot be read"), (_weights(raw_data=b"\x00" * 31), "'w' cannot be read"),
    (_weights(raw_data=b"\x00" * 40), "'w' cannot be read"),
    (_weights(name="x"), "must have one input, and has 0"),
])
def test_files(tmp_path, change, said):
    with pytest.raises(NetworkError, match=said):
        infimum.network(saved(changed(change), tmp_path))


def test_inputs_with_weights_of_their_name_have_these_values(tmp_path):
    def change(model):
        model.graph.input.append(onnx.helper.make_tensor_value_info("w", onnx.TensorProto.DOUBLE, (2, 2)))
    assert infimum.network(saved(changed(change), tmp_path))([1.0, 2.0]).tolist() == [1.0, 2.0]


def test_floats_of_sixteen_bits_are_exact(tmp_path):
    for kind, name in ((np.float16, "FLOAT16"), (None, "BFLOAT16")):
        def change(model, kind=kind, name=name):
            tensor = onnx.helper.make_tensor("w", getattr(onnx.TensorProto, name), (2, 2), [0.5, 0.25, 1.5, -3.0])
            model.graph.initializer[0].CopyFrom(tensor)
        assert infimum.network(saved(changed(change), tmp_path))([1.0, 2.0]).tolist() == [3.5, -5.75]


def test_subgraphs_are_refused(tmp_path):
    body = onnx.helper.make_graph([], "b", [], [onnx.helper.make_tensor_value_info("x", 11, (1, 4))])
    node = ("If", ["c"], ["y"], {"then_branch": body, "else_branch": body})
    refused(tmp_path, "operator If of the network is not known", [node], constants={"c": np.array(True)})


# ---- sizes: refused before there is an array
BIG = 2**12
HUGE = {
    "expand": [("Expand", ["x", "s"], ["y"])], "constant": [("ConstantOfShape", ["s"], ["c"]), ("Add", ["x", "c"], ["y"])],
    "pad": [("Pad", ["x", "p"], ["y"])], "broadcast": [("Transpose", ["x"], ["t"]), ("Add", ["x", "t"], ["y"])],
    "maximum": [("Transpose", ["x"], ["t"]), ("Max", ["x", "t"], ["y"])],
    "power": [("Transpose", ["x"], ["t"]), ("Pow", ["x", "t"], ["y"])],
    "product": [("Transpose", ["x"], ["t"]), ("MatMul", ["t", "x"], ["y"])], "gemm": [("Gemm", ["x", "x"], ["y"], {"transA": 1})],
    "concat": [("Concat", ["x"] * BIG * 2, ["y"], {"axis": 1})], "gather": [("Gather", ["x", "i"], ["y"])],
    "convolution": [("Unsqueeze", ["x", "zero"], ["u"]), ("Conv", ["u", "w"], ["y"], {"pads": [0, BIG]})],
    "pads": [("Unsqueeze", ["x", "zero"], ["u"]), ("MaxPool", ["u"], ["y"], {"kernel_shape": [2], "pads": [2**62, 2**62]})],
    "dilations": [("Unsqueeze", ["x", "zero"], ["u"]), ("MaxPool", ["u"], ["y"], {"kernel_shape": [2], "dilations": [2**62]})],
    "integers": [("ConstantOfShape", ["q"], ["c"], {"value": onnx.numpy_helper.from_array(ints(1))}),
                 ("Unsqueeze", ["c", "zero"], ["a"]), ("Unsqueeze", ["c", "one"], ["b"]), ("Mul", ["a", "b"], ["m"]),
                 ("Cast", ["m"], ["f"], {"to": 11}), ("Add", ["x", "f"], ["y"])],
    "nothing": [("ReduceSum", ["e", "zero"], ["r"]), ("Add", ["x", "r"], ["y"])],
}


@pytest.mark.parametrize("name", HUGE)
def test_hostile_sizes(tmp_path, name):
    constants = {"s": ints(2**20, 2**20, 1), "p": ints(0, 2**40, 0, 0), "i": np.zeros((BIG, 8), dtype=np.int64), "zero": ints(0),
                 "w": np.ones((BIG, 1, 2)), "q": ints(2 * BIG), "one": ints(1), "e": np.zeros((0, 2**40))}
    tracemalloc.start()
    try:
        refused(tmp_path, "more than .* elements|does not fit|do not fit", HUGE[name], (1, BIG * 2), constants)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 2**24


def test_all_arrays_together_are_limited(tmp_path, monkeypatch):
    monkeypatch.setattr(graph, "MOST_IN_ALL", 100)
    nodes = [("Relu", ["x"], ["n0"]), *[("Add", [f"n{k}", "x"], [f"n{k + 1}"]) for k in range(30)], ("Relu", ["n30"], ["y"])]
    refused(tmp_path, "node Add of n25: the arrays up to here have more than 100 elements together", nodes)
