"""Sentences built anew from their own parts: tenses, what "and" joins, "but" and "although", comparisons."""

import re
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from itertools import pairwise
from typing import NamedTuple

from audit.packs.english.guard import (
    article,
    disagreeing,
    in_case_of,
    keeps_capital,
    lower_first,
    number_of,
    opens_sentence,
    protected,
    reads_well,
    sound,
    uncapitalized,
)
from audit.packs.english.parser import Parse, Word, tree_of
from audit.packs.english.replacing import agree
from audit.packs.english.tagging import base, forms, known_as, singular
from audit.packs.english.vocabulary import Lists, phrases
from audit.resources import absent, data_rows
from audit.text.analysis import Analysis

# From the present to the past and back, for all finite verbs at once.

_TENSE = Lists("tense")
_TENSES = {"VBZ": "present", "VBP": "present", "VBD": "past"}
_MODALS = {word: ("present", form) for word, form in (("can", "could"), ("will", "would"), ("ca", "could"))} | {
    "wo": ("present", "would"),
    "'ll": ("present", "'d"),
    "cannot": ("present", "could not"),
    "could": ("past", "can"),
    "would": ("past", "will"),
}
"""Modal -> its tense, and itself in the other one."""
_PAST = {
    "is": "was", "am": "was", "are": "were", "'m": " was", "'re": " were", "has": "had", "have": "had", "'ve": " had",
    "do": "did", "does": "did",
}  # fmt: skip
_NOW, _THEN, _FIXED = (phrases(f"tense.{name}") for name in ("now", "then", "fixed"))
"""Words of time that a sentence in the past, or in the present, would contradict; turns of phrase that keep theirs."""
_UNREAD = re.compile(r"[“”*<>]|\.\.|http")


def change_tense(text: Analysis) -> str | None:
    """Return the text with all finite verbs moved from the present to the past or from the past to the present.

    None where a verb's reading is unsure, the tenses are mixed, or a word of time contradicts the new tense.
    """
    lower = text.text.lower()
    if (
        text.words & _TENSE.unsure
        or _FIXED.search(lower)
        or _UNREAD.search(lower)
        or (tree := tree_of(text.tokens)) is None
    ):
        return None
    fixed = {at + 2 for at in range(len(tree)) if text.low[at : at + 3] == ("as", "they", "come")}
    verbs = [word for word in tree if (word.tag in _TENSES or word.tag == "MD") and word.index not in fixed]
    tenses = {_TENSES.get(verb.tag) or _MODALS.get(verb.low, ("unsure",))[0] for verb in verbs}
    if tenses not in ({"present"}, {"past"}) or (_NOW if tenses == {"present"} else _THEN).search(lower):
        return None
    if not protected(text).isdisjoint(verb.index for verb in verbs) or not sound(tree):
        return None
    if {verb.low for verb in verbs} <= {"will", "wo", "'ll"} or (
        tenses == {"past"} and {v.tag for v in verbs} == {"MD"}
    ):
        return None  # "it would please you" is no past: it waits for an "if"
    new: dict[int, str] = {}
    for verb in verbs:
        form = _past(tree, verb) if tenses == {"present"} else _present(tree, verb, verbs)
        if form is None:
            return None
        new[verb.index] = in_case_of(verb.text, form)
        if form == "am" and text.low[verb.index + 1 : verb.index + 2] == ("n't",):
            new[verb.index + 1] = " not"
    return text.replace(new)


@lru_cache(maxsize=50_000)
def _lemma(word: str, tag: str) -> str | None:
    """Return the verb that a word in lower case is this form of; None where it is none, or that of several verbs."""
    with absent("torch"):
        from lemminflect import getAllLemmas

    lemmas = getAllLemmas(word, upos="VERB").get("VERB", ())
    fit = [lemma for lemma in lemmas if (word == lemma if tag in ("VB", "VBP") else word in forms(lemma, tag))]
    return fit[0] if len(fit) == 1 else None


