"""What operations mean on intervals, in upward-rounded primitives."""
