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

FUNCTION_WORDS = words(
    "a an the this that these those i you he she it we they me him her us them my your his its our their mine "
    "yours hers ours theirs myself yourself himself herself itself ourselves themselves who whom whose which what "
    "when where why how is are was were am be been being do does did doing done has have had having can could "
    "will would shall should may might must not no nor and or but so yet if than then as at by for from in into "
    "of off on onto out over to up with without about after before above below under between among through during "
    "until while because since though although against along around behind beside near there here some any each "
    "every all both few many much more most other another such only own same too very just also again once ever "
    "never s t re ve ll d m n't 's 're 've 'll 'd 'm"
)
"""Words that name nothing: two texts that share no others speak of different things."""


# How the Penn Treebank writes signs that mean something else in its files.

ESCAPED = {"-LRB-": "(", "-RRB-": ")", "-LCB-": "{", "-RCB-": "}", "-LSB-": "[", "-RSB-": "]", "``": '"', "''": '"'}
"""Name -> the sign."""
BRACKETS = {name: sign for name, sign in ESCAPED.items() if sign != '"'}
"""Brackets only: quotation marks have two names each."""
