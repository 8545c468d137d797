"""Kernels on NVIDIA GPUs: PTX text, launches and arrays in the memory of a GPU."""
