"""The swarm on a GPU, a part of `bench/gpu.py`: as many lanes as ZEUS has, against its seconds on the same kind of machine.

As ZEUS does, it moves particles and descends from the best place of each; the searches of our swarm are left out. All lanes
descend to their ends, none is stopped because others have ended.
"""

import time

import infimum
from bench.table import report
from infimum import problems
from infimum.result import End

ZEUS = [("rastrigin", 5, 131_072, 0.18, "stopped"), ("rosenbrock", 5, 131_072, 0.15, "converged"),
        ("ackley", 5, 131_072, 0.31, "none converged"), ("rastrigin", 10, 1_048_576, 4.2, "stopped"),
        ("rosenbrock", 10, 131_072, 0.50, "converged"), ("goldstein_price", 2, 1_024, 0.80, "not converged")]
FASTER, ACCURACY = 10, 1e-9
ENDS = {"ackley": End.KINK}  # its minimum is one; the others are smooth


def swarm(device: str) -> None:
    """Prints the rows: the median of five calls after the first."""
    for name, n, lanes, zeus, said in ZEUS:
        p, times = problems.get(name, n), []
        options = {"particles": lanes, "searches": 0, "restarts": 0}
        for _ in range(6):
            start = time.perf_counter()
            r = infimum.minimize(p.fun, p.bounds, engine="swarm", options=options, device=device)
            times.append(time.perf_counter() - start)
        first, seconds, best = times[0], sorted(times[1:])[2], r.minima[0]
        true = r.fun - p.minimum.lo <= ACCURACY and best.status is ENDS.get(name, End.CONVERGED)
        report(f"{name}, n = {n}, {lanes:,} lanes: ZEUS's {zeus:g} s over ours", zeus / seconds, "times", f">= {FASTER}",
               true and zeus >= FASTER * seconds,
               f"{1e3 * seconds:.1f} ms, value {r.fun:.3g}, {best.status.name}, {best.descents:,} descents there (ZEUS: {said}); "
               f"the first call {first:.2f} s")