def _past(tree: Parse, verb: Word) -> str | None:
    if verb.low == "'s":
        helped = {word.lower for word in [*tree.children(verb.head), tree[verb.head]] if word.index > verb.index}
        return " had" if verb.relation == "aux" and helped & {"been", "had", "become", "gone", "come"} else " was"
    if verb.low in _MODALS:
        return _MODALS[verb.low][1]
    lemma = _lemma(verb.lower, verb.tag)
    return _PAST.get(verb.low) or next(iter(forms(lemma, "VBD") if lemma else ()), None)


def _present(tree: Parse, verb: Word, verbs: list[Word]) -> str | None:
    subject = tree.subject_of(verb)
    number, after = number_of(tree, subject), tree[verb.index + 1].low if verb.index + 1 < len(tree) else ""
    if verb.lower in ("could", "would"):
        told = any(_lemma(other.lower, "VBD") in _TENSE.reporting for other in verbs if other.index < verb.index)
        if verb.lower == "would" and not told:
            return None  # "I would get lost" is a habit or a condition, "I thought it would" has a present
        return {"can": "ca", "will": "wo"}[_MODALS[verb.lower][1]] if after == "n't" else _MODALS[verb.lower][1]
    if verb.lower in ("was", "were"):
        return "are" if verb.lower == "were" else "am" if number == "first" else "is"
    lemma = _lemma(verb.lower, "VBD")
    if (
        number is None
        or lemma is None
        or subject is None
        or (subject.lower in ("i", "we") and lemma not in _TENSE.states)
    ):
        return None  # "I loved it" reads well in the present, "I rented it" does not
    return next(iter(forms(lemma, "VBZ")), None) if number == "singular" else lemma


# Words and phrases joined by "and" or "or" whose order may be changed without changing what is said. Both are of one
# kind, and what modifies binds to both or to neither: "a dark and funny film" yes, "good songs and jokes" no.

_JOINED = Lists("joined")
_KINDS = {
    **dict.fromkeys(("NN", "NNS"), "noun"),
    **dict.fromkeys(("NNP", "NNPS"), "name"),
    **dict.fromkeys(("JJ", "VBN", "VBG"), "adjective"),
    **{tag: tag for tag in ("RB", "JJR", "JJS", "VBZ")},
}


class Pair(NamedTuple):
    """Two conjuncts as ranges of tokens, tokens[left:stop] and tokens[start:right], and the heads of both."""

    left: int
    stop: int
    start: int
    right: int
    first: int
    second: int


@cache
def _fixed_pairs() -> frozenset[tuple[str, str]]:
    return frozenset((_root(first), _root(second)) for first, second in data_rows("lexicons/fixed_pairs.tsv"))


def _root(word: str) -> str:
    return singular(word) or base(word) or word


def swappable(text: Analysis) -> list[Pair]:
    """Return every coordination whose conjuncts may be swapped, from left to right."""
    tree = (tree_of(text.tokens) if {"and", "or"} & text.words else None) or Parse()
    pairs = [_pair(tree, word) for word in tree if word.lower in ("and", "or")]
    return [pair for pair in pairs if pair and protected(text).isdisjoint(range(pair.left, pair.right))]


def swap(text: Analysis, pair: Pair) -> str | None:
    """Return the text with two conjuncts swapped, a/an and the capital of a first word put right; None where the
    parser would see something else in it."""
    tokens, tree = text.tokens, tree_of(text.tokens)
    cuts = [tokens[pair.left].start, tokens[pair.stop - 1].end, tokens[pair.start].start, tokens[pair.right - 1].end]
    first, joint, second = (text.text[begin:end] for begin, end in pairwise(cuts))
    if tree is not None and opens_sentence(tree, pair.left) and first[0].isupper():
        second = second[0].upper() + second[1:]
        first = lower_first(first) if keeps_capital(tree, pair.left) is False else first
    before = text.text[: cuts[0]]
    if pair.left and tokens[pair.left - 1].lower in ("a", "an"):
        before = before[: tokens[pair.left - 1].start] + article(tokens[pair.left - 1].text, second) + " "
    swapped = before + second + joint + first + text.text[cuts[3] :]
    sides = [*range(pair.left, pair.stop), *range(pair.start, pair.right)]
    roles = {index: index for index in sides} | {pair.first: pair.second, pair.second: pair.first}
    places = [*range(pair.left), *range(pair.start, pair.right), *range(pair.stop, pair.start)]
    places += [*range(pair.left, pair.stop), *range(pair.right, len(tokens))]
    plain = pair.right - pair.left == 3 and tokens[pair.first].tag == tokens[pair.second].tag == "JJ"
    return swapped if plain or reads_well(text, swapped, places, roles) else None


