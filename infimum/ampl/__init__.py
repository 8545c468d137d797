"""AMPL's files: models are read from `.nl`, text or binary, and solutions are written as `.sol`.

The format is that of D. M. Gay, "Writing .nl Files" (2005).
"""

from infimum.support import environment

with environment.collector_paused():  # there is no garbage among what is imported
    from infimum.ampl.model import Model as Model
    from infimum.ampl.reader import read as read
