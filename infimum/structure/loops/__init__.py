"""What loops have written as scalars, as vectors again."""
