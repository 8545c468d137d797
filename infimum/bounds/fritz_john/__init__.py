"""What the conditions of Fritz John leave of regions with constraints."""
