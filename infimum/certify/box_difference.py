"""Regions that lie only partly in a box without further minimisers: what of them lies beyond it."""

import numpy as np

from infimum.linear_algebra.interval_matrices import Interval


def beyond_one_side(lo: np.ndarray, hi: np.ndarray, box: Interval) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(which, lo, hi): the regions (n, N) that reach beyond the box through one of its faces alone, and what lies beyond it: one
    region instead of one, and smaller."""
    low, high = lo < box[0][:, None], hi > box[1][:, None]
    overlap = ((lo < box[1][:, None]) & (hi > box[0][:, None])) | ((lo == hi) & ~low & ~high)
    which = np.flatnonzero(overlap.all(axis=0) & (low.sum(axis=0) + high.sum(axis=0) == 1))
    low, high = (np.take(end, which, axis=1) for end in (low, high))
    part_lo, part_hi = (np.take(end, which, axis=1) for end in (lo, hi))
    return which, np.where(high, box[1][:, None], part_lo), np.where(low, box[0][:, None], part_hi)


def beyond(lo: np.ndarray, hi: np.ndarray, box: Interval) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(of which, lo, hi): pieces that together with the box cover the regions (n, N), up to two for each variable."""
    every, found = np.arange(lo.shape[1]), []
    apart = ((lo > box[1][:, None]) | (hi < box[0][:, None])).any(axis=0)
    found.append((every[apart], lo[:, apart], hi[:, apart]))
    which, lo, hi = every[~apart], lo[:, ~apart], hi[:, ~apart]
    for i in range(len(lo)):
        for side, out in enumerate((lo[i] < box[0][i], hi[i] > box[1][i])):
            ends = lo[:, out], hi[:, out]
            ends[1 - side][i] = box[side][i]
            found.append((which[out], *ends))
        lo[i], hi[i] = np.maximum(lo[i], box[0][i]), np.minimum(hi[i], box[1][i])
    return tuple(np.concatenate(parts, axis=-1) for parts in zip(*found, strict=True))
