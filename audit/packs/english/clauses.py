"""From "X, but Y" to "Although X, Y" and back, for sentences of two full clauses."""

from itertools import pairwise

from audit.packs.english.parser import Parse, Word, tree_of
from audit.text.analysis import Analysis
from audit.text.tokens import words

_JOINTS = words("but although though")
_BROKEN = words("; : ( ) \" “ ” -- — .. ... .... ..... … * / ? [ ] < > ' '' ``")
# First words of a clause that is a formula, not a statement the other one is held against.
_FORMULAS = (
    "that 's", "that is", "that was", "that 'll", "this is just", "i 'm sorry", "i am sorry", "i 'm afraid", "what",
    "i hate to say", "i do n't know", "you know what", "you get", "i do n't want to", "i have to say", "i must say",
    "i guess", "i mean", "it 's not that", "it is not that", "it is n't that", "you see", "i would n't", "i suppose",
    "it 's not just", "it 's not only", "i do n't mean", "i do n't care", "rest assured", "i 'm not saying",
    "i am not saying", "i could be wrong", "i may be wrong", "i might be wrong", "you may", "i know i",
    "i 'm not sure", "all i",
)  # fmt: skip
_GOES_ON = words("then oh well hey what who so only not even")
_POINTING = words("it he she they its his her their him them")


def switch(analysis: Analysis) -> str | None:
    """The sentence with "although" in place of "but", or "but" in place of "although" or "though"; None where it is not
    two clauses that stand against each other, or there is no parser.

    >>> switch(Analysis("There's a reason, but we don't know it."))
    "Although there's a reason, we don't know it."
    >>> switch(Analysis("Although I like it, I will not buy it."))
    'I like it, but I will not buy it.'
    """
    if _JOINTS.isdisjoint(analysis.words) or not _BROKEN.isdisjoint(analysis.words):
        return None
    tree = tree_of(analysis.tokens)
    marks = [index for index, word in enumerate(analysis.low) if word in _JOINTS]
    if tree is None or len(marks) != 1 or len(tree.roots()) != 1 or len(analysis.sentences) != 1:
        return None
    return (_although if analysis.low[marks[0]] == "but" else _but)(analysis, tree, marks[0])


def _although(analysis: Analysis, tree: Parse, mark: int) -> str | None:
    """X, but Y -> Although X, Y."""
    text, first = analysis.text, tree.words[tree.words[mark].head]
    second = next((word for word in tree.words[mark:] if word.relation == "conj" and word.head == first.index), None)
    if tree.words[mark].relation != "cc" or first.head != first.index or second is None:
        return None
    if not (_is_statement(analysis, tree, first, 0) and _is_statement(analysis, tree, second, mark + 1)):
        return None
    if tree.under(second.index)[0].index != mark + 1 and analysis.low[mark + 1] != ",":
        return None  # what stands between belongs to the first clause: "but only", "but not"
    end = mark - (analysis.low[mark - 1] == ",")
    before = text[tree.words[0].start : tree.words[end - 1].end]
    after = text[tree.words[mark].end :].lstrip()
    uncapital = _uncapital(tree, before)
    if uncapital is None:
        return None
    opening = "although" if text == text.lower() else "Although"
    return f"{text[: tree.words[0].start]}{opening} {uncapital}, {after}"


def _but(analysis: Analysis, tree: Parse, mark: int) -> str | None:
    """Although X, Y -> X, but Y. Also Y, although X -> X, but Y where no pronoun loses what it stands for."""
    text, low, main = analysis.text, analysis.low, tree.roots()[0]
    clause = tree.words[tree.words[mark].head]
    if tree.words[mark].relation != "mark" or clause.relation != "advcl" or clause.head != main.index:
        return None
    inside = tree.under(clause.index)
    start, end = inside[0].index, inside[-1].index + 1
    if end - start != len(inside) or mark - start != (low[start] == "even"):
        return None
    last = len(tree.words) - (low[-1] in (".", "!"))
    if start == 0 and end < last and low[end] == ",":
        rest = range(end + 1, last)
    elif end == last and start > 1 and low[start - 1] == ",":
        rest = range(start - 1)
    else:
        return None
    if not (_is_statement(analysis, tree, clause, mark + 1) and _is_statement(analysis, tree, main, rest.start)):
        return None
    subjects = [tree.subject(word.index) for word in (clause, main)]
    names = [word.lower if word is not None else "" for word in subjects]
    points = not _POINTING.isdisjoint(low[mark + 1 : end])
    if points and (names[1] not in _POINTING | words("i you we this that") if start == 0 else names[0] != names[1]):
        return None  # "The film is good, although it is long": the pronoun would come before its noun
    first, second = (
        text[tree.words[here].start : tree.words[there - 1].end]
        for here, there in ((mark + 1, end), (rest.start, rest.stop))
    )
    if tree.words[0].text[0].isupper():
        first = first[0].upper() + first[1:]
    if rest.start == 0:
        second = _uncapital(tree, second) or second
    return f"{text[: tree.words[0].start]}{first}, but {second}{text[tree.words[last - 1].end :]}"


def _is_statement(analysis: Analysis, tree: Parse, verb: Word, begin: int) -> bool:
    """Whether a clause that begins at a word has a subject and a tense, and is no formula, question or command."""
    low = analysis.low
    subject = tree.subject(verb.index)
    if subject is None or subject.index > verb.index or subject.lower in ("who", "which", "what"):
        return False
    opening = tree.words[begin]
    if (
        opening.relation == "intj"
        or opening.tag in ("CD", "LS")
        or opening.text.startswith(("@", "#", "RT"))
        or low[begin] in _GOES_ON
    ):
        return False
    if any(word in ("not", "n't") and after in ("only", "just", "merely") for word, after in pairwise(low)):
        return False
    return tree.is_finite(verb.index) and not " ".join(low[begin:]).startswith(_FORMULAS)


def _uncapital(tree: Parse, text: str) -> str | None:
    """The text without the capital that it has only because it began the sentence; None where that cannot be told: the
    first word may be that of a title."""
    first = tree.words[0]
    if first.text == "I" or first.tag in ("NNP", "NNPS") or (len(first.text) > 1 and first.text.isupper()):
        return text
    if text[:2] in ("I ", "I'") or not first.text[:1].isupper():
        return text
    following = tree.words[first.index + 1]
    if following.text[:1].isupper() and following.text != "I" and not following.tag.startswith("NNP"):
        return None
    if following.lower == "of" and tree.words[first.index + 2].text[:1].isupper():
        return None
    return text[0].lower() + text[1:]
