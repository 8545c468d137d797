"""What a network is read from, and what is refused."""

import pickle
import sys
import zipfile
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import infimum
from infimum.errors import NetworkError, OptionError, ShapeError
from infimum.networks import onnx_file
from infimum.networks.torch_modules import MODULES
from tests import children
from tests.networks.models import elements, model_of, saved

W1, B1, W2, B2 = np.array([[1.0, -2.0], [0.5, 0.25], [0.0, 3.0]]), np.array([0.1, 0.2, 0.3]), np.array([[1.0, 2.0, -1.0]]), \
    np.array([0.5])
X = np.array([0.3, -0.7])


def by_hand(x, activation=np.tanh):
    return float((W2 @ activation(W1 @ x + B1) + B2)[0])


class Tensor:
    """A tensor of torch as far as it is read."""

    def __init__(self, value):
        self.value = np.asarray(value, dtype=np.float32)

    def detach(self):
        return self

    def cpu(self):
        return self

    def numpy(self):
        return self.value


def forward(self, x):
    """Of torch's own modules."""


forward.__module__ = "torch.nn.modules.stand_in"
MODULE = type("Module", (SimpleNamespace,), {"forward": forward})
NN = SimpleNamespace(Module=MODULE, **{name: type(name, (MODULE,), {}) for name in (*MODULES, "LSTM")})


class Sequential(MODULE):
    """A torch.nn.Sequential as far as it is read."""

    def __init__(self, *parts):
        super().__init__(parts=parts)

    def __iter__(self):
        return iter(self.parts)


NN.Sequential = Sequential


@pytest.fixture
def torch(monkeypatch):
    """A stand-in for torch: its real modules are read in test_torch.py, where torch is installed."""
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(nn=NN))


def module(kind: str, **attributes):
    return getattr(NN, kind)(training=False, **attributes)


def linear(weight, bias):
    return module("Linear", weight=Tensor(weight), bias=None if bias is None else Tensor(bias))


# ---- weights
def test_keras_weights():
    net = infimum.network([W1.T, B1, W2.T, B2], activations="tanh")
    assert net(X) == pytest.approx(by_hand(X), abs=1e-15) and net.inputs == 2 and net.outputs == 1 and net.parameters == 13
    table = repr(net).splitlines()
    assert table[0] == "Network weights: (2,) -> (1,), 13 parameters" and [line.split()[0] for line in table[2:]] == [
        "Dense", "Tanh", "Dense"]


def test_a_layer_is_one_product_over_arrays():
    from infimum.trace.trace import trace

    net = infimum.network([W1.T, B1, W2.T, B2], activations="tanh")
    assert trace(net, 2).key == trace(lambda x: (W2 @ np.tanh(W1 @ x + B1) + B2)[0], 2).key


def test_a_state_dict_and_float32():
    state = {"0.weight": Tensor(W1), "0.bias": Tensor(B1), "2.weight": Tensor(W2)}
    net = infimum.network(state, activations=["relu", "sigmoid"])
    inner = W2.astype(np.float32).astype(float) @ np.maximum(W1 @ X + B1.astype(np.float32).astype(float), 0)
    assert net(X) == pytest.approx(1 / (1 + np.exp(-inner[0])), rel=1e-15)


@pytest.mark.parametrize("weights, activations, said", [
    ([W1.T, B1, W2.T, B2], None, "give activations="),
    ([W1.T, B1, W2.T, B2], "tanhh", "'tanhh' is not known; known are relu"),
    ([W1.T, B1, W2.T, B2], ["tanh"] * 3, "2 layers and 3 activations"),
    ([W1, B1, W2.T, B2], "tanh", "layer 0 has a matrix for 3 inputs"),
    ([W1.T, B1, W1.T, B1], "tanh", "layer 1"),
    ([B1], "tanh", r"weights\[0\] has the shape \(3,\)"),
    ([np.zeros((1, 2, 3))], "tanh", r"weights\[0\] has the shape"),
    ([], "tanh", "empty"),
    ([W1.T * np.nan, B1], [None], "'0.weight' have nan at"),
    ([np.array([["a"]])], [None], "of type <U1"),
    ({"0.weight": np.zeros((1, 1, 3, 3))}, "tanh", "'0.weight' with the shape"),
])
def test_bad_weights(weights, activations, said):
    with pytest.raises(NetworkError, match=said):
        infimum.network(weights, activations=activations)


