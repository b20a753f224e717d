"""How the Penn Treebank writes signs that mean something else in its files."""

ESCAPED = {"-LRB-": "(", "-RRB-": ")", "-LCB-": "{", "-RCB-": "}", "-LSB-": "[", "-RSB-": "]", "``": '"', "''": '"'}
"""Name -> the sign."""
BRACKETS = {name: sign for name, sign in ESCAPED.items() if sign != '"'}
"""Those with one name each."""
