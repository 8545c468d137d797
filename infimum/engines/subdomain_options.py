"""The options of the engine of subdomains."""

from typing import Any

from infimum.errors import OptionError
from infimum.search.option_names import known_options
from infimum.search.policy.search import PUBLISHED_ENGINES as POLICY
from infimum.support.lazy import dataclass

PARTITIONS = ("largest", "uniform", "adaptive")
FORMS = ("mean_value", "natural", "affine")


@dataclass(frozen=True, slots=True)
class SubdomainOptions:
    """Options of `engine="subdomain"`.

    partition: which sides of a region are divided for a look at it: "largest", the largest ones compared with the bounds;
    "adaptive", those in which f varies most, by its derivatives; "uniform", all of them. form: how f and the constraints are
    enclosed on the subdomains: "mean_value", by the mean value form and as they stand; "natural", only as they stand; "affine",
    by linear functions below and above them, for recurrences of up to 8 variables ("mean_value" where there are more).
    pieces: into how many each such side is divided; None: as many as give up to 64 subdomains, two at least. variables: how many
    sides are divided at most; not used by "uniform".
    """

    partition: str = "largest"
    form: str = "mean_value"
    pieces: int | None = None
    variables: int = 4

    @classmethod
    def read(cls, given: dict[str, Any] | None) -> "SubdomainOptions":
        """Options from a dictionary, each checked."""
        options = cls(**known_options(cls, given))
        for name, known in (("partition", PARTITIONS), ("form", FORMS)):
            if getattr(options, name) not in known:
                raise OptionError(f"option {name!r} must be one of {', '.join(map(repr, known))}, not {getattr(options, name)!r}")
        for name, least in (("pieces", 2), ("variables", 1)):
            value = getattr(options, name)
            if value is None and name == "pieces":
                continue
            if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= POLICY.most_subdomains:
                raise OptionError(f"option {name!r} must be a whole number from {least} to {POLICY.most_subdomains:,}, "
                                  f"not {value!r}")
        return options

    def division(self, n: int) -> tuple[int, int]:
        """(pieces, variables) for a function of n variables."""
        variables = n if self.partition == "uniform" else min(n, self.variables)
        pieces = self.pieces
        if pieces is None:
            pieces = 2
            while (pieces + 1) ** variables <= POLICY.default_subdomains:
                pieces += 1
        if pieces**variables > POLICY.most_subdomains:
            cure = "partition='largest'" if self.partition == "uniform" else "fewer 'variables'"
            raise OptionError(f"a region would have {pieces}**{variables} subdomains, and there may be "
                              f"{POLICY.most_subdomains:,}: "
                              f"give fewer 'pieces', or {cure}")
        return pieces, variables
