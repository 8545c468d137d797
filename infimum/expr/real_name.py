"""Which number a Real is: two have the same name only if they are the same number."""

import hashlib
from fractions import Fraction
from typing import NamedTuple

TRANSCENDENTAL = ("pi", "e")
_LONGEST = 4096  # bits of an exact factor; a loop would make them longer and longer


class ExactName(NamedTuple):
    """factor · Π symbol**power + shift: pi + pi, 2 * pi and 4 * pi / 2 have one name."""

    powers: tuple[tuple[str, int], ...]
    factor: Fraction = Fraction(1)
    shift: Fraction = Fraction(0)

    @property
    def is_transcendental(self) -> bool:
        """Is it certainly? A power of pi alone is, or of e, whatever rational it is multiplied with or added to."""
        powers = [(symbol, power) for symbol, power in self.powers if power]
        return self.factor != 0 and len(powers) == 1 and powers[0][0] in TRANSCENDENTAL

    def __neg__(self) -> "ExactName":
        return ExactName(self.powers, -self.factor, -self.shift)

    def plus(self, other: "ExactName | Fraction") -> "ExactName":
        if isinstance(other, Fraction):
            return self._short(self._replace(shift=self.shift + other))
        if self.powers == other.powers:
            return self._short(ExactName(self.powers, self.factor + other.factor, self.shift + other.shift))
        return _new("+", self, other)

    def times(self, other: "ExactName | Fraction") -> "ExactName":
        if isinstance(other, Fraction):
            return self._short(ExactName(self.powers, self.factor * other, self.shift * other))
        if self.shift or other.shift:
            return _new("*", self, other)
        powers = dict(self.powers)
        for symbol, power in other.powers:
            powers[symbol] = powers.get(symbol, 0) + power
        return self._short(ExactName(tuple(sorted(powers.items())), self.factor * other.factor))

    def to_the(self, k: int) -> "ExactName":
        if self.shift or abs(k) * _bits(self.factor) > _LONGEST or not self.factor:
            return _new(f"**{k}", self)
        return ExactName(tuple((symbol, k * power) for symbol, power in self.powers), self.factor**k)

    def _short(self, made: "ExactName") -> "ExactName":
        return made if _bits(made.factor) + _bits(made.shift) <= _LONGEST else _new("long", made)


def _bits(number: Fraction) -> int:
    return max(number.numerator.bit_length(), number.denominator.bit_length())


def _new(operation: str, *operands: ExactName) -> ExactName:
    """What comes of an operation is one number each time."""
    text = repr((operation, *operands))
    return ExactName(((hashlib.blake2b(text.encode(), digest_size=16).hexdigest(), 1),))
