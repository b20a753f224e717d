"""Nouns and adjectives of an English text in upper case."""

import re
from collections.abc import Mapping

from audit.packs.english.emphasis import opens_sentence
from audit.packs.english.guard import protected
from audit.packs.english.parser import Parse, Word, tree_of
from audit.packs.english.polarity import feelings
from audit.packs.english.tagging import known_as
from audit.text.analysis import Analysis
from audit.text.tokens import words

# Tagged as nouns or adjectives, but they stand for a pronoun or determiner, which nobody shouts for emphasis, or are
# verbs, pronouns or calls written as they are spoken.
_PLAIN = words(
    "i such many much few own same several certain other another more most less least nothing anything something "
    "everything everyone someone anyone nobody none one ones lot lots bit kind sort due enough today tonight tomorrow "
    "yesterday alot im ive ya u ur gonna wanna finna imma lemme gimme dunno kinda sorta outta cuz coz tho thru dont "
    "doesnt didnt isnt wasnt aint cant wont thats whats shes hes theyre theres youre weve youve id ill til till bout "
    "brb btw fyi idk imo imho mhm nope ok okay omg oops please pls plz rofl smh tbh ugh um wtf yep yup yes no so wow "
    "hi hello hey aw oh ah"
)
_LAUGHTER = re.compile(
    r"b?w?a?(?:ha)+h?|(?:he|ja)+|lo+l+z?|lm(?:f?a)+o+|hm+|e+w+|o+h+|a+h+|ya+y+|woo+t?|boo+|no+|so+|wo+w+|a+w+"
)
_AFTER_VERBS = words("DT PRP PRP$ TO WRB WP")


def in_capitals(text: Analysis) -> dict[int, str]:
    """Index of each noun and adjective that is not in upper case -> the word in upper case, with its 's.

    >>> in_capitals(Analysis("The flower's leaves are beautiful, @rose."))
    {1: 'FLOWER', 2: "'S", 3: 'LEAVES', 5: 'BEAUTIFUL'}
    """
    tree, apart, new = tree_of(text.tokens), protected(text, quotations=False), dict[int, str]()
    for word in tree or ():
        upper = word.text.upper()
        if word.index in apart or upper == word.text or tree is None:
            continue
        follows = word.index - 1 in new and word.low == "'s" and word.start == tree[word.index - 1].end
        if follows or _is_noun_or_adjective(tree, word):
            new[word.index] = upper
    return new


def praise_or_blame(text: Analysis, shouted: Mapping[int, str]) -> bool:
    """Whether one of these words tells a feeling, other than in a title.

    >>> analysis = Analysis("I saw ''Toxic Parents''.")
    >>> praise_or_blame(analysis, in_capitals(analysis))
    False
    """
    told = feelings(text).keys() & shouted.keys()
    return any(not text.tokens[index].text.istitle() or opens_sentence(text.tokens, index) for index in told)


def _is_noun_or_adjective(tree: Parse, word: Word) -> bool:
    low, after = word.lower, tree[word.index + 1] if word.index + 1 < len(tree) else None
    if len(low) == 1 or not low[0].isalpha() or low in _PLAIN or _LAUGHTER.fullmatch(low):
        return False
    if after is not None and (after.low == "n't" or (low == "way" and after.lower in ("too", "more"))):
        return False
    is_verb = known_as(low, "VERB")
    if word.tag.startswith(("NN", "JJ")):
        only = word.tag == "NN" and is_verb and not (known_as(low, "NOUN") or known_as(low, "ADJ"))
        governs = word.tag in ("NN", "NNS") and is_verb and _governs(tree, word, after)
        return not (only or governs or word.relation == "intj")
    if not word.tag.startswith("VB") or known_as(low, "ADV"):
        return False
    before = tree[word.index - 1] if word.index else None
    modifies = word.head > word.index and word.relation in ("amod", "compound", "nmod")
    modified = before is not None and before.head == word.index and before.relation == "amod"
    return modifies or modified or (word.tag == "VBN" and word.relation in ("acomp", "oprd"))  # "seems overloaded"


def _governs(tree: Parse, word: Word, after: Word | None) -> bool:
    """Whether what is tagged as a noun is a verb: "Love this place", "Sounds like fun", "tried to contact them"."""
    if tree.child(word.index, "dobj", "aux", "dative") is not None:
        return True
    opens = opens_sentence(tree, word.index) and after is not None
    return opens and after is not None and (after.tag in _AFTER_VERBS or after.lower == "like")
