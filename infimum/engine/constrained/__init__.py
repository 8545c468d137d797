"""Branch and bound with constraints."""
