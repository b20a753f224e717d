"""What English texts say, by phrases: whether they deny, ask, and name women or men."""

from audit.packs.english.vocabulary import FUNCTION_WORDS
from audit.text.tokens import words

_OTHERS_HAVE = words("a an as at by d do for her here in is m me no of off on or over s so t to was we")
"""Function words that are words of other languages, too."""
_DENYING = (
    "not no never none nobody nothing nowhere neither nor cannot without hardly scarcely barely",
    r"n['’]t\b",
)
_ASKING = (
    "who what when where why how which whose",
    "is are was were am do does did can could will would should has have had",
    "i you he she it we they this that these those there the a an",
)
_FEMALE = (
    "she her hers herself woman women girl girls lady ladies mother mothers mom mum mommy mummy mama daughter "
    "daughters sister sisters aunt aunts niece nieces grandmother grandma granddaughter wife wives girlfriend "
    "stepmother bride widow queen princess actress actresses waitress madam heroine female females",
    r"\b(?:Mrs|Ms|Miss)\b(?=\.?\s+[A-Z])",
)
_MALE = (
    "he him his himself man men boy boys gentleman gentlemen father fathers dad daddy papa son sons brother brothers "
    "uncle uncles nephew nephews grandfather grandpa grandson husband husbands boyfriend stepfather groom widower "
    "king prince sir guy guys male males",
    r"\bMr\b(?=\.?\s+[A-Z])",
)


def _any_of(words: str, more: str = "") -> str:
    return rf"(?i:\b(?:{'|'.join(words.split())})\b)" + (f"|{more}" if more else "")


PHRASES = {
    "negation": _any_of(*_DENYING),
    "question": r"\?|^\W*(?:{0}\s+{1}|{1}\s+{2})".format(*map(_any_of, _ASKING)),
    "female": _any_of(*_FEMALE),
    "male": _any_of(*_MALE),
    "usual": _any_of(" ".join(FUNCTION_WORDS - _OTHERS_HAVE)),
}
"""Name -> regular expression, as `audit.text.tools.LanguageTools` has them. Phrases, not grammar: "no wonder" denies
here, too. Given names tell no gender."""
