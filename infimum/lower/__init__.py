"""From expressions to kernels: programs over an abstract lane."""