def _pair(tree: Parse, joint: Word) -> Pair | None:
    first = tree[joint.head]
    seconds = [word for word in tree.children(first.index) if word.relation == "conj" and word.index > joint.index]
    if joint.relation != "cc" or len(seconds) != 1:
        return None
    second, kind = seconds[0], _KINDS.get(first.tag, "")
    if not kind or (kind != _KINDS.get(second.tag) and {first.tag, second.tag} != {"JJ", "NNP"}):
        return None
    after, stop = tree.under(second.index), joint.index - (tree[joint.index - 1].text == ",")
    while after[-1].tag in (",", ".", ":"):
        after.pop()
    listed = first.relation == "conj"
    if (stop < joint.index and not listed) or (listed and tree.child(first.head, "cc") is not None):
        return None  # a comma ends a list, or a clause; "oil and gas and chemicals"
    right, starts = after[-1].index + 1, {"noun": _nouns, "name": _nouns, "VBZ": _states}.get(kind, _modifiers)
    spans = starts(tree, first, second, stop, right)
    if spans is None or spans[1] != joint.index + 1:
        return None
    pair = Pair(spans[0], stop, spans[1], right, first.index, second.index)
    return pair if _may_swap(tree, pair) else None


def _may_swap(tree: Parse, pair: Pair) -> bool:
    """Return whether neither side points to the other or has a place in time, and no pair of words is a fixed one."""
    first, second = tree[pair.left : pair.stop], tree[pair.start : pair.right]
    for word in (*first, *second):
        plain = word.text.replace("-", "").replace("'", "").isalpha()
        if word.lower in _JOINED.barred or word.tag in _JOINED.pointing_tags or not plain:
            return False
    ends = (first[0].lower, second[0].lower), (first[-1].lower, second[-1].lower)
    if first[-1].lower == second[-1].lower or any(tuple(map(_root, end)) in _fixed_pairs() for end in ends):
        return False
    opening = opens_sentence(tree, pair.left) and first[0].text[0].isupper()
    named = any(word.text[0].isupper() for word in (*first, *second)[opening:])
    if named and not (first[-1].text[0].isupper() and second[-1].text[0].isupper()):
        return False
    return not opening or keeps_capital(tree, pair.left) is not None


def _begin(tree: Parse, word: Word) -> list[Word]:
    """Return the word and what stands before it in its own phrase."""
    return [below for below in tree.under(word.index) if below.index <= word.index]


def _nouns(tree: Parse, first: Word, second: Word, stop: int, right: int) -> tuple[int, int] | None:
    """Return where the first and the second begin."""
    begins, after = [_begin(tree, word) for word in (first, second)], tree[right] if right < len(tree) else None
    if (first.index + 1, second.index + 1) != (stop, right) or (
        after is not None and after.tag in _JOINED.going_on_tags
    ):
        return None  # "keeps me out of the home and hospital with my family"
    if first.relation == "conj":
        begins[0] = [word for word in begins[0] if word.index > first.head and word.tag not in (",", "CC")]
    determiners = [tree.child(word.index, "det", "poss", "predet") for word in (first, second)]
    own, other = (len(begin) - 1 - (det is not None) for begin, det in zip(begins, determiners, strict=True))
    if (own > 0) != (other > 0) and (own > 0 or determiners[1] is None):
        return None  # "good songs and jokes"
    if determiners[1] is not None:
        low = {det.lower for det in determiners if det is not None}
        same = determiners[0] is not None and not (len(low) == 2 and low & _JOINED.unshared)
        return (begins[0][0].index, begins[1][0].index) if same else None
    if determiners[0] is not None and (
        own > 0 or determiners[0].lower in _JOINED.single or first.tag != second.tag or first.tag[:3] == "NNP"
    ):
        return None  # "a camera and lenses", "the Americas and Africa"
    return begins[0][-1 - max(own, 0)].index, begins[1][0].index


