"""The tests of a proof, and what they share."""
