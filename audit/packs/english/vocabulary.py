"""Closed classes of English words that several modules ask for, all lower-case; and signs of the Penn Treebank."""

from audit.text.tokens import words

BE_FINITE = words("is are was were am")
MODALS = words("can could will would shall should may might must")
FINITE = words("VBZ VBP VBD MD")
"""Tags of verbs that have a tense."""
NOMINATIVES = words("i he she it we they")
NEGATIONS = words(
    "not no never none nobody nothing nowhere neither nor n't n’t cannot ain without hardly barely scarcely rarely "
    "seldom few little dont doesnt didnt isnt wasnt wont cant aint lack lacks lacking less least fails fail failed"
)
QUOTES = frozenset("\"“”'‘’`")
QUOTING = QUOTES - frozenset("'’")
"""Marks that only quote: no apostrophes."""
# Words after which a new clause has its own subject.
SUBORDINATORS = words(
    "if while although though because when whenever as since until unless once after before whereas whether where "
    "why how what which who whom whose that than despite lest"
)


# How the Penn Treebank writes signs that mean something else in its files.

ESCAPED = {"-LRB-": "(", "-RRB-": ")", "-LCB-": "{", "-RCB-": "}", "-LSB-": "[", "-RSB-": "]", "``": '"', "''": '"'}
"""Name -> the sign."""
BRACKETS = {name: sign for name, sign in ESCAPED.items() if sign != '"'}
"""Brackets only: quotation marks have two names each."""