def _modifiers(tree: Parse, first: Word, second: Word, stop: int, right: int) -> tuple[int, int] | None:
    """Return where both begin: "dark and funny" before a noun or behind a verb, "slowly and carefully"."""
    verbs = {first.tag, second.tag} & {"VBN", "VBG"} and not all(
        known_as(word.lower, "ADJ") for word in (first, second)
    )
    if (first.index + 1, second.index + 1) != (stop, right) or verbs:
        return None  # "fruitful and multiplying"
    before, after = (
        [word for word in _begin(tree, head)[:-1] if word.relation == "advmod"] for head in (first, second)
    )
    if before and not after:  # said of both, or of the first alone
        return (first.index, second.index) if before[0].lower in _JOINED.shared_degrees else None
    return None if after and not before else ((before or [first])[0].index, (after or [second])[0].index)


def _states(tree: Parse, first: Word, second: Word, stop: int, right: int) -> tuple[int, int] | None:
    """Return where both begin: "It is boring and lacks humour", two states of one subject, told in no order."""
    of_one = tree.subject(first.index) is not None and tree.subject(second.index) is None
    ends = right == len(tree) or tree[right].tag in (".", ",")
    told = {base(first.lower), base(second.lower)} <= _JOINED.states
    return (first.index, second.index) if of_one and ends and told else None


# From "X, but Y" to "Although X, Y" and back, for sentences of two full clauses.

_CLAUSES = Lists("clauses")
_PAIRED = (("(", ")"), ("“", "”"), ("''", "''"), ('"', '"'))


def switch(text: Analysis) -> str | None:
    """Return the text with "although" in place of "but", or "but" in place of "although" or "though"; None where no
    sentence is two clauses that stand against each other."""
    tree = tree_of(text.tokens) if text.words & {"but", "although", "though"} else None
    return next(filter(None, _switched(text, tree)), None) if tree is not None else None


def _switched(text: Analysis, tree: Parse) -> Iterator[str | None]:
    """Yield the text with one sentence switched, for each sentence that has one tree and one such conjunction."""
    for begin, end in text.spans:
        sentence = [word.index for word in tree if begin <= word.start < end]
        while len(sentence) > 2 and tree[sentence[0]].text == "@":
            del sentence[:2]
        marks = [index for index in sentence if text.low[index] in ("but", "although", "though")]
        runs_on = any(
            tree[at].relation == "nsubj" for at in disagreeing(tree) & {*sentence}
        )  # "the bed were comfy but"
        if len(marks) == 1 and sum(tree[at].head == at for at in sentence) == 1 and not runs_on:
            change = _although if text.low[marks[0]] == "but" else _but
            yield change(text, tree, marks[0], range(sentence[0], sentence[-1] + 1))


def _although(text: Analysis, tree: Parse, mark: int, sentence: range) -> str | None:
    """X, but Y -> Although X, Y."""
    first, end = tree[tree[mark].head], mark - (text.low[mark - 1] == ",")
    second = next((word for word in tree.children(first.index) if word.relation == "conj" and word.index > mark), None)
    top = tree[first.head] if first.relation == "conj" else first
    if tree[mark].relation != "cc" or second is None or top.relation != "ROOT" or "?" in text.low[mark : sentence.stop]:
        return None
    ends = text.low[end - 1][-1].isalnum() or text.low[end - 1] in ")%"
    if not ends or _is_broken(text.low[sentence.start : end]) or sentence.start in protected(text, quotations=False):
        return None
    if not all(_states_alone(tree, verb, sentence.start) for verb in {top.index: top, first.index: first}.values()):
        return None
    before = uncapitalized(text, tree, sentence.start, end)
    if before is None or not _states_alone(tree, second, mark + 1):
        return None
    opening = "although" if tree[sentence.start].text[0].islower() else "Although"
    rest = text.text[tree[mark].end :].lstrip(" ,")
    return f"{text.text[: tree[sentence.start].start]}{opening} {before}, {rest}"