def test_what_is_no_network():
    with pytest.raises(NetworkError, match="not as a int"):
        infimum.network(5)
    with pytest.raises(OptionError, match="activations= does not belong to"):
        infimum.network("model.onnx", activations="tanh")
    with pytest.raises(ShapeError, match="takes 2 numbers"):
        infimum.network([W1.T, B1], activations=[None])(np.zeros(3))


# ---- torch
def test_torch_modules(torch):
    net = infimum.network(Sequential(linear(W1, B1), Sequential(module("Tanh"), module("Dropout", p=0.5)), linear(W2, B2)))
    assert net(X) == pytest.approx(by_hand(X), rel=1e-6)
    assert net(X[None]) == net(X)


@pytest.mark.parametrize("part, value", [
    (module("ReLU"), lambda v: np.maximum(v, 0)),
    (module("LeakyReLU", negative_slope=0.1), lambda v: np.where(v > 0, v, 0.1 * v)),
    (module("Softplus", beta=2.0, threshold=20), lambda v: np.log1p(np.exp(2 * v)) / 2),
    (module("ELU", alpha=0.5), lambda v: np.where(v > 0, v, 0.5 * np.expm1(v))), (module("SiLU"), lambda v: v / (1 + np.exp(-v))),
    (module("Hardtanh", min_val=-1.0, max_val=1.0), lambda v: np.clip(v, -1, 1)), (module("ReLU6"), lambda v: np.clip(v, 0, 6)),
    (module("GELU", approximate="tanh"), lambda v: 0.5 * v * (1 + np.tanh(np.sqrt(2 / np.pi) * (v + 0.044715 * v**3)))),
    (module("BatchNorm1d", weight=None, bias=None, running_mean=Tensor(B1), running_var=Tensor(B1), eps=1e-5),
     lambda v: (v - B1) / np.sqrt(B1 + 1e-5)),
])
def test_torch_activations(torch, part, value):
    net = infimum.network(Sequential(linear(W1, B1), part))
    assert np.allclose(net(X), value(W1 @ X + B1), rtol=1e-5, atol=1e-6)


def test_a_torch_convolution(torch):
    kernel = np.arange(8.0).reshape(2, 1, 2, 2)
    conv = module("Conv2d", weight=Tensor(kernel), bias=Tensor([1.0, 2.0]), stride=(1, 1), padding=(0, 0), dilation=(1, 1),
                  groups=1, padding_mode="zeros")
    pool = module("MaxPool2d", kernel_size=2, stride=None, padding=0, dilation=1, ceil_mode=False)
    parts = [conv, module("ReLU"), pool, module("Flatten", start_dim=1, end_dim=-1)]
    x = np.linspace(-1, 1, 9).reshape(3, 3)
    windows = np.lib.stride_tricks.sliding_window_view(x, (2, 2))
    before = np.einsum("ijkl,okl->oij", windows, kernel[:, 0]) + np.array([1.0, 2.0])[:, None, None]
    expected = np.maximum(before, 0).max(axis=(1, 2))
    net = infimum.network(Sequential(*parts), input_shape=(1, 3, 3))
    assert np.allclose(net(x.ravel()), expected)
    lo, hi = elements(net, x)
    assert np.allclose(lo, expected) and np.allclose(hi, expected)
    with pytest.raises(NetworkError, match="give infimum.network\\(module, input_shape="):
        infimum.network(Sequential(*parts))


def test_unknown_torch_modules(torch):
    with pytest.raises(NetworkError, match="module 1 .* is a LSTM, which is not known; known are .*Linear"):
        infimum.network(Sequential(linear(W1, B1), module("LSTM")))


