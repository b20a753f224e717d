"""Perturbations of English texts that change what is said: opposite words, negations, other numbers.

What each task may conclude is decided by logic, and only what is sure is carried: a hypothesis that says the opposite
of what follows is contradicted. docs/reference/relation-list.md lists them by task.
"""

import random
import re
from collections.abc import Mapping, Sequence
from functools import cache

from audit.packs.english.emphasis import negate
from audit.packs.english.guard import in_case_of, put
from audit.packs.english.pairs import CONTRARY, DENYING, OPPOSITE, deniable
from audit.packs.english.parser import Parse, Word, tree_of
from audit.packs.english.perturbations import SENTIMENT, UNSURE, parsed
from audit.packs.english.polarity import polar_words
from audit.packs.english.tagging import base, forms
from audit.packs.english.vocabulary import BE_FINITE, NEGATIONS, Lists, lines, phrases
from audit.relations.base import Rewritten, nothing
from audit.relations.expect import different, opinionated
from audit.relations.uses import BOTH, SECOND, Use, leading, uses
from audit.resources import data_rows
from audit.tasks.similarity import LEVELS
from audit.text import Analysis
from audit.text.tokens import Token

_LISTS = Lists("meaning")

# A word by its opposite.

_OPPOSITE = "the opposite said"
_TAGS = {
    "ADJ": ("JJ", "JJR", "JJS"),
    "ADV": ("RB", "RBR"),
    "ADP": ("IN",),
    "VERB": ("VB", "VBP", "VBZ", "VBD", "VBN", "VBG"),
}
_PLAIN_WORDS = 20
"""Words of a sentence beyond which more than its words of praise and blame says what it feels."""


@cache
def _antonyms() -> Mapping[str, Mapping[str, str]]:
    """Return form of a word -> tag -> the form of its antonym."""
    entries: dict[str, dict[str, str]] = {}
    for word, other, part, *both in data_rows("lexicons/antonyms.tsv", 3):
        for old, new in [(word, other), (other, word)][: 1 + ("both" in both)]:
            for tag in _TAGS[part]:
                inflects = part == "VERB" and tag not in ("VB", "VBP")
                for form in forms(old, tag) if inflects else (old,):
                    entries.setdefault(form, {})[tag] = forms(new, tag)[0] if inflects else new
    return entries


def opposites(text: Analysis) -> dict[int, str]:
    """Return the index of each word that has an antonym and is no part of a name or compound -> the antonym."""
    entries, tokens = _antonyms(), text.tokens
    return {
        index: new.capitalize() if token.text[0].isupper() else new
        for index, token in enumerate(tokens)
        if (new := entries.get(token.lower, {}).get(token.tag)) and _stands_free(tokens, index)
    }


def _stands_free(tokens: Sequence[Token], index: int) -> bool:
    """Return whether a word is no part of a name, of a compound with a hyphen or of a measure ("1.6 m long")."""
    after = tokens[index + 1] if index + 1 < len(tokens) else None
    before = tokens[index - 1] if index else None
    if not (tokens[index].text.islower() or (index == 0 and tokens[index].text[1:].islower())):
        return False
    if after is not None and (after.text[0] in "-–/" or (after.text[0].isupper() and after.tag.startswith("NNP"))):
        return False
    if before is None or (index > 1 and tokens[index - 2].tag == "CD"):
        return before is None
    return before.text[-1] not in "-–/" and before.lower not in _LISTS.degrees and before.tag not in ("NNS", "CD")


@parsed(
    "antonyms",
    family=_OPPOSITE,
    tasks=uses("sentiment", check=opinionated(different), expects="another label", carry=nothing),
    version="3",
)
def polar_antonyms(text: Analysis, choices: random.Random) -> str | None:
    """Every word that praises or blames is replaced by its antonym."""
    poles, new = polar_words(text), opposites(text)
    if len(set(poles.values())) != 1 or len(text.low) > _PLAIN_WORDS or not poles.keys() <= new.keys():
        return None
    tree = tree_of(text.tokens) if negate(text) is not None else None
    if tree is None:
        return None
    for place in poles:  # the main clause's verdict: "It is good", "It is a good film", "I love it"
        word, head = tree[place], tree[tree[place].head]
        verdict = word if word.relation == "ROOT" else tree[head.head] if head.relation == "attr" else head
        if verdict.relation != "ROOT" or word.relation not in ("ROOT", "acomp", "amod"):
            return None
    return text.replace(put(text.tokens, {place: new[place] for place in poles}))


