"""Machines: spelling and launching of kernels, nothing else."""
