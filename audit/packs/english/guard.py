"""What every rewriting of an English text shares: what it leaves alone, capitals and articles, and the one guard that
its result has to pass.

`reads_well` parses the follow-up: the parser must see the structure that the source has, and determiners, subjects and
verbs must agree in number. A rewriting can therefore be short: what the parser mistook looks different afterwards.
"""

import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TypeVar

from audit.packs.english.parser import Parse, Word, tree_of
from audit.packs.english.tagging import base, forms, known_as
from audit.packs.english.vocabulary import FINITE, QUOTING, Lists
from audit.text.analysis import Analysis
from audit.text.tokens import Token

_Candidate = TypeVar("_Candidate")

# Protected spans. No pattern may begin anywhere inside a long unbroken word, or looking takes quadratic time.

_PROTECTED = re.compile(
    r"""
      (?<!\w)\w{1,20}://\S+ | (?<!\w)www\.\S+ | (?<![\w.+-])[\w.+-]{1,64}@[\w.-]{1,99}\.\w+ # addresses
    | (?<![\w.-])[\w-]{1,60}(?:\.[\w-]{1,60})*\.(?:com?|org|net|edu|gov|ly|io|py|js|txt|html?)\b\S*
    | (?<!\w)[@#]\w[\w-]*                                                               # handles, hashtags
    | (?s:```.*?```) | `[^`\n]+` | \b\w*_\w+\b | \b\w+\(\) | (?-i:\b[a-z]+[A-Z]\w*)      # code
    | </?\w[^<>\n]*> | &\#?\w+; | \[[^\]\n]{,200}\]\([^)\n]*\)                          # markup
    | [$£€]?(?<![\d.,:])\d[\d.,:]*\s?(?:%|[ckm]?m|[km]?g|[kmgt]?b|mp|fps|hz|inch|inches|volts?|watts?)\b
    """,
    re.VERBOSE | re.IGNORECASE,
)
_MAY_BE = re.compile(r"[@#`_<&(\d/]|\w\.\w|[a-z][A-Z]")


def _protected_spans(text: str) -> list[tuple[int, int]]:
    return [match.span() for match in _PROTECTED.finditer(text)] if _MAY_BE.search(text) else []


