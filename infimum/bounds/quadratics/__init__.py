"""Lower bounds of quadratic functions with quadratic constraints over the whole box."""