# ---- ONNX files
def test_a_file(tmp_path):
    nodes = [("Gemm", ["x", "w1", "b1"], ["h"], {"transB": 1}), ("Tanh", ["h"], ["t"]),
             ("Gemm", ["t", "w2", "b2"], ["y"], {"transB": 1})]
    constants = {"w1": W1, "b1": B1, "w2": W2, "b2": B2}
    path = saved(model_of(nodes, ["batch", 2], constants), tmp_path)
    net = infimum.network(path)
    assert net(X) == pytest.approx(by_hand(X), abs=1e-15) and net.name == "model.onnx"
    found = infimum.minimize(net, [(-1, 1)] * 2)
    grid = np.stack(np.meshgrid(*[np.linspace(-1, 1, 41)] * 2), axis=-1).reshape(-1, 2)
    assert found.verdict.name == "PROVED" and found.lower <= min(map(by_hand, grid))
    single = {name: value.astype(np.float32) for name, value in constants.items()}
    net = infimum.network(saved(model_of(nodes, [1, 2], single, double=False), tmp_path))
    assert net(X) == pytest.approx(by_hand(X), rel=1e-6)


def test_several_outputs(tmp_path):
    path = saved(model_of([("Tanh", ["x"], ["a"]), ("Exp", ["x"], ["b"])], ["n", 2], outputs=("a", "b")), tmp_path)
    with pytest.raises(NetworkError, match="outputs a, b: say which"):
        infimum.network(path)
    assert np.allclose(infimum.network(path, output="b")(X), np.exp(X))
    assert np.allclose(infimum.network(path, output=0)(X), np.tanh(X))
    with pytest.raises(NetworkError, match="no output 'c'"):
        infimum.network(path, output="c")


GOOD = ([("MatMul", ["x", "w"], ["y"])], ["batch", 2], {"w": W1.T})


def refused(tmp_path, data: bytes, said: str) -> None:
    path = tmp_path / "bad.onnx"
    path.write_bytes(data)
    with pytest.raises(NetworkError, match=said):
        infimum.network(path)


def test_files_that_are_not_onnx(tmp_path):
    pytest.importorskip("onnx")
    with zipfile.ZipFile(tmp_path / "m.pt", "w") as archive:
        archive.writestr("data.pkl", pickle.dumps([1]))
    with pytest.raises(NetworkError, match="ZIP file, as torch.save"):
        infimum.network(tmp_path / "m.pt")
    refused(tmp_path, pickle.dumps({"w": 1}), "a pickle, and no ONNX file. infimum unpickles nothing")
    refused(tmp_path, b"\x89HDF\r\n", "HDF5")
    refused(tmp_path, b"", "no graph")
    refused(tmp_path, b"hello, this is no network", "no ONNX file")
    with pytest.raises(NetworkError, match="cannot be read: No such file"):
        infimum.network(tmp_path / "missing.onnx")


def test_no_truncation_is_taken_for_a_network(tmp_path):
    data = model_of(*GOOD).SerializeToString()
    for length in range(len(data)):
        refused(tmp_path, data[:length], "bad.onnx")


def test_damaged_files_are_refused_or_read(tmp_path):
    """Whatever becomes of the bytes, there is a network or an error of ours."""
    rng, path = np.random.default_rng(0), tmp_path / "damaged.onnx"
    nodes = [("Reshape", ["x", "s"], ["r"]), ("ReduceSum", ["r", "a"], ["t"]), ("Gather", ["t", "z"], ["y"], {"axis": 1})]
    data = model_of(nodes, ["batch", 6], {"s": np.array([1, 3, 2]), "a": np.array([1]), "z": np.array([0])}).SerializeToString()
    read = 0
    for _ in range(300):
        damaged = bytearray(data)
        damaged[rng.integers(len(data))] = rng.integers(256)
        path.write_bytes(damaged)
        try:
            read += infimum.network(path).inputs > 0
        except NetworkError:
            pass
    assert 0 < read < 300


