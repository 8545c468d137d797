"""The calls that users make: they read the arguments, choose an engine and return a Result."""
