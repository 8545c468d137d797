"""Sets of parameters, parts of `bench/fit.py`: those with a sum of squares below a threshold, enclosed."""

import argparse
import math
from functools import partial
from typing import Any

import numpy as np

import infimum
from bench.nist.problems import read
from bench.table import head, report, timed

QUANTILE = 12.5915  # of chi-square with 6 degrees of freedom, 95 %, rounded down


def two_peaks(x, a1, m1, w1, a2, m2, w2):
    return a1 * np.exp(-(((x - m1) / w1) ** 2)) + a2 * np.exp(-(((x - m2) / w2) ** 2))


def confidence(r: Any, options: argparse.Namespace, **more: Any) -> tuple[float, Any]:
    """The seconds of a second call, or of the first one if the time limit ended it, and the set of 95 % confidence."""
    seconds, c = timed(lambda: r.confidence(0.95, time_limit=options.time_limit, **more))
    return (seconds, c) if c.stopped else timed(lambda: r.confidence(0.95, time_limit=options.time_limit, **more))


def lanczos(options: argparse.Namespace) -> None:
    """With standard deviations sigma the sum is in units of sigma², and its threshold for 6 parameters is the quantile."""
    p = read()["Lanczos1"]
    if not options.chosen(p.name):
        return
    for rule in options.rules:
        head(f"Lanczos1, the box around all parameters with a small sum of squares, bounds of all three terms as wide as {rule}")
        lo, hi = np.array(p.bounds(rule)).reshape(3, 2, 2).transpose(2, 0, 1)
        bounds = list(zip(lo.min(axis=0).tolist(), hi.max(axis=0).tolist(), strict=True)) * 3
        for least, widest in ((1e-18, 1e-5), (1e-20, 1e-6)):
            sigma = math.sqrt(least / QUANTILE)
            fit_seconds, r = timed(partial(infimum.fit, p.model, p.x, p.y, bounds=bounds, sigma=sigma, absolute_sigma=True,
                                           symmetric=[("b2", "b1"), ("b4", "b3"), ("b6", "b5")], atol=1.0,
                                           time_limit=options.time_limit, device=options.device))
            seconds, c = confidence(r, options, volume_rtol=None)
            width = max(profile.outer.hi - profile.outer.lo for profile in c.profiles.values())
            attained = max(profile.inner.hi - profile.inner.lo for profile in c.profiles.values() if profile.inner)
            assert c.threshold.lo * sigma**2 >= least, "a smaller set than that"
            options.tables.setdefault("lanczos", []).append({
                "rule": rule, "sum": least, "width": width, "attained": attained, "seconds": seconds, "fit": fit_seconds,
                "stopped": c.stopped})
            report(f"sum below {least:g}: width of the box", width, "", f"<= {widest:g}", width <= widest,
                   f"{attained:.3g} is attained; fit {fit_seconds:.2f} s, set {seconds:.2f} s {c.stopped or ''}")
            options.keep()


def sets(options: argparse.Namespace) -> None:
    head("95 % confidence sets, outer by inner")
    p, x = read()["Misra1a"], np.linspace(0.0, 10.0, 60)
    y = two_peaks(x, 3.0, 3.5, 0.8, 2.0, 6.0, 1.2) + 0.05 * np.random.default_rng(0).standard_normal(len(x))
    limits = {"time_limit": options.time_limit, "device": options.device}
    for rule in options.rules if options.chosen(p.name) else ():
        r = infimum.fit(p.model, p.x, p.y, bounds=p.bounds(rule), **limits)
        seconds, c = confidence(r, options)
        ratio = c.volume_outer.hi / c.volume_inner.lo
        note = f"{len(c.outer):,} boxes around, {len(c.inner):,} inside"
        set_row(f"Misra1a, {rule}: volume", ratio, 1.05, note, seconds, c, options)
    if options.chosen("two peaks"):
        r = infimum.fit(two_peaks, x, y, bounds=[(0, 10), (0, 10), (0.2, 4)] * 2,
                        symmetric=[("m1", "a1", "w1"), ("m2", "a2", "w2")], **limits)
        seconds, c = confidence(r, options)
        for name, profile in c.profiles.items():
            inner, outer = (end.hi - end.lo for end in (profile.inner, profile.outer))
            set_row(f"two peaks: {name}", outer / inner, 1.01, f"in [{profile.outer.lo:.6g}, {profile.outer.hi:.6g}]", seconds, c,
                    options)


def set_row(what: str, ratio: float, most: float, note: str, seconds: float, c: Any, options: argparse.Namespace) -> None:
    options.tables.setdefault("sets", []).append({"set": what, "ratio": ratio, "seconds": seconds, "stopped": c.stopped})
    report(what, ratio, "", f"<= {most:g}", ratio <= most, f"{note}, {seconds:.2f} s {c.stopped or ''}")
    options.keep()
