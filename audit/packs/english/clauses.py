"""From "X, but Y" to "Although X, Y" and back, for sentences of two full clauses."""

from collections.abc import Iterator
from itertools import pairwise

from audit.packs.english.capitals import keeps_capital
from audit.packs.english.guard import protected
from audit.packs.english.parser import Parse, Word, tree_of
from audit.text.analysis import Analysis
from audit.text.tokens import words

_JOINTS = words("but although though")
_BROKEN = words("; : -- - — – .. ... .... ..... … * / ? [ ] < >")
_PAIRED = (("(", ")"), ("“", "”"), ("''", "''"), ('"', '"'))
_RUNNING_ON = words("ccomp parataxis advcl intj")
_POINTING = words("it he she they its his her their him them")
_KNOWN = _POINTING | words("i you we this that")


def switch(text: Analysis) -> str | None:
    """The text with "although" in place of "but", or "but" in place of "although" or "though"; None where no sentence
    is two clauses that stand against each other.

    >>> switch(Analysis("There's a reason, but we don't know it."))
    "Although there's a reason, we don't know it."
    >>> switch(Analysis("Although I like it, I will not buy it."))
    'I like it, but I will not buy it.'
    """
    tree = tree_of(text.tokens) if text.words & _JOINTS else None
    return next(filter(None, _switched(text, tree)), None) if tree is not None else None


def _switched(text: Analysis, tree: Parse) -> Iterator[str | None]:
    """The text with one sentence switched, for each sentence that has one tree and one such conjunction."""
    for begin, end in text.spans:
        sentence = [word.index for word in tree if begin <= word.start < end]
        marks = [index for index in sentence if text.low[index] in _JOINTS]
        while len(sentence) > 2 and tree[sentence[0]].text == "@":
            del sentence[:2]
        if len(marks) != 1 or marks[0] not in sentence or sum(tree[at].head == at for at in sentence) != 1:
            continue
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
    if not ends or _is_broken(text.low[sentence.start : end]) or not protected(text, False).isdisjoint(sentence[:1]):
        return None
    if not all(_states(tree, verb, sentence.start) for verb in {top.index: top, first.index: first}.values()):
        return None
    if not _states(tree, second, mark + 1):
        return None
    opening = "although" if tree[sentence.start].text[0].islower() else "Although"
    before = _inside(text, tree, sentence.start, end)
    rest = text.text[tree[mark].end :].lstrip(" ,")
    return before and f"{text.text[: tree[sentence.start].start]}{opening} {before}, {rest}"


def _but(text: Analysis, tree: Parse, mark: int, sentence: range) -> str | None:
    """Although X, Y -> X, but Y. Also Y, although X -> X, but Y where no pronoun loses what it stands for."""
    low, clause = text.low, tree[tree[mark].head]
    main, inside = tree[clause.head], tree.under(clause.index)
    if (tree[mark].relation, clause.relation, main.relation) != ("mark", "advcl", "ROOT"):
        return None
    start, end = inside[0].index, inside[-1].index + 1
    last = sentence.stop - (low[sentence.stop - 1] in (".", "!"))
    if end - start != len(inside) or mark != start or _is_broken(low[sentence.start : sentence.stop]):
        return None
    leads = start == sentence.start
    rest = range(end + 1, last) if leads else range(sentence.start, start - (low[start - 1] == ","))
    if (low[end : end + 1] != (",",) if leads else end != last) or not rest:
        return None
    if not (_states(tree, clause, mark + 1) and _states(tree, main, rest.start, clause)):
        return None
    one, two = ((subject.lower if (subject := tree.subject(verb.index)) else "") for verb in (clause, main))
    if _POINTING & {*low[mark + 1 : end]} and (two not in _KNOWN if leads else one != two):
        return None  # "The film is good, although it is long": the pronoun would come before its noun
    first = text.text[tree[mark + 1].start : tree[end - 1].end]
    if tree[sentence.start].text[0].isupper():
        first = first[0].upper() + first[1:]
    second = (
        text.text[tree[rest.start].start : tree[rest.stop - 1].end]
        if leads
        else _inside(text, tree, rest.start, rest.stop)
    )
    return second and f"{text.text[: tree[sentence.start].start]}{first}, but {second}{text.text[tree[last - 1].end :]}"


def _inside(text: Analysis, tree: Parse, begin: int, end: int) -> str | None:
    """The tokens as text, without the capital that only opened the sentence; None where that cannot be told."""
    keeps, clause = keeps_capital(tree, begin), text.text[tree[begin].start : tree[end - 1].end]
    return None if keeps is None else clause if keeps else clause[0].lower() + clause[1:]


def _is_broken(low: tuple[str, ...]) -> bool:
    """Whether marks part a clause, or a bracket or quotation in it is not closed."""
    odd = (low.count(one) % 2 if one == other else low.count(one) != low.count(other) for one, other in _PAIRED)
    return not _BROKEN.isdisjoint(low) or any(odd)


def _states(tree: Parse, verb: Word, begin: int, apart: Word | None = None) -> bool:
    """Whether a clause that begins at a word is a statement: with a tense, and with its subject first or behind words
    of time and place. `apart` is the other clause, which may hang on the verb."""
    subject = tree.subject(verb.index)
    if subject is None or subject.index > verb.index or not tree.is_finite(verb.index):
        return False
    before = [child for child in tree.children(verb.index) if child.index < verb.index and child is not apart]
    if (
        subject.tag in ("WP", "WDT", "WRB")
        or subject.lower == "that"
        or any(child.relation in _RUNNING_ON for child in before)
    ):
        return False  # "that's okay, but"; "it is long, I like it, but"
    if any(
        word in ("not", "n't") and after in ("only", "just", "merely")
        for word, after in pairwise([w.low for w in tree])
    ):
        return False
    opening = tree[begin]
    while opening.index not in (verb.index, opening.head) and opening.head != verb.index:
        opening = tree[opening.head]
    return opening is subject or (opening.relation in ("prep", "npadvmod") and opening.lower != "despite")