def _but(text: Analysis, tree: Parse, mark: int, sentence: range) -> str | None:
    """Although X, Y -> X, but Y. Also Y, although X -> X, but Y where no pronoun loses what it stands for."""
    low, clause = text.low, tree[tree[mark].head]
    main, inside = tree[clause.head], tree.under(clause.index)
    start, end = inside[0].index, inside[-1].index + 1
    last, leads = sentence.stop - (low[sentence.stop - 1] in (".", "!")), start == sentence.start
    if (tree[mark].relation, clause.relation, main.relation) != ("mark", "advcl", "ROOT") or mark != start:
        return None
    rest = range(end + 1, last) if leads else range(sentence.start, start - (low[start - 1] == ","))
    if end - start != len(inside) or not rest or (low[end : end + 1] != (",",) if leads else end != last):
        return None
    stated = _states_alone(tree, clause, mark + 1) and _states_alone(tree, main, rest.start, clause)
    if not stated or _is_broken(low[sentence.start : sentence.stop]):
        return None
    told, other = ((subject.lower if (subject := tree.subject(verb.index)) else "") for verb in (clause, main))
    if _CLAUSES.pointing & {*low[mark + 1 : end]} and (other not in _CLAUSES.known if leads else told != other):
        return None  # "The film is good, although it is long": the pronoun would come before its noun
    first = in_case_of(tree[sentence.start].text[0], text.text[tree[mark + 1].start : tree[end - 1].end])
    second = text.text[tree[rest.start].start : tree[rest.stop - 1].end]
    second = second if leads else uncapitalized(text, tree, rest.start, rest.stop) or ""
    return second and f"{text.text[: tree[sentence.start].start]}{first}, but {second}{text.text[tree[last - 1].end :]}"


def _is_broken(low: tuple[str, ...]) -> bool:
    """Return whether marks part a clause, or a bracket or quotation in it is not closed."""
    odd = (low.count(mark) % 2 if mark == end else low.count(mark) != low.count(end) for mark, end in _PAIRED)
    return not _CLAUSES.broken.isdisjoint(low) or any(odd)


def _states_alone(tree: Parse, verb: Word, begin: int, apart: Word | None = None) -> bool:
    """Return whether a clause that begins at a word is a statement."""
    subject = tree.subject(verb.index)
    if subject is None or subject.index > verb.index or not tree.is_finite(verb.index):
        return False
    before = [child for child in tree.children(verb.index) if child.index < verb.index and child is not apart]
    runs_on = any(child.relation in _CLAUSES.running_on for child in before)  # "it is long, I like it, but"
    if runs_on or subject.tag in ("WP", "WDT", "WRB") or subject.lower == "that":
        return False  # "that's okay, but"
    if any(word.low in ("not", "n't") and after.low in ("only", "just", "merely") for word, after in pairwise(tree)):
        return False
    opening = tree[begin]
    while opening.index not in (verb.index, opening.head) and opening.head != verb.index:
        opening = tree[opening.head]
    return opening is subject or (opening.relation in ("prep", "npadvmod") and opening.lower != "despite")


# Comparisons of two noun phrases: "[this] is [faster] than [that]", "[this] is [different] from [that]".

_COMPARISON = Lists("comparison")
_TO_SUBJECT = {"me": "I", "him": "he", "her": "she", "us": "we", "them": "they"}
# "The book is worse than it" reads badly; a review that says "it" of its film may as well say "this".
_TO_OBJECT = {**{subject.lower(): obj for obj, subject in _TO_SUBJECT.items()}, "it": "this"}