@pytest.mark.parametrize("change, said", [
    (dict(nodes=[("ReduceSum", ["x", "a"], ["y"])], constants={"a": np.array([2])}), "there is no axis 2 of 2"),
    (dict(nodes=[("Gather", ["x", "a"], ["y"], {"axis": 2})], constants={"a": np.array([0])}), "there is no axis 2 of 2"),
    (dict(shape=[1, 2**40]), "the input 'x': an array of the shape"),
    (dict(opset=5), "operator set 5 of ONNX; known are 7 to"), (dict(opset=99), "operator set 99"),
    (dict(constants={"w": np.array([[1.0, np.nan], [0.0, 1.0]])}), r"weights 'w' have nan at \[0, 1\]"),
    (dict(constants={"w": np.array([[1.0, np.inf], [0.0, 1.0]])}), r"weights 'w' have inf at"),
    (dict(constants={"w": np.ones((3, 2))}), "node MatMul of y: .*do not match|node MatMul of y: matmul"),
    (dict(constants={"w": np.array([["a"]], dtype=object)}), "are of type STRING; known are DOUBLE, FLOAT"),
    (dict(shape=["batch", "n"]), r"dynamic shape \(batch, n\)"), (dict(shape=["n"]), "dynamic shape"),
    (dict(shape=None), "no array with a shape"),
    (dict(nodes=[("LSTM", ["x", "w"], ["y"])]), "operator LSTM of the network is not known. Known are Abs, Acos, Add"),
    (dict(nodes=[("Dense", ["x", "w"], ["y"])]), "is not known"),
    (dict(nodes=[("Tanh", ["z"], ["y"])]), "reads 'z', which no node before it computes"),
    (dict(nodes=[("Tanh", ["x"], ["z"])]), "output 'y' is not computed"),
    (dict(nodes=[("Reshape", ["x", "x"], ["y"])]), "input 1 of Reshape is of type float, .* known for int32 or int64"),
    (dict(nodes=[("Cast", ["x"], ["y"], {"to": 7})]), "only casts between floats"),
    (dict(nodes=[("Shape", ["x"], ["y"])]), "not an array of floats"),
    (dict(nodes=[("Expand", ["x", "s"], ["y"])], constants={"s": np.array([10**6, 10**6, 2])}), "more than 16,777,216 elements"),
])
def test_bad_models(tmp_path, change, said):
    nodes, shape, constants = GOOD
    parts = {"nodes": nodes, "shape": shape, "constants": constants} | change
    refused(tmp_path, model_of(**parts).SerializeToString(), said)


def test_limits_and_other_files(tmp_path, monkeypatch):
    onnx = pytest.importorskip("onnx")
    model = model_of(*GOOD)
    tensor = model.graph.initializer[0]
    tensor.data_location = onnx.TensorProto.EXTERNAL
    entry = tensor.external_data.add()
    entry.key, entry.value = "location", "/etc/passwd"
    refused(tmp_path, model.SerializeToString(), "no other file is opened")
    path = saved(model_of(*GOOD), tmp_path)
    for name, said in (("MOST_BYTES", "bytes; the limit is 0"), ("MOST_NODES", "1 node; the limit is 0")):
        with monkeypatch.context() as patch, pytest.raises(NetworkError, match=said):
            patch.setattr(onnx_file, name, 0)
            infimum.network(path)


def test_without_onnx(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(NetworkError, match=r"pip install infimum\[onnx\]"):
        infimum.network(tmp_path / "model.onnx")


def test_onnx_and_scipy_are_not_imported():
    code = "import sys, infimum; infimum.network; infimum.verify; print({'onnx', 'scipy', 'torch'} & set(sys.modules))"
    root = Path(infimum.__file__).parent.parent
    said = children.run(sys.executable, "-c", code, cwd=root)
    assert said.stdout == "set()\n", said.stderr


def test_errors_name_the_line_of_the_user():
    net = infimum.network([W1.T, B1], activations=[None])
    with pytest.raises(infimum.TraceError, match="In `weights`: The function returned an array of shape"):
        infimum.minimize(net, [(-1, 1)] * 2)
    with pytest.raises(infimum.TraceError, match=r"test_reading.py:\d+, in `net\(x\[:1\]\)`"):
        infimum.minimize(lambda x: net(x[:1]), [(-1, 1)] * 2)
