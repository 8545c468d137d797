"""What whole numbers make of constraints."""
