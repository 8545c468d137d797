"""The interval Newton loop of a thesis on parameter estimation on GPUs, for comparison."""