@parsed(
    "antonyms",
    family=_OPPOSITE,
    tasks={
        "inference": CONTRARY,
        "similarity": leading({LEVELS[-1]: LEVELS[:-1]}, "the highest interval does not stay", texts=SECOND),
    },
    version="2",
)
def denying_antonyms(text: Analysis, choices: random.Random) -> str | None:
    """What the second text says of a definite subject is replaced by its antonym."""
    hedged = not text.words.isdisjoint(NEGATIONS | _LISTS.hedges)
    tree = None if hedged or len(text.spans) != 1 or not text.text.rstrip().endswith(".") else tree_of(text.tokens)
    new = opposites(text) if tree else {}
    ready = [place for place in sorted(new) if tree and _is_said(tree, tree[place])]
    place = choices.choice(ready) if ready else None
    return None if place is None else text.replace(put(text.tokens, {place: new[place]}))


def _is_said(tree: Parse, word: Word) -> bool:
    """Return whether a word is what the main clause says of a definite subject: "The door is open." """
    root = word if word.relation == "ROOT" else tree[word.head]
    subject, own = tree.subject(root.index), {child.relation for child in tree.children(word.index)}
    if root.relation != "ROOT" or not tree.is_finite(root.index) or subject is None or subject.index > root.index:
        return False
    if any(child.lower == "of" for child in tree.children(word.index)):
        return False  # "full of notes"
    if word is root:
        said = not own & {"conj", "xcomp", "ccomp", "prt", "auxpass", "advmod", "acomp"}
    elif word.relation == "prep":  # "after an hour" need not be false where "before an hour" is true
        said = _LISTS.lasting.isdisjoint(near.lower for near in tree[word.index : word.index + 4])
    else:
        said = root.lower in BE_FINITE if word.relation == "acomp" else (word.relation, word.tag) == ("advmod", "RB")
    first = tree.under(subject.index)[0]
    return said and (first.lower in _LISTS.definite or (subject.tag == "NNP" and first is subject))


# A negation taken out, or put in beside the opposite.


@parsed("negation-removed", family=DENYING, tasks=UNSURE | OPPOSITE, version="2")
def negation_removed(text: Analysis, choices: random.Random) -> str | None:
    """The negation of a main verb is left out, where it is the only one in its sentence."""
    if len(text.spans) != 1 or not _LISTS.barring.isdisjoint(text.words) or not deniable(text):
        return None
    tree = tree_of(text.tokens) or Parse()
    denied = [word for word in tree if word.low in NEGATIONS]
    new = _affirmed(tree, tree.roots()[0], denied[0]) if len(denied) == 1 else None
    return text.replace(new) if new else None


@parsed(
    "negation-removed",
    family=DENYING,
    tasks={"sentiment": Use(check=different, expects="another label", carry=nothing, unit="sentence", default=False)},
    version="2",
)
def opinion_affirmed(text: Analysis, choices: random.Random) -> str | None:
    """The negation of a main verb is left out, where it is the only one in its sentence."""
    affirmed = negation_removed(text, choices)
    return affirmed if affirmed and negate(Analysis(affirmed)) else None


def _affirmed(tree: Parse, verb: Word, denial: Word) -> dict[int, str] | None:
    """Return the tokens that change where a main verb's negation goes."""
    tensed = tree.tensed(verb.index)
    if tensed is None or denial.head != verb.index:
        return None
    if denial.low == "cannot":
        return {denial.index: "can"}
    follows = tree[denial.index + 1].text if denial.index + 1 < len(tree) else "."
    if denial.index != tensed.index + 1 or denial.relation != "neg" or not follows[0].isalnum():
        return None
    if tensed.low in ("do", "does", "did"):
        tag = {"does": "VBZ", "did": "VBD"}.get(tensed.low)
        inflected = forms(verb.low, tag) if tag else (verb.text,)
        if verb is tensed or verb.tag != "VB" or not inflected or verb.low in ("be", "have", "need"):
            return None
        return {denial.index: "", tensed.index: "", verb.index: inflected[0]}
    whole = {"ca": "can", "wo": "will"}.get(tensed.low)
    return {denial.index: ""} | ({tensed.index: whole} if whole else {})


_VERBS = dict.fromkeys(("hate", "dislike", "loathe", "detest", "despise"), "like") | {"lack": "have"}
"""Verbs that blame or miss something, and those whose denial says so, too."""


