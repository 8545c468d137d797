"""The networks that bench/networks.py is about: what is kept is what is read, and as close to its function as is said."""

import numpy as np
import pytest

import infimum
from bench.network_weights import DOMAINS, FUNCTIONS, NAMES, PEAKS, SIZES, fit_error, network, read, said

PERCENT = {PEAKS: 0.99, 2: 0.31, 3: 0.59, 4: 3.46, 5: 21.33, 6: 55.24}  # root mean square error, of the standard deviation
CLOSE = 5.0  # percent, wanted where there are few variables


@pytest.mark.parametrize("name", NAMES)
def test_weights_have_the_sizes_that_are_said_and_are_numbers_of_single_precision(name):
    weights, sizes = read(name), SIZES[name]
    shapes = [weights[f"w{k}"].shape for k in range(1, len(sizes))]
    assert shapes == [*zip(sizes[:-2], sizes[1:-1], strict=True), sizes[-2:-1]]
    assert [weights[f"b{k}"].shape for k in range(1, len(sizes))] == [*((size,) for size in sizes[1:-1]), ()]
    assert all(np.array_equal(value, np.float32(value)) for value in weights.values())


@pytest.mark.parametrize("name", NAMES)
def test_the_error_of_the_fit_is_the_one_that_is_printed(name):
    weights = read(name)
    square, largest, deviation = fit_error(name, weights)
    assert 100 * square / deviation == pytest.approx(PERCENT[name], abs=0.006)
    assert f"fit error {PERCENT[name]:.2f} %" in said(name, weights)
    assert square < largest and (name not in (PEAKS, 2, 3) or 100 * square / deviation < CLOSE)


@pytest.mark.parametrize("name", NAMES)
def test_points_and_traced_points_have_the_same_values(name):
    weights = read(name)
    points = np.random.default_rng(0).uniform(*np.array(DOMAINS[name]).T, (20, len(DOMAINS[name])))
    by_point = [network(weights, x) for x in points]
    assert np.allclose(network(weights, points), by_point, rtol=1e-12, atol=1e-10)
    for x, value in zip(points, by_point, strict=True):
        found = infimum.enclose(lambda x: network(weights, x), [(v, v) for v in x])
        assert found.lo - 1e-10 <= value <= found.hi + 1e-10 and found.hi - found.lo < 1e-9


def test_functions_of_points_are_those_of_one_point():
    x = np.array([7.9, 7.9, 4.0])
    assert FUNCTIONS[3](x[None])[0] == pytest.approx(np.prod(np.sqrt(x) * np.sin(x)))
    assert FUNCTIONS[PEAKS](np.array([[0.2283, -1.6255]]))[0] == pytest.approx(-6.5511, abs=1e-4)  # peaks is least there
