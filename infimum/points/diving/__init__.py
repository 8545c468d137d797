"""Searches that begin with dives: points with whole numbers, and many starts for problems with many local minima."""
