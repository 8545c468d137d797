"""Trained networks: read from ONNX files, torch modules or NumPy weights, and properties of them that are proved or refuted."""

from infimum.networks.network import Network as Network
from infimum.networks.properties import error as error
from infimum.networks.properties import largest as largest
from infimum.networks.properties import robust as robust
from infimum.networks.properties import smallest as smallest
from infimum.networks.reading import network as network
from infimum.networks.verification import Check as Check
from infimum.networks.verification import Outcome as Outcome
from infimum.networks.verification import Verification as Verification
from infimum.networks.verifying import verify as verify
from infimum.networks.vnnlib import VnnLib as VnnLib
from infimum.networks.vnnlib import read_vnnlib as read_vnnlib
