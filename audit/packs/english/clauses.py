"""From "X, but Y" to "Although X, Y" and back, for sentences of two full clauses."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from audit.packs.english.capitals import keeps_capital
from audit.packs.english.parser import Parse, Word, tree_of
from audit.text.analysis import Analysis
from audit.text.tokens import words

_JOINTS = words("but although though")
_BROKEN = words("; : -- — – .. ... .... ..... … * / ? [ ] < >")
_PAIRED = (("(", ")"), ("``", "''"), ("“", "”"), ("''", "''"), ('"', '"'))
# First words of a clause that is a formula, not a statement the other one is held against.
_FORMULAS = (
    "that 's", "that is", "that was", "that 'll", "this is just", "i 'm sorry", "i am sorry", "i 'm afraid", "what",
    "i hate to say", "i do n't know", "you know what", "you get", "i do n't want to", "i have to say", "i must say",
    "i guess", "i mean", "it 's not that", "it is not that", "it is n't that", "you see", "i would n't", "i suppose",
    "it 's not just", "it 's not only", "i do n't mean", "i do n't care", "rest assured", "i 'm not saying",
    "i am not saying", "i could be wrong", "i may be wrong", "i might be wrong", "you may", "i know i",
    "i 'm not sure", "all i", "for example", "of course", "in short",
)  # fmt: skip
_OPENERS = words(
    "then oh well hey what who so only not even yes no yeah wow ok okay please sure true granted perhaps maybe again "
    "unfortunately fortunately admittedly honestly frankly hopefully now sorry hehe haha lol aw aww awww ugh thanks rt "
    "how why where rather instead dang damn gosh despite"
)
_POINTING = words("it he she they its his her their him them")


def switch(analysis: Analysis) -> str | None:
    """The text with "although" in place of "but", or "but" in place of "although" or "though"; None where no sentence
    is two clauses that stand against each other.

    >>> switch(Analysis("There's a reason, but we don't know it."))
    "Although there's a reason, we don't know it."
    >>> switch(Analysis("Although I like it, I will not buy it."))
    'I like it, but I will not buy it.'
    """
    if _JOINTS.isdisjoint(analysis.words):
        return None
    tree = tree_of(analysis.tokens)
    return next(filter(None, _switched(analysis, tree)), None) if tree is not None else None


def _switched(analysis: Analysis, tree: Parse) -> Iterator[str | None]:
    """The text with one sentence switched, for each sentence that has one tree and one such conjunction."""
    at = 0
    for _, end in analysis.spans:
        sentence = []
        while at < len(tree.words) and tree.words[at].start < end:
            sentence.append(at)
            at += 1
        marks = [index for index in sentence if analysis.low[index] in _JOINTS]
        while len(sentence) > 1 and tree.words[sentence[0]].text == "@":
            sentence = sentence[2:]
        roots = [root.index for root in tree.roots() if root.index in sentence]
        if len(marks) != 1 or marks[0] not in sentence:
            continue
        if analysis.low[marks[0]] == "but":
            yield _although(analysis, tree, marks[0], sentence[0], sentence[-1] + 1, roots)
        elif len(roots) == 1:
            yield _but(analysis, tree, marks[0], sentence[0], sentence[-1] + 1)


def _although(analysis: Analysis, tree: Parse, mark: int, begin: int, stop: int, roots: list[int]) -> str | None:
    """X, but Y -> Although X, Y."""
    text, low, joint = analysis.text, analysis.low, tree.words[mark]
    first = tree.words[joint.head]
    second = next((word for word in tree.children(first.index) if word.relation == "conj" and word.index > mark), None)
    if len(roots) == 2 and roots[0] < mark < roots[1] == first.index:  # the parser ends a sentence before "but"
        first, second = tree.words[roots[0]], first
    elif len(roots) != 1:
        return None
    end = mark - (low[mark - 1] == ",")
    if joint.relation != "cc" or second is None or not begin <= first.index < end:
        return None
    top = tree.words[first.head] if first.relation == "conj" else first
    if top.relation != "ROOT" or _runs_on(tree, first, mark):
        return None
    if (
        _is_broken(low[begin:end])
        or "-" in low[begin:end]
        or "?" in low[mark:stop]
        or not (low[end - 1][-1].isalnum() or low[end - 1] in ")%")
    ):
        return None
    if not all(_is_statement(analysis, tree, verb, begin) for verb in (top, first)):
        return None
    if not _is_statement(analysis, tree, second, mark + 1):
        return None
    after = next(word.index for word in tree.under(second.index) if word.index != mark)
    if after != mark + 1 and low[mark + 1] != ",":
        return None  # what stands between belongs to the first clause: "but only", "but not"
    before = text[tree.words[begin].start : tree.words[end - 1].end]
    rest = text[tree.words[mark].end :].lstrip(" ,")
    uncapital = _uncapital(tree, begin, before)
    if uncapital is None:
        return None
    opening = "although" if tree.words[begin].text[0].islower() or text == text.lower() else "Although"
    return f"{text[: tree.words[begin].start]}{opening} {uncapital}, {rest}"


def _but(analysis: Analysis, tree: Parse, mark: int, begin: int, stop: int) -> str | None:
    """Although X, Y -> X, but Y. Also Y, although X -> X, but Y where no pronoun loses what it stands for."""
    text, low = analysis.text, analysis.low
    clause = tree.words[tree.words[mark].head]
    main = tree.words[clause.head]
    if tree.words[mark].relation != "mark" or clause.relation != "advcl" or main.relation != "ROOT":
        return None
    inside = tree.under(clause.index)
    start, end = inside[0].index, inside[-1].index + 1
    if end - start != len(inside) or mark - start != (low[start] == "even") or _is_broken(low[begin:stop]):
        return None
    last = stop - (low[stop - 1] in (".", "!"))
    if start == begin and end < last and low[end] == ",":
        rest = range(end + 1, last)
    elif end == last and start > begin + 1:
        rest = range(begin, start - (low[start - 1] == ","))
    else:
        return None
    if not (_is_statement(analysis, tree, clause, mark + 1) and _is_statement(analysis, tree, main, rest.start)):
        return None
    subjects = [tree.subject(word.index) for word in (clause, main)]
    names = [word.lower if word is not None else "" for word in subjects]
    points = not _POINTING.isdisjoint(low[mark + 1 : end])
    if points and (names[1] not in _POINTING | words("i you we this that") if start == begin else names[0] != names[1]):
        return None  # "The film is good, although it is long": the pronoun would come before its noun
    first, second = (
        text[tree.words[here].start : tree.words[there - 1].end]
        for here, there in ((mark + 1, end), (rest.start, rest.stop))
    )
    if tree.words[begin].text[0].isupper():
        first = first[0].upper() + first[1:]
    uncapital = _uncapital(tree, begin, second) if rest.start == begin else second
    if uncapital is None:
        return None
    return f"{text[: tree.words[begin].start]}{first}, but {uncapital}{text[tree.words[last - 1].end :]}"


def _is_broken(low: Sequence[str]) -> bool:
    """Whether marks part a clause, or a bracket or quotation in it is not closed."""
    if not _BROKEN.isdisjoint(low):
        return True
    return any(
        low.count(opening) % 2 if opening == closing else low.count(opening) != low.count(closing)
        for opening, closing in _PAIRED
    )


def _runs_on(tree: Parse, verb: Word, mark: int) -> bool:
    """Whether "but" may go on with an if-clause ("it is no use if it is good but slow to start"), another clause opens
    the sentence ("if it is good, I take it"), or two sentences meet without a mark."""
    return any(
        child.relation in ("ccomp", "parataxis", "advcl")
        if child.index < verb.index
        else child.relation == "advcl"
        and child.index < mark
        and "if" in (word.lower for word in tree.under(child.index))
        for child in tree.children(verb.index)
    )


def _is_statement(analysis: Analysis, tree: Parse, verb: Word, begin: int) -> bool:
    """Whether a clause that begins at a word has a subject and a tense, and is no formula, question or command."""
    low, opening = analysis.low, tree.words[begin]
    subject = tree.subject(verb.index)
    if subject is None or subject.index > verb.index:
        return False
    if subject.lower in ("who", "which", "what") or opening.relation in ("intj", "mark") or low[begin] in _OPENERS:
        return False
    if opening.tag in ("CD", "LS", "MD", "VB", "VBD", "UH") or opening.text.startswith(("@", "#")):
        return False
    if opening.tag == "RB" and low[begin + 1] == ",":
        return False  # "Naturally, he had a word to say"
    if any(word in ("not", "n't") and after in ("only", "just", "merely") for word, after in pairwise(low)):
        return False
    return tree.is_finite(verb.index) and not " ".join(low[begin:]).startswith(_FORMULAS)


def _uncapital(tree: Parse, begin: int, text: str) -> str | None:
    """The text without the capital that it has only because it began the sentence; None where that cannot be told."""
    keeps = keeps_capital(tree, begin)
    if keeps is None:
        return None
    return text if keeps else text[0].lower() + text[1:]
