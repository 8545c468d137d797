"""`infimum verify`."""

import numpy as np
import pytest

from tests.networks.models import model_of, saved

HEAD = "(declare-const X_0 Real)(declare-const Y_0 Real)(assert (<= X_0 1))(assert (>= X_0 -1))"


@pytest.fixture
def model(tmp_path):
    return saved(model_of([("MatMul", ["x", "w"], ["h"]), ("Tanh", ["h"], ["y"])], ["n", 1], {"w": np.array([[2.0]])}), tmp_path)


@pytest.mark.parametrize("limit, code, verdict", [(0.97, 0, "HOLDS"), (0.96, 3, "VIOLATED")])
def test_verdicts_and_exit_codes(infimum_, tmp_path, model, limit, code, verdict):
    prop = tmp_path / "p.vnnlib"
    prop.write_text(f"{HEAD}(assert (>= Y_0 {limit}))")
    said = infimum_("verify", model, prop)
    assert said.code == code and said.rows["verdict"].startswith(f"{verdict}:") and said.rows["network"] == str(model)
    assert ("x" in said.rows) == (verdict == "VIOLATED")
    found = infimum_("verify", model, prop, "--json", "--time-limit", "60").json
    assert found["verdict"] == verdict and (found["counterexample"] is None) == (verdict == "HOLDS")


def test_files_that_cannot_be_read(infimum_, tmp_path, model):
    assert "cannot be read" in infimum_("verify", model, tmp_path / "missing.vnnlib").paragraph()
    assert "is no command" in infimum_("verify", model, _written(tmp_path, "(hello)")).paragraph()
    assert "cannot be read" in infimum_("verify", tmp_path / "missing.onnx", _written(tmp_path, HEAD)).paragraph()


def _written(folder, text):
    path = folder / "other.vnnlib"
    path.write_text(text)
    return path
