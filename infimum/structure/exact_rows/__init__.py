"""What is seen of a problem in its exact forms, before the search."""