def outside(pattern: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    """Yield where a pattern matches outside of addresses, handles, hashtags, markup, code, and numbers with units."""
    spans, at = _protected_spans(text), 0
    for match in pattern.finditer(text):
        while at < len(spans) and spans[at][1] <= match.start():
            at += 1
        if at == len(spans) or match.end() <= spans[at][0]:
            yield match


def replaced_outside(pattern: re.Pattern[str], new: Callable[[re.Match[str]], str], text: str) -> str:
    """Return the text with each of these matches replaced, as `re.sub` does."""
    parts, at = [], 0
    for match in outside(pattern, text):
        parts += [text[at : match.start()], new(match)]
        at = match.end()
    return "".join([*parts, text[at:]])


@lru_cache(maxsize=1024)
def protected(text: Analysis, quotations: bool = True) -> frozenset[int]:
    """Return the indices of the tokens that no rewriting may touch: in protected spans and, unless told otherwise, in
    quotations."""
    spans, inside, quoted, at = _protected_spans(text.text), set[int](), False, 0
    for index, token in enumerate(text.tokens):
        while at < len(spans) and spans[at][1] <= token.start:
            at += 1
        if quotations and (token.text in QUOTING or token.text == "''"):
            quoted = not quoted
        elif quoted or (at < len(spans) and spans[at][0] <= token.start):
            inside.add(index)
    return frozenset(inside)


_QUOTATION = re.compile(r"""(?P<both>"|''|[“”])|(?P<open>\()|(?P<close>\))""")
_FAR = 400
"""Characters between two marks beyond which they hold nothing together: one may be an inch, or a face."""


def passages(text: Analysis) -> Analysis:
    """Return the text with the sentences that a quotation or a bracket holds together as one."""
    held: list[tuple[int, int]] = []
    opened: dict[str, int] = {}
    for match in _QUOTATION.finditer(text.text):
        kind = "bracket" if match["both"] is None else "quotation"
        if kind in opened and match["open"] is None:
            start = opened.pop(kind)
            held += [(start, match.end())] if match.end() - start <= _FAR else []
        elif match["close"] is None:
            opened[kind] = match.start()
    spans: list[tuple[int, int]] = []
    for start, end in text.spans:
        if spans and any(first < spans[-1][1] and start < last for first, last in held):
            start = spans.pop()[0]
        spans.append((start, end))
    joined = Analysis(text.text, text.language, text.tagger)
    joined.spans = tuple(spans)
    return joined


# Articles and capitals.


def article(before: str, after: str) -> str:
    """Return the article `before` ("a", "an", in any case) as it reads before a word; another word as it is."""
    if before.lower() not in ("a", "an"):
        return before
    lower = after.lower().lstrip("\"'“‘([")
    consonant = lower.startswith(("uni", "use", "usu", "eu", "one", "once", "ubiq", "utop", "u."))
    vowel = lower.startswith(("hour", "honest", "honor", "honour", "heir", "unin", "unim", "unid", "8", "11", "18"))
    return in_case_of(before, "an" if vowel or (lower[:1] in tuple("aeiou") and not consonant) else "a")


def in_case_of(example: str, text: str) -> str:
    """Return the text in the letter case of the example: upper, Capitalised or as it is."""
    if example.isupper() and (len(example) > 1 or not text[0].isalpha()):
        return text.upper()
    return text[0].upper() + text[1:] if example[:1].isupper() else text


def put(tokens: Sequence[Token], new: Mapping[int, str]) -> dict[int, str]:
    """Return tokens to replace, and with them each "a" or "an" right before that becomes the other."""
    before = {index - 1: tokens[index - 1].text for index in new if index and index - 1 not in new}
    mended = {at: article(old, new[at + 1]) for at, old in before.items()}
    return {**new, **{at: word for at, word in mended.items() if word != before[at]}}


def opens_sentence(tokens: Sequence[Token], index: int) -> bool:
    """Return whether a token is the first of its sentence, a handle left out: there a capital says nothing."""
    return not index or tokens[index - 1].text[-1] in '.!?"“' or (index > 1 and tokens[index - 2].text == "@")


_CAPITALS = Lists("capitals")


def keeps_capital(tree: Parse, index: int) -> bool | None:
    """Return whether the first word of a sentence keeps its capital inside one; None where that cannot be told: it may
    begin a title."""
    word = tree[index]
    if word.text[0].islower() or word.text == "I" or (len(word.text) > 1 and not word.text[1:].islower()):
        return True
    if word.tag in ("NNP", "NNPS") and not word.lower.endswith(("ness", "ments", "tion", "tions")):
        return True
    if word.tag in _CAPITALS.closed_tags or word.lower in _CAPITALS.quantifiers:
        return False
    if word.tag in ("JJ", "NNS") and not known_as(word.lower, "ADJ", "NOUN"):
        return True
    after = tree[index + 1] if index + 1 < len(tree) else None
    titled = after is not None and after.text[0].isupper() and after.text != "I" and word.tag != "DT"
    return None if titled or word.lower in _CAPITALS.names else False  # "Paper Moon", but "the Senate"


def is_statement(text: Analysis) -> bool:
    """Return whether the first sentence of a text is a clause with subject and finite verb that opens with no link to
    a sentence before it, and no other clause stands before its own: "It rains, he said"."""
    tree = tree_of(text.tokens)
    if (
        tree is None
        or not tree[0].text[0].isalpha()
        or tree[0].lower in _CAPITALS.linking
        or tree[0].tag in ("CC", "UH")
    ):
        return False
    root = next((word for word in tree.roots() if tree.under(word.index)[0].index == 0), None)
    if root is None or not tree.is_finite(root.index) or _CAPITALS.going_on & {*text.low[1:2]}:
        return False  # "In addition, ...", "Note: ..."
    subject = tree.subject(root.index)
    led = any(word.index < root.index and word.relation == "ccomp" for word in tree.children(root.index))
    return subject is not None and subject.index < root.index and not led


def inside_sentence(text: Analysis) -> str | None:
    """Return a text as it is written behind the beginning of a sentence: its first word without the capital that only
    opened it. None where that cannot be told, or the text does not begin with a plain statement."""
    tree = tree_of(text.tokens)
    if tree is None or not is_statement(text) or (keeps := keeps_capital(tree, 0)) is None:
        return None
    start = tree[0].start
    return text.text if keeps else text.text[:start] + lower_first(text.text[start:])


def uncapitalized(text: Analysis, tree: Parse, begin: int, end: int) -> str | None:
    """Return the words tree[begin:end] as text, without the capital that only opened a sentence; None where that
    cannot be told."""
    keeps, clause = keeps_capital(tree, begin), text.text[tree[begin].start : tree[end - 1].end]
    return None if keeps is None else clause if keeps else lower_first(clause)


def lower_first(text: str) -> str:
    """Return the text with its first letter in lower case."""
    return text[0].lower() + text[1:]


# The guard.

_LISTS = Lists("guard")
_NUMBERS = {"NN": "singular", "NNP": "singular", "NNS": "plural", "NNPS": "plural"}


def reads_well(
    before: Analysis, after: str, origins: Sequence[int | None] = (), roles: Mapping[int, int] | None = None
) -> bool:
    """Return whether the parser sees the structure of the source in a follow-up, and everything agrees in number that
    did.

    `origins` has the index in the source of each token of the follow-up, None for a new one; without it they are the
    same. `roles`: index of a word in the source -> index of the word whose place in the tree it takes, so that what
    hangs on the one hangs on the other; a word with its own index keeps its head.
    """
    old, new = tree_of(before.tokens), tree_of(Analysis(after).tokens)
    places, roles = origins or range(len(before.tokens)), roles or {}
    if old is None or new is None or len(new) != len(places):
        return False
    pairs = [(word, origin) for word, origin in zip(new, places, strict=True) if origin is not None]
    changed = {origin for word, origin in pairs if word.lower != old[origin].lower} | roles.keys()
    for word, origin in pairs:
        was = old[roles.get(origin, origin)]
        if was.relation in _LISTS.loose or changed.isdisjoint((origin, old[origin].head)):
            continue  # far from what has changed, a parser may waver
        head = was.head if roles.get(origin) == origin else roles.get(was.head, was.head)
        if word.relation != was.relation or places[word.head] != head:
            return False
    return {places[index] for index in disagreeing(new)} <= disagreeing(old)


def sound(tree: Parse) -> bool:
    """Return whether the parse of a text hangs together: no finite verb may be another word, and no other word a
    finite verb."""
    return not any(_is_doubtful(tree, word) for word in tree)


def _is_doubtful(tree: Parse, word: Word) -> bool:
    relations = [child.relation for child in tree.children(word.index)]
    following = tree[word.index + 1].tag if word.index + 1 < len(tree) else "."
    if word.tag in ("POS", "PRP$"):  # "the film's not bad", "its a film"
        return following in (("RB", "DT", "VBG") if word.tag == "POS" else ("DT", "VBG", "IN", "PRP", "MD"))
    if word.tag[:2] != "VB" and word.tag != "MD":
        hidden = word.tag == "NNS" and known_as(word.lower, "VERB") and not known_as(word.lower, "NOUN")
        governs = "dobj" in relations or ("nsubj" in relations and word.relation != "ccomp")
        return hidden or governs or (word.relation == "relcl" and word.tag[:2] == "NN")
    if relations.count("nsubj") > 1 or (word.relation in _LISTS.nominal and word.tag in FINITE):
        return True  # "hope all is well"
    return word.tag not in ("VBG", "MD") and _has_doubtful_form(tree, word, tree.subject_of(word), relations)


def _has_doubtful_form(tree: Parse, word: Word, subject: Word | None, relations: list[str]) -> bool:
    head, is_auxiliary = tree[word.head], word.relation in ("aux", "auxpass")
    aided, own = "aux" in relations or "auxpass" in relations, "nsubj" in relations or "nsubjpass" in relations
    if word.tag in ("VB", "VBN") and is_auxiliary:
        return False
    if word.tag == "VB":
        joined = word.relation == "conj" and head.tag == "VB"
        led = word.relation in ("xcomp", "ccomp") and base(head.lower) in _LISTS.causatives
        return not (aided or joined or led) or (word.relation == "ROOT" and not own)
    if word.tag == "VBN":
        joined = word.relation == "conj" and head.tag != "VBN"
        return not aided and (word.relation == "ROOT" or joined or (own and word.relation != "ccomp"))
    if is_auxiliary or (subject is None and word.tag == "VBP"):
        return subject is None or word.low not in _LISTS.auxiliaries  # "Don't be late"
    if word.relation == "conj" and not own and head.tag in ("VBN", "VB"):
        return word.tag != "VBZ"  # "was displayed and fathomed", "will come and see": the form says nothing
    clash = {"plural": "VBZ", "first": "VBZ", "singular": "VBP"}.get(number_of(tree, subject) or "")
    return word.lower in forms(word.lower, "VBD") or word.tag == clash  # "they put it on" may be either tense


def number_of(tree: Parse, subject: Word | None) -> str | None:
    """Return `first` (I), singular or plural; None where it cannot be told."""
    if subject is None or (subject.relation == "expl" and subject.lower != "it") or subject.lower in _LISTS.of_many:
        return None
    if subject.lower in ("who", "which", "that") and subject.tag in ("WDT", "WP"):  # of what they stand for
        verb = tree[subject.head]
        while verb.relation == "conj":
            verb = tree[verb.head]
        noun = tree[verb.head]
        of = noun.relation == "pobj" or tree.child(noun.index, "prep")
        return None if verb.relation != "relcl" or of else number_of(tree, noun)
    if tree.child(subject.index, "conj") is not None:
        joint = tree.child(subject.index, "cc")
        return "plural" if joint is not None and joint.lower == "and" else None
    if subject.lower in _LISTS.one or subject.relation == "csubj":
        return "singular"
    return {"i": "first"}.get(subject.lower) or (
        "plural" if subject.lower in _LISTS.many else _NUMBERS.get(subject.tag)
    )


def places_of(tokens: Sequence[Token], new: Mapping[int, str]) -> list[int | None]:
    """Return, for `reads_well`, where the tokens of a text come from that `Analysis.replace` makes of these
    replacements."""
    places: list[int | None] = []
    for index, token in enumerate(tokens):
        parts = new.get(index, token.text).split()
        own = parts.index(token.text) if token.text in parts else len(parts) - 1
        places += [index if place == own else None for place in range(len(parts))]
    return places


def disagreeing(tree: Parse) -> set[int]:
    """Return the indices of determiners and subjects that do not agree with their noun or verb in number."""
    return {word.index for word in tree if not _agrees(tree, word)}


def _agrees(tree: Parse, word: Word) -> bool:
    head = tree[word.head]
    if word.relation == "det":
        return word.lower not in _LISTS.singular or head.tag not in ("NNS", "NNPS")
    tensed = tree.tensed(head.index) if word.relation in ("nsubj", "nsubjpass") and word.tag in ("NN", "NNS") else None
    clashing = {"plural": ("VBZ", "was"), "singular": ("VBP", "were")}.get(number_of(tree, word) or "", ())
    return tensed is None or not {tensed.tag, tensed.lower} & {*clashing}


def replaced(text: Analysis, new: Mapping[int, str]) -> str | None:
    """Return the text with some tokens replaced; None where that does not read well."""
    follow_up = text.replace(new)
    return follow_up if reads_well(text, follow_up, places_of(text.tokens, new)) else None


def drawn(candidates: Sequence[_Candidate], choices: random.Random) -> Iterator[_Candidate]:
    """Yield the candidates in a random order: the first that reads well is taken."""
    left = list(candidates)
    while left:
        yield left.pop(choices.randrange(len(left)))
