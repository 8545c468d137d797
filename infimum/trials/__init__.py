"""Trials of a black box: what one gives, who runs it, and where it is kept. Knows nothing of the search that asks for them.

`variables` says what a point is, `callables` and `command` what is tried, `workers` runs trials in this process or in others,
`journal` keeps them, and `recorded` hands out no trial that is not kept.
"""
