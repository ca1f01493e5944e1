"""The command line as a module: ``python -m prframe``."""

import sys

from prframe.commands.main import main

if __name__ == "__main__":
    sys.exit(main())
