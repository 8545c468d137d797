"""Modules of torch itself, where it is installed: each that is read against its own forward, and what is refused."""

import numpy as np
import pytest

import infimum
from infimum.errors import NetworkError
from infimum.networks.torch_modules import MODULES

torch = pytest.importorskip("torch", exc_type=ImportError)
nn = torch.nn
FLAT, LINE, IMAGE = (6,), (4, 7), (4, 6, 5)


def word(rng, *words):
    return words[rng.integers(len(words))]


def _conv(rng, axes):
    kernel, groups = rng.integers(1, 4, size=axes).tolist(), int(rng.choice([1, 2, 4]))
    padding = word(rng, 0, 1, 2, "same", "valid", rng.integers(0, 3, size=axes).tolist())
    stride = 1 if padding == "same" else rng.integers(1, 3, size=axes).tolist()
    padding = tuple(padding) if isinstance(padding, list) else padding
    return dict(in_channels=4, out_channels=4, kernel_size=tuple(kernel), padding=padding, stride=stride,
                dilation=int(rng.integers(1, 3)), groups=groups, bias=bool(rng.integers(2)))


def _pool(rng, **more):
    kernel = int(rng.integers(1, 4))
    return dict(kernel_size=kernel, stride=word(rng, None, 1, 2, 3), padding=int(rng.integers(0, kernel // 2 + 1)),
                ceil_mode=bool(rng.integers(2)), **more)


def _alpha(name):
    return lambda rng: {name: float(rng.uniform(0.01, 2))} if rng.random() < 0.7 else {}


# name: hyperparameters, shape of the input
DRAWS = {
    "Linear": (lambda rng: dict(in_features=6, out_features=int(rng.integers(1, 5)), bias=bool(rng.integers(2))), FLAT),
    "Conv1d": (lambda rng: _conv(rng, 1), LINE), "Conv2d": (lambda rng: _conv(rng, 2), IMAGE),
    "BatchNorm1d": (lambda rng: dict(num_features=4, affine=bool(rng.integers(2)), eps=float(rng.uniform(0, 0.1))), LINE),
    "BatchNorm2d": (lambda rng: dict(num_features=4, affine=bool(rng.integers(2))), IMAGE),
    "MaxPool1d": (lambda rng: _pool(rng, dilation=int(rng.integers(1, 3))), LINE),
    "MaxPool2d": (lambda rng: _pool(rng, dilation=int(rng.integers(1, 3))), IMAGE),
    "AvgPool1d": (lambda rng: _pool(rng, count_include_pad=bool(rng.integers(2))), LINE),
    "AvgPool2d": (lambda rng: _pool(rng, count_include_pad=bool(rng.integers(2))), IMAGE),
    "AdaptiveAvgPool1d": (lambda rng: {"output_size": 1}, LINE),
    "AdaptiveAvgPool2d": (lambda rng: {"output_size": (1, 1)}, IMAGE),
    "LeakyReLU": (_alpha("negative_slope"), FLAT), "ELU": (_alpha("alpha"), FLAT),
    "GELU": (lambda rng: {"approximate": word(rng, "none", "tanh")}, FLAT),
    "Softmax": (lambda rng: {"dim": int(rng.integers(-3, 4))}, IMAGE),
    "LogSoftmax": (lambda rng: {"dim": int(rng.integers(-1, 2))}, FLAT),
    "Softplus": (lambda rng: {"beta": float(rng.uniform(1, 3))}, FLAT),
    "Hardtanh": (lambda rng: {"min_val": float(rng.uniform(-1, 0)), "max_val": float(rng.uniform(0, 1))}, FLAT),
    "Flatten": (lambda rng: {}, IMAGE),
}


def evaluated(module, x):
    with torch.no_grad():
        return module.double().eval()(torch.tensor(x[None], dtype=torch.float64)).numpy()[0]


@pytest.mark.filterwarnings("ignore:Using padding='same'")
@pytest.mark.parametrize("name", MODULES)
def test_every_module_agrees_with_torch(name):
    draw, shape = DRAWS.get(name, (lambda rng: {}, FLAT))
    rng, agreed = np.random.default_rng(5), 0
    torch.manual_seed(1)
    for _ in range(12):
        parameters = draw(rng)
        try:
            module = nn.Sequential(getattr(nn, name)(**parameters))
            if "BatchNorm" in name:
                module[0].running_mean.uniform_(-1, 1)
                module[0].running_var.uniform_(0.5, 2)
            x = rng.normal(size=shape)
            expected = evaluated(module, x)
        except (RuntimeError, ValueError):
            continue  # torch refuses these hyperparameters itself
        net = infimum.network(module, input_shape=shape)
        found = np.asarray(net(x))
        assert np.allclose(found.ravel(), expected.ravel(), rtol=1e-9, atol=1e-9), parameters
        assert net.outputs == 1 or found.shape == expected.shape, parameters
        agreed += 1
    assert agreed >= 4


def test_a_whole_network_agrees_and_is_proved():
    torch.manual_seed(0)
    module = nn.Sequential(nn.Conv2d(1, 2, 2), nn.Sequential(nn.ReLU(), nn.Dropout(0.5)), nn.Flatten(), nn.Linear(8, 2))
    module = module.double().eval()
    net = infimum.network(module, input_shape=(1, 3, 3))
    x = np.random.default_rng(0).normal(size=(1, 3, 3))
    assert np.allclose(net(x), evaluated(module, x))
    box = np.stack([x.ravel() - 0.05, x.ravel() + 0.05], axis=1)
    found = infimum.enclose(lambda v: net(v)[1], box)
    for point in np.random.default_rng(1).uniform(*box.T, size=(20, 9)):
        assert found.lo <= evaluated(module, point.reshape(1, 3, 3))[1] <= found.hi


def linear(n=3, m=3):
    return nn.Linear(n, m).double()


class Backwards(nn.Sequential):
    """Its own forward."""

    def forward(self, x):
        for part in reversed(self):
            x = part(x)
        return x


class Plain(nn.Sequential):
    """Only another name."""


class Doubled(nn.Linear):
    def forward(self, x):
        return 2 * super().forward(x)


def hooked(register):
    module = nn.Sequential(linear(), nn.Tanh())
    register(module)
    return module


def parametrized():
    module = linear()
    nn.utils.parametrizations.orthogonal(module)
    return nn.Sequential(module)


def overridden(part):
    module = nn.Sequential(linear(), nn.Tanh())
    part(module).forward = lambda x: x
    return module


def trained(part):
    return nn.Sequential(linear(), part)


@pytest.mark.parametrize("make, said", [
    (lambda: Backwards(linear(), nn.Tanh()), r"a subclass of torch.nn.Sequential .* give torch.nn.Sequential\(\*module\)"),
    (lambda: Plain(linear()), "a subclass of torch.nn.Sequential"),
    (lambda: nn.Sequential(Backwards(linear(), nn.Tanh())), "module 0 .* is a Backwards, a subclass of torch.nn.Sequential"),
    (lambda: nn.Sequential(linear(), Doubled(3, 3)), "module 1 .* is a Doubled, a subclass of torch.nn.Linear"),
    (lambda: nn.Sequential(type("Linear", (nn.Module,), {})()), "module 0 .* is a Linear, which is not known"),
    (lambda: hooked(lambda m: m.register_forward_hook(lambda *a: a[-1] + 1)), "the torch.nn.Sequential has forward hooks"),
    (lambda: hooked(lambda m: m[1].register_forward_pre_hook(lambda m, x: x)), r"module 1 \(Tanh\) has forward hooks"),
    (parametrized, "ParametrizedLinear, a subclass of torch.nn.Linear that .*remove_parametrizations"),
    (lambda: overridden(lambda m: m), "the torch.nn.Sequential has a forward of its own"),
    (lambda: overridden(lambda m: m[0]), r"module 0 \(Linear\) has a forward of its own"),
    (lambda: trained(nn.Dropout(0.5)), r"module 1 \(Dropout\) is in training mode, .* module.eval\(\)"),
    (lambda: trained(nn.BatchNorm1d(3)), r"module 1 \(BatchNorm1d\) is in training mode"),
    (lambda: trained(nn.BatchNorm1d(3, track_running_stats=False)).eval(), "no running statistics"),
    (lambda: trained(nn.Softmax()), "its dim is missing"), (lambda: trained(nn.Softplus(threshold=1)), "above the threshold 1"),
    (lambda: trained(nn.Softplus(beta=1e-3)), "above the threshold 20"),
    (lambda: trained(nn.LSTM(3, 3)), "module 1 .* is a LSTM, which is not known; known are"), (nn.Sequential, "has no modules"),
    (lambda: trained(nn.Flatten(0)), "from axis 0"), (lambda: trained(nn.LayerNorm(3)), "LayerNorm, which is not known"),
    (linear, "the network is a Linear"), (lambda: nn.Sequential(nn.Linear(3, 3, device="meta")), "cannot be read"),
    (lambda: nn.Sequential(nn.LazyLinear(3)), "LazyLinear"), (lambda: list(linear().parameters()), "a list of torch's tensors"),
])
def test_what_computes_something_else_is_refused(make, said):
    with pytest.raises(NetworkError, match=said):
        infimum.network(make())


@pytest.mark.parametrize("module, said", [
    (nn.MaxPool2d(2, return_indices=True), "return_indices"), (nn.AvgPool2d(2, divisor_override=3), "divisor_override"),
    (nn.Conv2d(4, 4, 2, padding=1, padding_mode="reflect"), "padding_mode 'reflect'"), (nn.AdaptiveAvgPool2d(2), "size 2"),
    (nn.ConvTranspose2d(4, 4, 2), "ConvTranspose2d, which is not known"),
])
def test_hyperparameters_that_are_not_read_are_refused(module, said):
    with pytest.raises(NetworkError, match=said):
        infimum.network(nn.Sequential(module), input_shape=IMAGE)


def test_global_hooks_are_refused():
    handle = torch.nn.modules.module.register_module_forward_hook(lambda *a: None)
    try:
        with pytest.raises(NetworkError, match="forward hooks"):
            infimum.network(nn.Sequential(linear()))
    finally:
        handle.remove()
    assert infimum.network(nn.Sequential(linear())).outputs == 3


def test_a_class_that_was_changed_is_refused(monkeypatch):
    monkeypatch.setattr(nn.Tanh, "forward", lambda self, x: x)
    with pytest.raises(NetworkError, match=r"module 1 \(Tanh\) has a forward of its own"):
        infimum.network(nn.Sequential(linear(), nn.Tanh()))


def test_a_shared_module_is_called_twice():
    part = linear()
    module = nn.Sequential(part, nn.Tanh(), part)
    x = np.array([0.5, -1.0, 2.0])
    assert np.allclose(infimum.network(module)(x), evaluated(module, x))


def test_weights_of_other_types():
    part = nn.Linear(2, 2).to(torch.bfloat16)
    with torch.no_grad():
        part.weight.copy_(torch.tensor([[0.5, 0.1], [2.0, -3.0]]))
    net = infimum.network(nn.Sequential(part))
    weights, bias = (v.detach().double().numpy() for v in (part.weight, part.bias))
    assert np.allclose(net([1.0, 3.0]), weights @ [1.0, 3.0] + bias, rtol=1e-15, atol=1e-15)
    state = infimum.network(part.state_dict(), activations=[None])
    assert state([1.0, 3.0]).tolist() == net([1.0, 3.0]).tolist()


def test_linear_modules_apply_along_the_last_axis():
    module, x = nn.Sequential(nn.Linear(3, 2).double()), np.arange(12.0).reshape(2, 2, 3)
    net = infimum.network(module, input_shape=(2, 2, 3))
    assert np.allclose(net(x), evaluated(module, x)) and net.output_shape == (2, 2, 2)


def test_networks_of_torch_are_refused_before_they_are_read_as_something_else():
    with pytest.raises(NetworkError, match="give infimum.network"):
        infimum.network(nn.Sequential(nn.Conv2d(1, 1, 1)))
    with pytest.raises(NetworkError, match="tuple of integers"):
        infimum.network(nn.Sequential(nn.Tanh()), input_shape=(2.5,))
    with pytest.raises(NetworkError, match="not as a ScriptModule|RecursiveScriptModule|is a "):
        infimum.network(type("Net", (nn.Module,), {})())
