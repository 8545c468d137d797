"""What everything else uses: the clock, the floating-point environment, lazy imports, exact numbers."""
