"""What second derivatives prove: boxes with exactly one minimiser, and around them boxes without any other."""
