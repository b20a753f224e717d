"""One noun phrase of an English sentence in the other number, with everything that agrees with it.

`changes` finds the phrases where that is safe: an object or a complement of a preposition, or a subject with its verb
right behind it. Determiner, noun, verb and a following "who is" are mended together. Where something else in the
sentence may refer to the phrase ("it", "they", "each") nothing is offered.
"""

from collections.abc import Mapping, Sequence
from functools import cache

from audit.errors import AuditError
from audit.packs.english.emphasis import article
from audit.packs.english.tagging import base, forms, is_form, plural, singular
from audit.packs.english.vocabulary import NEGATIONS, QUOTING
from audit.resources import data_file
from audit.text.tokens import Token, words

# What may refer to a phrase. Changed to a plural, "it" no longer fits; changed to a singular, "they" does not.
_TO_THINGS = words("it its itself")
_TO_PERSONS = words("he his him himself she her hers herself")
_TO_SEVERAL = words(
    "they their them theirs themselves each both other others together another between among many all most "
    "none half some few"
)
_COUNTING = words("one ones single sole lone same whole entire various different numerous countless such whose")
_PERSONS = words(
    "actor actress performer character hero villain alien ghost vampire zombie monster killer gangster cop soldier "
    "teacher student kid brother sister friend critic viewer fan reviewer dancer singer musician comedian writer "
    "author artist woman man girl boy teenager lawyer doctor scientist creature victim witness prisoner guard thief "
    "crook heroine protagonist director filmmaker screenwriter animal dog cat horse"
)
_TO_PLURAL = {"this": "these", "that": "those", "the": "the", "a": "some", "an": "some"}
_TO_SINGULAR = {"these": "this", "those": "that", "the": "the", "some": "a"}
_POSSESSIVES = words("my your our his her their its")
_DETERMINERS = _TO_PLURAL.keys() | _TO_SINGULAR.keys() | _POSSESSIVES
_OWNED_BY_MANY = words("film movie story tale song joke novel sequel remake episode scene review comment")
"""Nouns of which "his" or "my" may as well have one as several."""
_VERBS_TO_PLURAL = {"is": "are", "was": "were", "has": "have", "does": "do"}
_VERBS_TO_SINGULAR = {"are": "is", "were": "was", "have": "has", "do": "does"}
_SOME_VERBS = words(
    "has have had contains includes features offers shows see saw seen watch watched make makes made making write know "
    "wrote knew use uses used add adds tell tells told bring brings brought delivers delivered provides provided gives "
    "gave buy bought rent rented read find found"
)
_PREPOSITIONS = words(
    "of in with about from by for on at to through during into behind of against after before despite"
)
_PARTS = words(
    "percent one some most all none many each both rest number lot lots couple bunch kind sort type part half "
    "majority few any "
    "series pair group cast combination mix mixture blend variety collection string array bit piece middle best worst "
    "remainder portion blend host handful trio kind pile stream hour minute out because"
)
_CLAUSE_OPENERS = words("that because when if while although though since and but as where so yet then")
_PLURAL_ONLY = words("between among amongst throughout of")
_LINKING = words("tend turn become remain seem appear make prove surround")


_FORMS = {
    "is": ("am", "is", "are"), "was": ("was", "was", "were"), "has": ("have", "has", "have"), "does": ("do", "does", "do"),
}  # fmt: skip
_FULL = {
    "are": "is",
    "am": "is",
    "'s": "is",
    "'re": "is",
    "'m": "is",
    "were": "was",
    "have": "has",
    "'ve": "has",
    "do": "does",
}


