"""The command line: `infimum minimize FILE.py`, `infimum gallery`. One command a file; `main` holds the table of them."""
