"""What the user wrote: operations, expressions, tracing, derivatives."""
