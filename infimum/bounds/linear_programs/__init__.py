"""Linear programs of regions and of the whole box, the variable to cut, and points with whole numbers."""
