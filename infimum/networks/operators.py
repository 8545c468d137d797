"""All operators that are known, each with what it declares of its inputs and attributes."""

from infimum.networks.activations import ACTIVATIONS, CLIP
from infimum.networks.arithmetic import ARITHMETIC, LINEAR
from infimum.networks.arrangement import ARRANGEMENT
from infimum.networks.signature import Operator
from infimum.networks.windows import WINDOWS

OPERATORS: dict[str, Operator] = {**ACTIVATIONS, **CLIP, **ARITHMETIC, **LINEAR, **WINDOWS, **ARRANGEMENT}
OWN = ("Dense", "Linear")  # operators that ONNX does not have
