"""Linear programs of single regions, solved by a library that is not trusted."""
