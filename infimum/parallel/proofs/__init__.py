"""Proofs by many workers: portions of the regions on their way to other processes and machines, and back."""
