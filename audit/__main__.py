"""`python -m audit`: the `audit` command, where it is not on the path."""

import sys

if not sys.flags.safe_path:
    # Python puts the folder where the user is first; a statistics.py there must not stand in for Python's own.
    sys.path.append(sys.path.pop(0))

from audit.cli import command

command()
