"""`python -m audit.cli`."""

from audit.cli import command

command()