@parsed("double-denial", family=DENYING, tasks=uses("classification", "sentiment", "similarity"), version="2")
def double_denial(text: Analysis, choices: random.Random) -> str | None:
    """A word that blames becomes "not" and its opposite: "boring", "not interesting"; "lacks", "does not have"."""
    tree = tree_of(text.tokens) or Parse()
    if (len(text.spans) == 1 and not _LISTS.comparing.isdisjoint(text.low)) or "yes" in text.low:
        return None
    new = [{word.index: denied} for word in tree if (denied := _denied_adjective(tree, word))]
    new += [{word.index: denied} for word in tree if (denied := _denied_verb(tree, word))]
    return text.replace(choices.choice(new)) if new else None


def _denied_adjective(tree: Parse, word: Word) -> str | None:
    """Return what an adjective becomes that is all that a positive clause says of its subject."""
    opposite, verb = _denied().get(word.text), tree[word.head]
    if opposite is None or word.relation != "acomp" or tree[word.index - 1] is not verb:
        return None
    if sum(other.low == word.low for other in tree) > 1 or verb.low not in BE_FINITE | {"'s", "'re", "'m"}:
        return None
    subject = tree.subject(verb.index)
    if subject is not None and not _LISTS.quantified.isdisjoint(word.low for word in tree.under(subject.index)):
        return None
    own = {child.relation for child in tree.children(word.index)}
    beside = {child.relation for child in tree.children(verb.index)}
    after = [word.low for word in tree[word.index + 1 :]] or ["."]
    alone = not own & {"advmod", "conj", "cc", "npadvmod", "neg", "ccomp", "advcl"} and not beside & {"neg", "advmod"}
    plain = after[0] in _LISTS.after_blame and NEGATIONS.isdisjoint(after)
    return f"not {opposite}" if alone and plain and verb.relation in ("ROOT", "conj", "ccomp", "relcl") else None


def _denied_verb(tree: Parse, word: Word) -> str | None:
    """Return a finite verb denied by "do" and "not", where it has an object and nothing else speaks of it."""
    opposite, helper = _VERBS.get(base(word.low) or ""), {"VBZ": "does", "VBP": "do", "VBD": "did"}.get(word.tag)
    thing = tree.child(word.index, "dobj")
    if opposite is None or helper is None or thing is None or thing.index < word.index or word.text != word.low:
        return None
    if any(child.relation in ("neg", "advmod", "aux", "mark") for child in tree.children(word.index)):
        return None
    subject, start = tree.subject(word.index), max(0, word.index - 6)
    beside = [*tree.under(thing.index), *(tree.under(subject.index) if subject else ()), *tree[start : word.index]]
    counted = not (_LISTS.quantified | _LISTS.counts).isdisjoint(near.low for near in tree[start:])
    return None if counted or any(near.low in NEGATIONS for near in beside) else f"{helper} not {opposite}"


@cache
def _denied() -> Mapping[str, str]:
    """Return adjective -> the one whose denial says much the same."""
    return {word: opposite for word, opposite, *_ in data_rows("lexicons/denied.tsv", 2)}


# Numbers.

_NAMED = dict(enumerate(lines("meaning.spelled"), 2))
_SPELLED = {word: value for value, word in _NAMED.items()}
_FIGURES = re.compile(rf"\d+|\b(?:one|{'|'.join(_SPELLED)})\b")
_QUANTITIES, _GRADED, _ASKED = (phrases(f"meaning.{name}") for name in ("quantities", "graded", "asked"))
"""What may say the same as a figure; judgements by number and sums, which another number would make wrong; what a
question has whose answer may be a number."""
_DRAWS = 30


@parsed(
    "numbers",
    family="other numbers",
    tasks=SENTIMENT | UNSURE | uses("similarity", "question-answering", texts=BOTH),
    by="input",
    version="3",
)
def numbers(texts: Sequence[Analysis], choices: random.Random) -> Rewritten | None:
    """Numerals are replaced by others about as large, the same ones alike in all texts."""
    low = [text.text.lower() for text in texts]
    if not _FIGURES.search(low[0]):
        return None
    of_texts, shown = [_numbers_in(text) for text in texts], [set(_FIGURES.findall(text)) for text in low]
    chosen = {number for places in of_texts for number in places.values()}
    if asks(texts):
        chosen = set(of_texts[1].values())
        if not chosen <= set(of_texts[0].values()) or _ASKED.search(low[1]):
            return None
    elif len(texts) == 2 and (any(map(_QUANTITIES.search, low)) or (all(shown) and shown[0] != shown[1])):
        return None
    if any(chosen & (figures - set(places.values())) for figures, places in zip(shown, of_texts, strict=True)):
        return None  # it stands where it may not be replaced as well
    dated = {number for number in chosen if any(f"{month} {number}" in "\n".join(low) for month in _LISTS.months)}
    new = _others(sorted(chosen), dated, set().union(*shown), choices)
    if not new:
        return None
    other = [{at: new[number] for at, number in places.items() if number in new} for places in of_texts]
    return Rewritten(
        tuple(
            text.replace({at: in_case_of(text.tokens[at].text, word) for at, word in words.items()})
            for text, words in zip(texts, other, strict=True)
        )
    )


