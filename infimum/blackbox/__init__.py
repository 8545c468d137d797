"""Trials of a black box: the function or command, outcomes, the journal. Knows nothing of the search that asks for them."""