class Comparison(NamedTuple):
    """Token ranges of one comparison, the head of its second side, and the verb and the word that agrees."""

    first: range
    second: range
    quality: range
    """Of the comparative: "faster", "more reliable", "different"."""
    object: Word
    finite: Word
    verb: Word

    def said(self, text: Analysis) -> str:
        """Return the comparative as it is written."""
        return text.text[text.tokens[self.quality.start].start : text.tokens[self.quality.stop - 1].end]


@cache
def antonyms() -> Mapping[str, str]:
    """Return comparative -> comparative of its antonym, from data/lexicons/comparatives.tsv."""
    table = {row[0]: row[1] for row in data_rows("lexicons/comparatives.tsv")}
    return {opposite: word for word, opposite in table.items() if " " in opposite} | table


@cache
def judging() -> frozenset[str]:
    """Return the comparatives, and their antonyms, that call one side better: "faster", not "larger"."""
    return frozenset(word for row in data_rows("lexicons/comparatives.tsv") if row[2:] for word in row[:2])


def find(text: Analysis, joint: str = "than") -> Comparison | None:
    """Return the comparison of two noun phrases that is a clause of its own, "A is faster than B"; None where there is
    none, or something else in the text may stand or fall with which of the two is the subject."""
    tree = tree_of(text.tokens) if text.low.count(joint) == 1 and "?" not in text.words else None
    if tree is None or text.words & _COMPARISON.unreal:
        return None
    than = tree[text.low.index(joint)]
    quality, verb = tree[than.head], tree[tree[than.head].head]
    subject, other, finite = tree.subject(verb.index), tree.child(than.index, "pobj", "pcomp"), tree.tensed(verb.index)
    if subject is None or other is None or finite is None or not quality.index:
        return None
    start = quality.index - (tree[quality.index - 1].lower in ("more", "less"))
    first, second = (range(side[0].index, side[-1].index + 1) for side in map(tree.under, (subject.index, other.index)))
    comparison = Comparison(first, second, range(start, than.index), other, finite, verb)
    fits = (
        (first.stop, second.start, quality.index) == (finite.index, than.index + 1, than.index - 1)
        and than.relation == "prep"
        and (base(verb.lower) in _COMPARISON.copulas or verb.text[0] in "'’")
        and (quality.lower == "different" if joint == "from" else _is_comparative(tree, quality, start))
        and all(_is_side(tree, head, side) for head, side in ((subject, first), (other, second)))
        and all(_is_beside(tree, word, comparison) for word in tree.under(verb.index))
        and _COMPARISON.pointing.isdisjoint(text.low[second.stop :])
        and protected(text).isdisjoint([*first, *second])
        and verb.relation not in ("relcl", "acl", "pcomp")
    )
    before, after = tree[max(first.start - 1, 0)], tree[min(second.stop, len(tree) - 1)]
    begins = first.start == 0 or before.relation in ("cc", "mark") or before.text[-1] in '.!:,;("“'
    ends = second.stop == len(tree) or not after.text[0].isalnum() or after.relation in ("cc", "mark", "advmod")
    return comparison if fits and begins and ends else None


def _is_comparative(tree: Parse, quality: Word, start: int) -> bool:
    if tree.child(quality.index, "det", "conj"):
        return False
    if start < quality.index:
        return tree[start].head == quality.index and (quality.tag in ("JJ", "VBN", "VBG") or quality.lower == "fun")
    is_inflected = quality.tag in ("JJR", "RBR") and quality.lower not in ("more", "less")
    return is_inflected or quality.lower in antonyms()


