"""Random problems and the relations between their answers: see bench/relations.py."""
