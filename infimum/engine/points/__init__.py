"""Point search: good points and their verified values. What is found here is an estimate until the incumbent encloses it."""
