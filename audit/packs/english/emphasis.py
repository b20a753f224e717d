"""Where an emphasizing adverb can stand in English, and which one; and the article before it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from audit.packs.english.guard import protected
from audit.packs.english.parser import Parse, Word, tree_of
from audit.packs.english.polarity import polar_words
from audit.packs.english.tagging import base, forms
from audit.packs.english.vocabulary import NEGATIONS
from audit.resources import data_rows
from audit.text.analysis import Analysis
from audit.text.tokens import Token, words

ADVERBS: Mapping[str, tuple[str, ...]] = {
    "very": ("very", "really", "extremely"),
    "absolutely": ("absolutely", "truly", "utterly"),
    "truly": ("truly", "really"),
    "really": ("really",),
}
_NEVER = "never"
_ADVERSATIVE = words("but yet however nevertheless nonetheless")
_CONCESSIVE = words("although though while whereas despite albeit")
# What is under these, or after them in the same phrase, is not stated: it is wished, asked, compared or not there.
_UNREAL = NEGATIONS - {"little", "few"} | words(
    "if whether unless than like as except unlike instead versus but from until till almost nearly how what why any "
    "enough may might could should would 'd need want wish hope hopefully wonder ask doubt deserve expect seek try "
    "pretend promise suppose supposedly"
)
_REPORTING = words("think know say find feel believe guess see hear mean make keep consider call swear tell prove be")
_SEEMING = words("seem appear manage turn prove happen find continue")
_PREDICATES = words("acomp attr oprd ccomp ROOT advmod conj xcomp")
_HELPERS = words("have has had 've will 'll would 'd")
_BEFORE_ADVERBS = words(
    "also always often sometimes usually generally definitely now actually overall still both already again just"
)
_BARRED_BEFORE = words(
    "such what quite how only most more less so too every each either any no as even bit little "
    "fucking freaking fraking fricking frickin damn goddamn bloody feel"
)
_BARRED_AFTER = words("enough than as")


@dataclass(frozen=True, slots=True)
class Place:
    """An adverb may stand before token `index`; `degree` says which ones (a key of ADVERBS)."""

    index: int
    degree: str
    opens: bool
    """Whether the token begins a sentence, so that the adverb takes its capital."""


@cache
def gradable() -> Mapping[str, tuple[str, str]]:
    """Adjective, or form of a verb of liking -> (degree, place), from data/lexicons/gradable.tsv."""
    entries: dict[str, tuple[str, str]] = {}
    for degree, place, line in data_rows("lexicons/gradable.tsv"):
        for word in line.split() if degree != _NEVER else ():
            inflected = [form for tag in ("VBZ", "VBD") for form in forms(word, tag)] if place == "verb" else []
            for form in (word, *inflected):
                entries.setdefault(form, (degree, place))
    return entries


@cache
def _fixed() -> Mapping[str, frozenset[str]]:
    """Adjective -> nouns with which it names one thing, from the same file."""
    rows = data_rows("lexicons/gradable.tsv")
    return {adjective: words(nouns) for degree, adjective, nouns in rows if degree == _NEVER}


def places(text: Analysis, strict: bool = True) -> list[Place]:
    """Every place where an adverb reads well and makes the sentiment stronger, in order; none without trees.

    Nothing that is negated, compared, conceded, only wished, or already modified is emphasized: "not very good" is
    weaker than "not good". `strict`: only words that praise or blame, and only where all that are not conceded do the
    same.

    >>> [place.index for place in places(Analysis("The apple is sweet."))]
    [3]
    >>> places(Analysis("It looked cool, but it broke."))
    []
    """
    entries = gradable()
    tree = None if entries.keys().isdisjoint(text.words) else tree_of(text.tokens)
    if tree is None:
        return []
    found = [
        Place(word.index, entries[word.lower][0], opens_sentence(tree, word.index))
        for word in tree
        if word.lower in entries and _reads(tree, word, entries[word.lower][1]) and _is_stated(tree, word)
    ]
    apart = _conceded(tree) | protected(text) if found else set()
    found = [place for place in found if place.index not in apart]
    if not (strict and found):
        return found
    poles = {place.index: 1 for place in found if text.low[place.index].startswith("like")}
    poles |= {index: pole for index, pole in polar_words(text).items() if index not in apart}
    return [place for place in found if place.index in poles] if len({*poles.values()}) == 1 else []


def _reads(tree: Parse, word: Word, place: str) -> bool:
    """Whether an adverb reads well before an adjective or a verb of liking."""
    before = tree[word.index - 1] if word.index else None
    after = tree[word.index + 1] if word.index + 1 < len(tree) else None
    if word.text.istitle() and not opens_sentence(tree, word.index):
        return False
    if before is not None and (
        before.lower in _BARRED_BEFORE
        or before.text[-1] in "-/#@"
        or (before.tag.startswith("RB") and before.lower not in _BEFORE_ADVERBS)
    ):
        return False
    if after is not None and (after.lower in _BARRED_AFTER or (after.text[0] in "-/'’" and after.start == word.end)):
        return False
    return (_verb_reads if place == "verb" else _adjective_reads)(tree, word, place, after)


def _adjective_reads(tree: Parse, word: Word, place: str, after: Word | None) -> bool:
    if word.tag not in ("JJ", "VBN", "VBG") or (word.tag != "JJ" and tree.child(word.index, "aux", "auxpass", "dobj")):
        return False  # "is appealing the decision"
    first = word
    while first.relation == "conj" and tree[first.head].tag[:2] in ("JJ", "VB") and not tree.subject(first.index):
        first = tree[first.head]
    if first is not word and tree.child(first.index, "advmod", "neg"):
        return False  # "so clear and bright"
    noun = tree[first.head]
    if first.relation == "amod" and noun.index > word.index:
        before = tree[word.index - 1] if word.index else None  # "the other good one"
        alone = before is None or before.head != noun.index or before.relation not in ("amod", "compound", "nummod")
        fixed = after is not None and {after.lower, noun.lower} & _fixed().get(word.lower, frozenset())
        return place == "any" and alone and not fixed and noun.tag[:3] != "NNP"
    goes_on = after is not None and after.tag.startswith(("NN", "JJ", "VBN", "VBG", "CD"))
    return first.relation in _PREDICATES and noun.index <= first.index and not goes_on


def _verb_reads(tree: Parse, word: Word, place: str, after: Word | None) -> bool:
    helpers = {child.lower for child in tree.children(word.index) if child.relation in ("aux", "auxpass")}
    subject = tree.subject(word.index)
    if word.tag[:2] != "VB" or word.tag == "VBG" or after is None or after.tag == "TO" or helpers - _HELPERS:
        return False
    if subject is None:  # "Love this place."
        return word.relation == "ROOT" and opens_sentence(tree, word.index) and after.tag in ("DT", "PRP", "PRP$")
    return subject.tag not in ("WP", "WDT") and (word.tag != "VB" or bool(helpers))


def _is_stated(tree: Parse, word: Word) -> bool:
    """Whether a reader takes the word for what the text says: nothing above it is negated, wished or compared."""
    if next((token.text[-1] for token in tree[word.index :] if token.text[-1] in ".!?"), "") == "?":
        return False
    node = word
    while True:
        head = tree[node.head]
        lemma, above, mark = base(node.lower), base(head.lower) or head.lower, tree.child(node.index, "mark")
        reported = node.relation == "ccomp" and node.index > head.index  # else a sentence with a comma after it
        depends = node.relation in ("advcl", "acl") and (mark.lower != "because" if mark else node.tag != "VBG")
        wished = node is not word and (lemma or node.lower) in _UNREAL
        if depends or wished or node.relation in ("pcomp", "csubj") or (reported and above not in _REPORTING):
            return False
        for child in tree.children(node.index):
            unreal = child.low in _UNREAL and child.relation not in ("prep", "cc") and child.index < word.index
            to_be = child.tag == "TO" and child.relation == "aux" and above not in _SEEMING
            if child.relation == "neg" or to_be or (unreal and (lemma != "recommend" or child.relation != "aux")):
                return False
        if head is node:
            return True
        node = head


def _conceded(tree: Parse) -> set[int]:
    """Indices of words that the text says less for than for others: before "but", under "although" or "despite"."""
    conceded: set[int] = set()
    for word in tree:
        if word.lower not in _ADVERSATIVE | _CONCESSIVE:
            continue
        start = next(at for at in range(word.index, -1, -1) if opens_sentence(tree, at))
        if word.lower in _ADVERSATIVE:
            conceded |= {*range(0 if word.index == start else start, word.index)} if word.relation != "prep" else set()
        elif word.lower == "though" and word.relation == "advmod":
            conceded |= {*range(start)}
        else:
            conceded |= {under.index for under in tree.under(word.index if word.relation == "prep" else word.head)}
    return conceded


def opens_sentence(tokens: Sequence[Token], index: int) -> bool:
    """Whether a token is the first of its sentence, a handle before it left out.

    >>> [opens_sentence(Analysis("@rose Great work. Thanks").tokens, index) for index in (2, 3, 5)]
    [True, False, True]
    """
    return not index or tokens[index - 1].text[-1] in ".!?" or (index > 1 and tokens[index - 2].text == "@")


def article(before: str, after: str) -> str:
    """The article `before` ("a", "an", in any case) as it reads before the word `after`.

    >>> article("A", "extremely"), article("an", "very")
    ('An', 'a')
    """
    if before.lower() not in ("a", "an"):
        return before
    form = "an" if starts_with_vowel_sound(after) else "a"
    if before.isupper() and len(before) > 1:
        return form.upper()
    return form.capitalize() if before[0].isupper() else form


def starts_with_vowel_sound(word: str) -> bool:
    """Whether an English word takes "an".

    >>> [word for word in ("hour", "unique", "uncle", "one", "apple", "story") if starts_with_vowel_sound(word)]
    ['hour', 'uncle', 'apple']
    """
    lower = word.lower().lstrip("\"'“‘([")
    if lower.startswith(("hour", "honest", "honor", "honour", "heir")):
        return True
    if lower.startswith(("uni", "use", "usu", "eu", "one", "once", "ubiq", "utop", "u.")):
        return lower.startswith(("unin", "unim", "unid"))
    return lower[:1] in tuple("aeiou") or lower[:2] in ("8", "11", "18")
