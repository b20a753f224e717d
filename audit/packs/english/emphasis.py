"""Where an emphasizing adverb can stand in English, and which one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from audit.errors import AuditError
from audit.packs.english.vocabulary import NEGATIONS, QUOTING
from audit.resources import data_file
from audit.text.tokens import Token, words

ADVERBS: Mapping[str, tuple[str, ...]] = {
    "very": ("very", "really", "extremely"),
    "absolutely": ("absolutely", "truly", "utterly"),
    "truly": ("truly", "really"),
    "really": ("really",),
}
_COPULAS = words(
    "is are was were be been being am 's 're 'm ’s ’re ’m seems seem seemed looks look looked feels feel felt sounds "
    "sound sounded becomes become became gets got get remains remained stays stayed"
)
_LIKING = words("love loved hate hated enjoyed enjoy liked like")
_SOFTENERS = words(
    "so too as more most less least very really quite rather pretty fairly somewhat how enough all much many bit "
    "little kind sort even ever still just almost nearly not n't n’t what such that no only equally well far"
)
_INTENSE = words("very really truly extremely absolutely utterly so")
# Adjective and noun that name one thing; an adverb before them reads wrong.
_FIXED = words(
    "good-guy good-guys bad-guy bad-guys good-thing bad-thing good-deal great-deal good-news bad-news good-luck "
    "good-idea bad-idea good-bit good-old great-length great-lengths comic-book comic-books comic-relief comic-strip "
    "good-part good-side bad-side good-fun good-morning good-night good-evening great-britain great-depression "
    "romantic-comedy romantic-comedies romantic-drama romantic-lead romantic-interest romantic-subplot "
    "sweet-spot sweet-tooth sweet-home cool-down sad-sack pretty-woman dumb-luck rich-people rich-kid rich-man "
    "beautiful-mind good-boy good-girl bad-boy bad-girl bad-movie bad-movies great-grandmother great-grandfather "
    "good-taste bad-taste good-intentions best-picture good-will good-cop bad-cop weak-link clever-clogs good-times "
    "good-time great-time bad-times good-ol great-ones good-ones bad-ones good-measure good-use good-faith good-reason "
    "moving-camera moving-picture moving-pictures moving-image moving-images moving-parts moving-company "
    "comic-timing comic-actor comic-genius emotional-rescue emotional-depth emotional-core emotional-impact"
    "emotional-connection emotional-level emotional-content emotional-power beautiful-people talented-mr cheesy-grin "
    "good-evil bad-evil great-white great-war great-escape great-dictator good-earth good-shepherd silly-putty "
    "bad-acting good-acting good-portion good-half good-many great-many good-chunk good-number"
)


@dataclass(frozen=True, slots=True)
class Place:
    """An adverb may stand before token `index`; `degree` says which ones (a key of ADVERBS)."""

    index: int
    degree: str


@cache
def gradable() -> Mapping[str, tuple[str, bool]]:
    """Adjective -> (degree, whether it may stand before a noun), from data/lexicons/gradable.tsv."""
    adjectives: dict[str, tuple[str, bool]] = {}
    path = data_file("lexicons/gradable.tsv")
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line or line.startswith("#"):
            continue
        columns = line.split("\t")
        if len(columns) != 3 or columns[0] not in ADVERBS or columns[1] not in ("any", "predicative"):
            raise AuditError(f"{path.name}, line {number}: need degree, place and adjectives, separated by tabs")
        for word in columns[2].split():
            adjectives.setdefault(word, (columns[0], columns[1] == "any"))
    return adjectives


def places(tokens: Sequence[Token]) -> list[Place]:
    """Every place where an adverb reads well, in order.

    Nothing that is negated, compared, or already modified is emphasized: "not very good" is weaker than "not good".

    >>> from audit.text import Analysis
    >>> [place.index for place in places(Analysis("The apple is sweet.").tokens)]
    [3]
    """
    adjectives = gradable()
    present = [token.lower for token in tokens]
    if adjectives.keys().isdisjoint(present) and _LIKING.isdisjoint(present):
        return []
    result: list[Place] = []
    barred = False
    quoted = False
    for index, (word, token) in enumerate(zip(present, tokens, strict=True)):
        if token.text in QUOTING:
            quoted = not quoted
        elif word in NEGATIONS or token.tag in ("JJS", "RBS"):
            barred = True
        elif token.text in ".;:" or token.text in ("but", "--", "?", "!"):
            barred = False
        elif word in adjectives and not barred and not quoted and token.tag != "VB":
            degree, attributive = adjectives[word]
            if _reads(tokens, index, attributive):
                result.append(Place(index, degree))
        elif word in _LIKING and not barred and not quoted and _verb_reads(tokens, index):
            result.append(Place(index, "really"))
    return result


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


def _reads(tokens: Sequence[Token], index: int, attributive: bool) -> bool:
    before = tokens[index - 1] if index else None
    after = tokens[index + 1] if index + 1 < len(tokens) else None
    if after is not None and (
        after.lower in ("enough", "than", "as") or after.lower.startswith("ol") or after.text[0] in "-/'’"
    ):
        return False
    if before is not None and (before.text[-1] in "-/" or before.tag in ("NNP", "NNPS")):
        return False
    if tokens[index].text[0].isupper() and index:
        return False  # part of a name, or already shouted
    if any(token.lower in _INTENSE for token in tokens[max(0, index - 3) : index]):
        return False
    before_noun = after is not None and after.tag[:2] in ("NN", "JJ", "VB") and after.tag not in ("VBZ", "VBD", "VBP")
    if tokens[index].lower == "kind" and after is not None and after.lower == "of":
        return False
    if tokens[index].lower == "pretty" and after is not None and after.tag in ("JJ", "RB"):
        return False  # the adverb
    if before_noun:
        return attributive and _before_noun_reads(tokens, index)
    if before is None:
        return after is None or after.text in ",.;" or after.lower == "and"
    return _is_predicate(tokens, index) and (after is None or after.tag not in ("CD", "DT", "PRP"))


def _before_noun_reads(tokens: Sequence[Token], index: int) -> bool:
    word, after = tokens[index].lower, tokens[index + 1]
    if f"{word}-{after.lower}" in _FIXED or after.tag in ("NNP", "NNPS"):
        return False
    if index == 0:
        return True
    before = tokens[index - 1].lower
    if before in ("a", "an"):
        earlier = tokens[index - 2].lower if index > 1 else ""
        return earlier not in _SOFTENERS and earlier not in ("such", "what", "quite", "half", "many")
    return before in ("some", "its", "his", "her", "their", "this", "these", "with", "has", "by", "of") or (
        tokens[index - 1].tag == "IN" and before not in ("as", "than", "like", "so", "that")
    )


def _is_predicate(tokens: Sequence[Token], index: int) -> bool:
    """Whether the adjective follows a copula ("is sweet", "is dull, silly"), and nothing modifies it yet."""
    before = tokens[index - 1]
    if before.lower in _SOFTENERS or before.tag in ("RB", "RBR", "RBS"):
        return False
    if before.lower == "be" and tokens[index - 2].lower == "to":
        return False  # "to be honest", "too dull to be funny"
    if any(token.lower in ("as", "than", "how", "however") for token in tokens[max(0, index - 3) : index]):
        return False  # "as shameful as it is scary"
    return before.lower in _COPULAS


def _verb_reads(tokens: Sequence[Token], index: int) -> bool:
    if index == 0 or index + 1 >= len(tokens) or tokens[index - 1].lower not in ("i", "we", "they"):
        return False
    if index > 1 and tokens[index - 2].lower in ("as", "than", "what", "why", "how", "if", "that", "did", "do"):
        return False
    after = tokens[index + 1]
    return after.tag in ("DT", "PRP", "PRP$", "TO", "VBG") or after.lower in ("how", "when")