def agree(verb: Token, number: str) -> str | None:
    """A finite verb or auxiliary as it agrees with a subject: `first` (I), `singular` or `plural`. A contraction is
    written in full; None for what is no form of a known verb.

    >>> from audit.text import Analysis
    >>> [agree(Analysis(text).tokens[1], "plural") for text in ("It is", "It works", "It went")]
    ['are', 'work', 'went']
    """
    word = verb.lower.replace("’", "'")
    full = _FULL.get(word, word)
    if full in _FORMS:
        new = _FORMS[full][("first", "singular", "plural").index(number)]
    elif verb.tag in ("MD", "VBD"):
        new = word
    else:
        lemma = base(word)
        found = (lemma,) if number != "singular" else forms(lemma or "", "VBZ")
        if lemma is None or not found:
            return None
        new = found[0]
    return new.upper() if verb.text.isupper() and len(verb.text) > 1 else new


@cache
def countables() -> tuple[Mapping[str, str], Mapping[str, str]]:
    """(singular -> plural, plural -> singular) of the nouns in data/lexicons/countables.tsv."""
    many: dict[str, str] = {}
    for use, noun in _rows():
        form = plural(noun)
        if form and use:
            many[noun] = form
    return many, {form: noun for noun, form in many.items()}


@cache
def _review_nouns() -> frozenset[str]:
    """Nouns of which a review has one: "the film" stays."""
    return frozenset(noun for use, noun in _rows() if use == "any")


def _rows() -> list[tuple[str, str]]:
    path = data_file("lexicons/countables.tsv")
    rows = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line or line.startswith("#"):
            continue
        use, tab, nouns = line.partition("\t")
        if not tab or use not in ("the", "any"):
            raise AuditError(f"{path.name}, line {number}: need `the` or `any`, a tab, and nouns")
        rows += [(use, noun) for noun in nouns.split()]
    return rows


def changes(tokens: Sequence[Token]) -> list[dict[int, str]]:
    """One set of replacements (token index -> text) for each noun phrase whose number can be changed safely.

    >>> from audit.text import Analysis
    >>> text = Analysis("The scenes are dull.")
    >>> [text.replace(change) for change in changes(text.tokens)]
    ['The scene is dull.']
    """
    plurals, singulars = countables()
    present = frozenset([token.lower for token in tokens])
    if (
        (plurals.keys().isdisjoint(present) and singulars.keys().isdisjoint(present))
        or "?" in present
        or present & _COUNTING
    ):
        return []
    result = []
    quoted = False
    for index, token in enumerate(tokens):
        if token.text in QUOTING:
            quoted = not quoted
        word = token.lower
        to_plural = word in plurals
        if quoted or not (to_plural or word in singulars) or not token.text.islower():
            continue
        if token.tag != ("NN" if to_plural else "NNS"):
            continue
        change = _phrase(tokens, index, to_plural, present)
        if change:
            result.append(change)
    return result


def _phrase(tokens: Sequence[Token], head: int, to_plural: bool, present: frozenset[str]) -> dict[int, str] | None:
    start = _determiner(tokens, head)
    if start is None:
        return None
    word, determiner = tokens[head].lower, tokens[start].lower
    noun = word if to_plural else str(singular_of(word))
    referring = _TO_SEVERAL if not to_plural else _TO_PERSONS if noun in _PERSONS else _TO_THINGS
    if referring & (present - {determiner}):
        return None
    both = (noun, countables()[0][noun])
    if sum(token.lower in both for token in tokens) > 1:
        return None  # "the scene is longer than any other scene"
    new_head = countables()[0][noun] if to_plural else noun
    if noun in _review_nouns() and determiner == "the":
        return None
    if determiner in _POSSESSIVES and noun not in _OWNED_BY_MANY:
        return None
    if determiner in ("this", "that") and noun in _PERSONS:
        return None  # somebody certain: the writer of the review, the actor
    if determiner in ("a", "an") and not _several(tokens, start, noun):
        return None
    new = {head: new_head}
    if determiner not in _POSSESSIVES:
        table = _TO_PLURAL if to_plural else _TO_SINGULAR
        if determiner not in table:
            return None
        new_determiner = table[determiner]
        if new_determiner == "a":
            new_determiner = article("a", tokens[start + 1].text if start + 1 < head else new_head)
        if new_determiner != determiner:
            new[start] = new_determiner.capitalize() if tokens[start].text[0].isupper() else new_determiner
    if to_plural and determiner in _POSSESSIVES and head + 1 < len(tokens) and tokens[head + 1].text == ",":
        return None  # "her movie, Jesus is Magic"
    behind = _behind(tokens, head, to_plural)
    if behind is None:
        return None
    role = _role(tokens, start, head, determiner)
    if role is None:
        return None
    if role == "subject":
        agreed = _agree(tokens, head + 1, to_plural)
        return None if agreed is None else {**new, **agreed}
    return {**new, **behind}


