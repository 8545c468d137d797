"""Sets of parameters that agree with the data: confidence sets and bounded errors."""
