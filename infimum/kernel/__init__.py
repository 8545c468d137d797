"""Kernels: programs over an abstract lane, and how expressions become such programs."""
