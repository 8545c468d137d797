"""`python -m infimum`: the command line."""

import sys

from infimum.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
