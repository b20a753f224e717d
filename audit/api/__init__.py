"""The JSON API: the functions of the app, for programs that hold a token."""

PATH = "/api/v1"
"""Where the app's server has it, below the app's root."""
