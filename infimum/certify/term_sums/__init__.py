"""Isolated minimisers of sums of small terms, in a time that grows with their number."""