def _numbers_in(text: Analysis) -> dict[int, str]:
    """Return the index of each number of a text -> the number; empty where one of them may be no other."""
    tree = (tree_of(text.tokens) if _FIGURES.search(text.text.lower()) else None) or Parse()
    figures = [word for word in tree if any(map(str.isdigit, word.text)) or (word.tag == "CD" and word.low != "one")]
    plain = all(_may_change(text.text, tree, word) for word in figures)
    return {word.index: word.low for word in figures} if plain else {}


def _may_change(text: str, tree: Parse, word: Word) -> bool:
    """Return whether a number counts things that are not known yet, or is a year, or a day of a month."""
    digits = re.fullmatch(r"[1-9]\d{0,3}", word.text) is not None
    if not (digits or word.low in _SPELLED) or _value(word.low) < 3:
        return False
    if opens_quotation(text[: word.start]) or _GRADED.search(text[max(0, word.start - 40) : word.end + 25].lower()):
        return False
    before = tree[word.index - 1] if word.index else None
    noun, after = tree[word.head], tree[word.index + 1 : word.index + 2]
    if before is not None and before.low in _LISTS.months:
        return _value(word.low) <= 31
    if digits and 1900 <= int(word.text) <= 2100:
        alone = not after or after[0].text[0] in ".,;!?)" or after[0].tag in ("CC", "IN", "VBD", "VBZ", "TO")
        return before is not None and before.low in ("in", "since", "until") and alone
    if word.relation != "nummod" or noun.tag != "NNS" or not word.index < noun.index <= word.index + 3:
        return False
    named = (before is not None and before.tag.startswith("NNP")) or noun.text != noun.low
    is_definite = any(child.relation in ("det", "poss", "predet") for child in tree.children(noun.index))
    # Of a text of small letters only what is plainly counted: titles cannot be told from other words.
    return not (named or is_definite) and (not text.islower() or noun.low in _LISTS.counted)


def opens_quotation(before: str) -> bool:
    """Return whether a text opens a quotation that it does not close: what follows stands between quotation marks."""
    return before.count('"') % 2 == 1 or before.count("“") > before.count("”")


def _others(numbers: Sequence[str], dated: set[str], taken: set[str], choices: random.Random) -> dict[str, str] | None:
    """Return another number for each, in the same order by size; None where none was found."""
    for _ in range(_DRAWS):
        new: dict[str, str] = {}
        for number in numbers:
            free = _near(number, taken | set(new.values()), number in dated)
            if not free:
                return None
            new[number] = choices.choice(free)
        if sorted(new, key=_value) == sorted(new, key=lambda number: _value(new[number])):
            return new
    return None


def _near(number: str, taken: set[str], day: bool) -> list[str]:
    """Return other numbers about as large: at most a fifth away, a year within nine years, a day within its month."""
    value, spelled = _value(number), number in _SPELLED
    year = 1500 <= value <= 2100
    reach = 9 if year else max(2, value // 5)
    top = 28 if day else 20 if spelled else 2025 if year else 9999
    near = [other for other in range(max(3, value - reach), min(top, value + reach) + 1) if other != value]
    shown = [_NAMED[other] if spelled else str(other) for other in near]
    free = [new for new in shown if new not in taken and (spelled or len(new) == len(number))]
    if value % 10 == 0 and value >= 20 and not spelled and not year:
        return [new for new in free if int(new) % (100 if value % 100 == 0 else 10) == 0] or free
    return free


def _value(number: str) -> int:
    return _SPELLED.get(number) or int(number)


def asks(texts: Sequence[Analysis]) -> bool:
    """Return whether the second of two texts is a question about the first."""
    return len(texts) == 2 and texts[1].text.rstrip().endswith("?") and not texts[0].text.rstrip().endswith("?")
