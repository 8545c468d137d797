"""The vocabulary of expressions: one record for each operation, by families."""
