"""Branch and bound: the store of regions, incumbents, the loop, limits, checkpoints, progress."""