def _several(tokens: Sequence[Token], start: int, noun: str) -> bool:
    """Whether "some" and a plural read well in place of "a": not for the person or the film that is reviewed."""
    if noun in _PERSONS or any(token.tag in ("JJS", "RBS") for token in tokens[:start]):
        return False
    return not (start and tokens[start - 1].tag == "IN" and noun in _review_nouns())


def singular_of(word: str) -> str | None:
    """The singular that the list of countable nouns has for a plural."""
    return countables()[1].get(word) or singular(word)


def _determiner(tokens: Sequence[Token], head: int) -> int | None:
    """Index of the phrase's determiner; only adjectives may stand between it and the noun."""
    at = head - 1
    while at >= 0 and head - at < 4 and tokens[at].tag in ("JJ", "RB") and tokens[at].text[0].isalpha():
        if tokens[at].lower in ("not", "more", "as", "so", "too", "first", "second", "third", "last", "next", "final"):
            return None
        at -= 1
    if at < 0 or tokens[at].lower not in _DETERMINERS:
        return None
    return None if tokens[at].tag not in ("DT", "PRP$", "IN") else at


def _role(tokens: Sequence[Token], start: int, head: int, determiner: str) -> str | None:
    """ "subject", "object" or None where neither is certain."""
    before = tokens[start - 1] if start else None
    after = tokens[head + 1] if head + 1 < len(tokens) else None
    verb_follows = after is not None and (after.tag in ("VBZ", "VBP", "VBD", "MD") or after.lower in _VERBS_TO_PLURAL)
    if before is None or before.lower in _CLAUSE_OPENERS or (before.text == "," and start < 6):
        if before is not None and before.lower in ("and", "as", "but") and not verb_follows:
            return None
        if before is not None and before.lower == "and" and start > 1 and tokens[start - 2].tag[:2] in ("NN", "PR"):
            return None  # "the plot and the scenes are"
        return "subject" if verb_follows and determiner not in ("a", "an", "some") else None
    if verb_follows:
        return None
    if any(token.lower in NEGATIONS for token in tokens[:start]) and determiner in ("a", "an", "some"):
        return None
    if before.tag.startswith("VB"):
        if base(before.lower) in (None, "be", "become", "seem", "remain", "call", "look", "consider", "feel"):
            return None
        if determiner in ("a", "an", "some"):
            return "object" if before.lower in _SOME_VERBS else None
        return "object"
    if before.tag in ("IN", "TO") and before.lower in _PREPOSITIONS:
        if determiner in ("a", "an", "some"):
            return "object" if before.lower in ("with", "about") else None
        return None if before.lower in _PLURAL_ONLY and not _of_plain(tokens, start) else "object"
    return None


def _of_plain(tokens: Sequence[Token], start: int) -> bool:
    """Whether the noun before "of" asks for no certain number: not "one of", "most of", "a pair of"."""
    if start < 2 or tokens[start - 1].lower != "of":
        return False
    return tokens[start - 2].tag == "NN" and tokens[start - 2].lower not in _PARTS


