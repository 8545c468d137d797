"""How long one waits for what, learnt by waiting: other work is begun only where there is time for it.

A GPU that has ended stands idle until whoever used the time comes back. What is begun when is a matter of speed alone.
"""

# the weight of what was just seen; of what was expected where one came back too late to know
_WEIGHT_OF_LAST, _WEIGHT_OF_LATE = 0.25, 0.9
_FORGET = 0.98              # with each wait a step seems shorter, so that one that took very long is not the last


class WaitEstimate:
    """Seconds that one waits for each kind of thing, and that a step of other work takes, as far as one knows."""

    def __init__(self) -> None:
        self._waits: dict[str, float] = {}
        self._step = 0.0

    def has_time(self, what: str, waited: float) -> bool:
        """Is there time for a step, after this number of seconds? Not before one has waited for a thing of this kind."""
        return waited + self._step < self._waits.get(what, 0.0)

    def stepped(self, seconds: float) -> None:
        """A step took so long."""
        self._step += _WEIGHT_OF_LAST * (seconds - self._step)

    def waited(self, what: str, seconds: float, late: bool) -> None:
        """It took so long; or, if one came back late, perhaps less."""
        self._step *= _FORGET
        expected = self._waits.get(what, seconds)
        self._waits[what] = _WEIGHT_OF_LATE * expected if late else expected + _WEIGHT_OF_LAST * (seconds - expected)
