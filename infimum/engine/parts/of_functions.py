"""The parts of a proof without constraints, in the order in which they are asked."""

from infimum.engine.parts.affine import Affine
from infimum.engine.parts.by_pieces import ByPieces
from infimum.engine.parts.first_order import FirstOrder
from infimum.engine.parts.least_squares import LeastSquares
from infimum.engine.parts.newton import Newton
from infimum.engine.parts.part import Part
from infimum.engine.parts.projection import Projection
from infimum.engine.parts.shaving import Shaving
from infimum.engine.parts.tangents import Tangents

PARTS: tuple[type[Part], ...] = (FirstOrder, ByPieces, Affine, Projection, LeastSquares, Tangents, Newton, Shaving)
