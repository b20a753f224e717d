"""Nouns and adjectives of an English text in upper case."""

import re
from collections.abc import Mapping, Sequence

from audit.packs.english.emphasis import opens_sentence
from audit.packs.english.parser import Word
from audit.packs.english.polarity import polar_words
from audit.packs.english.tagging import known_as
from audit.text.analysis import Analysis
from audit.text.tokens import Token, words

# Tagged as nouns or adjectives, but they stand for a pronoun or determiner, which nobody shouts for emphasis, or are
# verbs or pronouns written as they are spoken.
_PLAIN = words(
    "i such many much few own same several certain other another more most less least nothing anything something "
    "everything everyone someone anyone nobody none one ones lot lots bit kind sort due enough im ive ya u ur coulda "
    "woulda shoulda couldve wouldve shouldve gonna wanna tryna finna imma lemme gimme dunno kinda sorta outta cuz coz "
    "tho thru wld dont doesnt didnt isnt wasnt aint cant wont didn doesn isn wasn "
    "thats whats shes hes theyre theres wheres youre weve youve id ill bout til till bloody uber huzzah "
    "today tonight tomorrow yesterday alot"
)
_INTERJECTION = re.compile(
    r"(?:a+h+|a+w+|boo+|brb|btw|b?w?a?(?:ha)+h?|e+w+|fyi|(?:ha|he|ja)+h?|hello+|hey+|hi+|hm+|hoo+|idk|imh?o|lmf?ao|lo+l+z?|"
    r"mhm+|mm+|no+|nope|o+h+|ok(?:ay)?|omf?g|oops|oy|please|pls|plz|rofl|smh|so+|ta|tbh|u+gh+|u+h+|um+|wow+|woo+t?|wtf|"
    r"xo+|ya+y+|yea+h*|yeh|yep|yes+|yo|yup)"
)
_NAMES = re.compile(
    r"[@#]\w\S*|\S+@\S+|\w+://\S+|www\.\S+|\w[\w.-]*\.(?:com?|org|net|edu|gov|ly)\b\S*|&#?\w+;", re.IGNORECASE
)
"""Handles, tags and addresses, which are other ones in another case; and characters written as in HTML."""
_BEFORE_NOUNS = words("amod compound nmod")
_OF_VERBS = words("dobj aux dative")
_AFTER_VERBS = words("DT PRP PRP$ TO WRB WP")


def in_capitals(analysis: Analysis) -> dict[int, str]:
    """Index of each noun and adjective that is not in upper case -> the word in upper case, with its 's.

    >>> in_capitals(Analysis("The flower's leaves are beautiful, @rose."))
    {1: 'FLOWER', 2: "'S", 3: 'LEAVES', 5: 'BEAUTIFUL'}
    """
    new: dict[int, str] = {}
    names = [match.span() for match in _NAMES.finditer(analysis.text)]
    for index, token in enumerate(analysis.tokens):
        upper = token.text.upper()
        if any(start <= token.start < end for start, end in names) or upper == token.text:
            continue
        follows = index - 1 in new and analysis.low[index] == "'s" and token.start == analysis.tokens[index - 1].end
        if follows or _is_noun_or_adjective(analysis.tokens, index):
            new[index] = upper
    return new


def praise_or_blame(analysis: Analysis, shouted: Mapping[int, str]) -> bool:
    """Whether one of these words praises or blames, other than in a title.

    >>> analysis = Analysis("I saw ''Toxic Parents''.")
    >>> praise_or_blame(analysis, in_capitals(analysis))
    False
    """
    tokens = analysis.tokens
    polar = polar_words(analysis).keys() & shouted.keys()
    return any(not tokens[index].text.istitle() or opens_sentence(tokens, index) for index in polar)


def _is_noun_or_adjective(tokens: Sequence[Token], index: int) -> bool:
    token = tokens[index]
    word = token.lower
    after = tokens[index + 1].lower if index + 1 < len(tokens) else ""
    if (
        len(word) == 1
        or any(map(str.isdecimal, word))
        or word in _PLAIN
        or _INTERJECTION.fullmatch(word)
        or after in ("n't", "n’t")
    ):
        return False
    if word == "way" and after in ("too", "more"):
        return False
    if token.tag.startswith(("NN", "JJ")):
        is_verb = token.tag == "NN" and known_as(word, "VERB") and not (known_as(word, "NOUN") or known_as(word, "ADJ"))
        is_call = isinstance(token, Word) and token.relation == "intj"
        return not (is_verb or is_call or _governs(tokens, index))
    if not isinstance(token, Word) or not token.tag.startswith("VB") or known_as(word, "ADV"):
        return False
    before = tokens[index - 1] if index else None
    if token.tag == "VBN" and token.relation in ("acomp", "oprd"):
        return True  # "seems overloaded"
    modifies = token.head > index and token.relation in _BEFORE_NOUNS
    return modifies or (isinstance(before, Word) and before.head == index and before.relation == "amod")


def _governs(tokens: Sequence[Token], index: int) -> bool:
    """Whether what is tagged as a noun is a verb: "Love this place", "Sounds like fun", "tried to contact them"."""
    if tokens[index].tag not in ("NN", "NNS"):
        return False
    if any(isinstance(word, Word) and word.head == index and word.relation in _OF_VERBS for word in tokens):
        return known_as(tokens[index].lower, "VERB")
    if not opens_sentence(tokens, index):
        return False
    after = tokens[index + 1 : index + 2]
    return (
        bool(after)
        and (after[0].tag in _AFTER_VERBS or after[0].lower == "like")
        and known_as(tokens[index].lower, "VERB")
    )
