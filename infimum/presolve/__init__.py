"""Presolve: steps that write a problem in another form before the search, and put what is found in terms of the first form."""
