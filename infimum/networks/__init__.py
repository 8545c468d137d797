"""Trained networks: read from ONNX files, torch modules or NumPy weights, and properties of them that are proved or refuted."""

from infimum.networks.network import Network as Network
from infimum.networks.reading import network as network