def _behind(tokens: Sequence[Token], head: int, to_plural: bool) -> dict[int, str] | None:
    """Replacements for words behind the noun that agree with it; None where that is not certain."""
    if head + 1 >= len(tokens):
        return {}
    after = tokens[head + 1]
    if after.text[0] in "-–/'’&" or after.tag.startswith(("NN", "CD", "JJ", "VBG", "VBN")):
        return None
    if after.lower in ("and", "or", "of", "to", "as", "than", "but", "out", "between") or after.tag == "WRB":
        return None
    noun = tokens[head].lower
    if to_plural and after.text == "," and noun in _PERSONS:
        return None  # "his sister, Sofia"
    if after.tag == "RB" and head + 2 < len(tokens) and tokens[head + 2].tag in ("VBZ", "VBP"):
        return None
    if any(token.tag in ("WDT", "WP") or token.lower in ("who", "which") for token in tokens[head + 2 :]):
        return None  # "a girl in England who idolizes"
    if after.lower in ("that", "who", "which"):
        if head + 2 >= len(tokens):
            return None
        verb = tokens[head + 2]
        if verb.tag in ("PRP", "DT", "PRP$"):
            return {}
        return _agree(tokens, head + 2, to_plural)
    return {}


def _agree(tokens: Sequence[Token], at: int, to_plural: bool) -> dict[int, str] | None:
    """Replacements that make the finite verb at `at` agree; None where that is not certain."""
    verb, word = tokens[at], tokens[at].lower
    follow = at + 1
    while follow < len(tokens) and tokens[follow].tag == "RB":
        follow += 1
    after = tokens[follow] if follow < len(tokens) else None
    if _second_verb(tokens, at):
        return None
    table = _VERBS_TO_PLURAL if to_plural else _VERBS_TO_SINGULAR
    if word in ("is", "are", "was", "were"):
        # "the film is a mess": the predicate would have to change as well.
        kind = (
            after is not None
            and after.tag in ("JJ", "VBN", "VBG", "IN")
            and after.lower not in ("that", "if", "like", "about")
        )
        fits = kind and not _predicate_noun(tokens, follow)
        return {at: table[word]} if fits and word in table else None
    if word in table and verb.text.islower():
        return {at: table[word]}
    participle = verb.tag == "VBD" and after is not None and after.tag == "IN" and is_form(word, "VBN")
    if participle or _names_something(tokens, at):  # "the character played by her"
        return None
    if verb.tag == "MD" or (verb.tag == "VBD" and word not in table):
        return {}
    lemma = base(word)
    if lemma is None or lemma in _LINKING or not verb.text.islower():
        return None
    if to_plural and verb.tag == "VBZ" and is_form(word, "VBZ"):
        return {at: lemma}
    if not to_plural and verb.tag in ("VBP", "VB") and word == lemma:
        third_person = forms(lemma, "VBZ")
        return {at: third_person[0]} if third_person else None
    return None


def _names_something(tokens: Sequence[Token], at: int) -> bool:
    """Whether the verb group ends in a noun that has the subject's number: "must have been the worst film"."""
    for index in range(at, min(at + 5, len(tokens) - 1)):
        if tokens[index].lower in ("be", "been", "became", "become", "remained"):
            return tokens[index + 1].tag in ("DT", "NN", "NNS", "PRP$") or _predicate_noun(tokens, index + 1)
    return False


def _predicate_noun(tokens: Sequence[Token], at: int) -> bool:
    """Whether adjectives from `at` on end in a noun: "is good fun"."""
    while at < len(tokens) and tokens[at].tag in ("JJ", "RB", "CC", ",", "VBN"):
        at += 1
    return at < len(tokens) and tokens[at].tag.startswith("NN")


def _second_verb(tokens: Sequence[Token], at: int) -> bool:
    """Whether a second verb in the sentence may have the same subject: "the scenes are long and make no sense"."""
    if at + 1 < len(tokens) and tokens[at + 1].tag == "CC":
        return True
    for index in range(at + 1, len(tokens)):
        if tokens[index].tag in ("VBZ", "VBP") and tokens[index - 1].tag in ("CC", ",", "RB"):
            return True
        if tokens[index].text in ".;:":
            return False
    return False
