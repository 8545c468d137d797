"""The index method: global search of functions that are only known by their values, over a space-filling curve."""