def _is_side(tree: Parse, head: Word, side: range) -> bool:
    """Return whether a noun phrase, whole and without marks, may stand on either side of a comparison."""
    low = {tree[at].lower for at in side}
    whole = len(tree.under(head.index)) == len(side) and not low & ({*',;:()"“”-'} | _COMPARISON.barred)
    if head.tag[:3] == "PRP" or head.tag == "DT":
        return whole and len(side) == 1
    led = tree.child(head.index, "det", "poss", "amod") is not None
    if head.lower.endswith("ing") and base(head.lower) not in (None, head.lower):  # "more alienating than involving"
        return whole and (led or tree.child(head.index, "dobj", "prep") is not None)
    return whole and (led or head.tag[:2] == "NN")


def _is_beside(tree: Parse, word: Word, comparison: Comparison) -> bool:
    """Return whether a word under the verb may stay where it is when the sides change places: between verb and
    comparative a degree; nothing before the subject; behind the second side what has a subject of its own."""
    inside = comparison.finite.index < word.index < comparison.quality.start and word is not comparison.verb
    if inside and tree[word.head].index in (comparison.verb.index, comparison.quality.stop - 1):
        return word.relation in ("advmod", "neg", "aux", "npadvmod")
    if word.head != comparison.verb.index:
        return True
    led = word.index < comparison.first.start and word.relation in ("prep", "npadvmod", "advcl", "ccomp")
    shared = word.relation in ("conj", "advcl", "ccomp", "xcomp") and tree.subject(word.index) is None
    return not led and not (shared and word.index > comparison.second.stop)  # "Cutting down on time, it was faster"


def rephrase(text: Analysis) -> str | None:
    """Return "A is c1 than B" as "B is c2 than A" with the antonym c2, or None."""
    comparison = find(text)
    if comparison is None or not _COMPARISON.presuming.isdisjoint(
        text.low[comparison.finite.index : comparison.quality.start]
    ):
        return None
    word = comparison.said(text)
    opposite = antonyms().get(word) or {"more": "less", "less": "more"}.get(word[:4], "") + word[4:]
    return None if opposite == word or opposite[0] == " " else _exchanged(text, comparison, opposite)


def exchange(text: Analysis, joint: str = "than") -> str | None:
    """Return the text with the two phrases of a comparison exchanged, everything else kept, or None."""
    comparison = find(text, joint)
    return _exchanged(text, comparison, comparison.said(text)) if comparison else None


def reverse(text: Analysis) -> str | None:
    """Return the text with the two phrases of a comparison exchanged where that turns the judgement round: where the
    comparison is the statement of its sentence and calls one side better; else None."""
    comparison = find(text)
    judges = (
        comparison
        and comparison.verb.relation in ("ROOT", "ccomp", "conj")
        and comparison.said(text).lower() in judging()
    )
    return _exchanged(text, comparison, comparison.said(text)) if comparison and judges else None


def _exchanged(text: Analysis, comparison: Comparison, quality: str) -> str | None:
    tree, first, second = tree_of(text.tokens) or Parse(), comparison.first, comparison.second
    number = {"me": "first", "us": "plural", "them": "plural"}.get(comparison.object.lower)
    verb = agree(comparison.finite, number or number_of(tree, comparison.object) or "singular")
    if verb is None:
        return None
    told, other = (text.text[tree[side.start].start : tree[side.stop - 1].end] for side in (first, second))
    between = text.text[comparison.finite.end : tree[comparison.quality.start].start]
    if verb == "am":
        between = between.replace("n't", " not", 1)
    capital = told[0].isupper() and (first.start == 0 or tree[first.start - 1].text in '.!:("“')
    told = lower_first(told) if capital and keeps_capital(tree, first.start) is False else told
    told, other = _TO_OBJECT.get(told.lower(), told), _TO_SUBJECT.get(other.lower(), other)
    if told.lower() == other.lower():
        return None  # "it is better than this"
    other = other[0].upper() + other[1:] if capital else other
    link = text.text[tree[comparison.quality.stop - 1].end : tree[second.start].start]
    gap = text.text[tree[first.stop - 1].end : comparison.finite.start] or " "
    head, tail = text.text[: tree[first.start].start], text.text[tree[second.stop - 1].end :]
    return f"{head}{other}{gap}{verb}{between}{quality}{link}{told}{tail}"
