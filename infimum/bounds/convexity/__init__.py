"""What follows where functions are convex: bounds of f over the whole box, and of variables that have none."""
