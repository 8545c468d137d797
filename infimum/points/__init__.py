"""Point searches: good points, which are estimates until an incumbent encloses their values."""
