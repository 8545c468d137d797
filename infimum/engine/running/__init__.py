"""How a run is driven: limits, checkpoints, progress, interrupts."""
