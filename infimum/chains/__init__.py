"""Dynamic programming over intervals, for sums of terms that each read few variables."""
