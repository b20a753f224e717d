"""From "X, but Y" to "Although X, Y" and back, for sentences of two full clauses."""

from collections.abc import Sequence
from itertools import pairwise

from audit.packs.english.vocabulary import BE_FINITE, MODALS
from audit.text.analysis import Analysis
from audit.text.tokens import Token, words

_SUBJECTS = words("i he she it we they you there this that these those everyone everybody nobody nothing everything")
_FINITE = BE_FINITE | MODALS | words("has have had do does did 's 're 'm 've 'll 'd ca wo")
_NOUN_PARTS = words("DT PRP$ JJ JJR JJS NN NNS NNP NNPS CD POS RB")
_BROKEN = words(
    '; : ( ) " “ ” -- - – — .. ... .... ..... … * / ? [ ] < > although though even if because unless while whereas nor'
)
# First words of a clause that is a formula, not a statement the other one is held against.
_FORMULAS = (
    "that 's", "that is", "that was", "that 'll", "this is just", "i 'm sorry", "i am sorry", "i 'm afraid",
    "i hate to say", "i do n't know about you", "you know what", "you get", "i do n't want to", "i have to say",
    "i must say", "i guess", "i mean", "it 's not that", "it is not that", "it is n't that", "you see", "i would n't",
    "it 's not just", "it 's not only", "i suppose", "what", "i do n't mean",
    "i do n't know ,", "i do n't know but", "i do n't care", "rest assured", "i 'm not saying", "i am not saying",
    "i could be wrong", "i may be wrong", "i might be wrong", "you may", "i know i", "i do n't know why",
    "i 'm not sure",
)  # fmt: skip
_JOINTS = words("but although though")
_POINTING = words("it he she they its his her their him them")
_CORRELATIVES = words("only not nothing anything all nobody anyone everything everyone none")


def switch(analysis: Analysis) -> str | None:
    """The sentence with "although" or "though" in place of "but", or "but" in place of them, or None.

    >>> switch(Analysis("There's a reason, but we don't know it."))
    "Although there's a reason, we don't know it."
    >>> switch(Analysis("Although I like it, I will not buy it."))
    'I like it, but I will not buy it.'
    """
    if _JOINTS.isdisjoint(analysis.words):
        return None
    tokens, low = analysis.tokens, analysis.low
    marks = [index for index, word in enumerate(low) if word in _JOINTS]
    if len(marks) != 1 or marks[0] + 1 == len(tokens) or len(analysis.sentences) != 1 or len(tokens) > 60:
        return None
    mark = marks[0]
    if low[mark] == "but":
        return _although(analysis, low, mark)
    return _but(analysis, low, mark)


def _although(analysis: Analysis, low: Sequence[str], mark: int) -> str | None:
    tokens, text = analysis.tokens, analysis.text
    end = mark - (low[mark - 1] == ",")
    if end < 3 or _BROKEN.intersection(low) or low[end - 1] in _CORRELATIVES or not _not_only(low):
        return None
    if end == mark and tokens[mark + 1].tag not in ("PRP", "PRP$", "DT", "EX", "NNP"):
        return None  # "a sad but endearing man": without a comma it may join words, not clauses
    first, second = range(end), range(mark + 1, len(tokens))
    if not (is_clause(tokens, low, first) and is_clause(tokens, low, second)) or _restarts(low, second):
        return None
    commas = [index for index in first if low[index] == ","]
    if commas and any(_finite(tokens, low, index) for index in range(commas[0], end)):
        return None
    opening = "although" if text == text.lower() else "Although"
    before = text[tokens[0].start : tokens[end - 1].end]
    after = text[tokens[mark + 1].start :]
    return f"{text[: tokens[0].start]}{opening} {_uncapital(tokens[0], before)}, {after}"


def _but(analysis: Analysis, low: Sequence[str], mark: int) -> str | None:
    """Although X, Y -> X, but Y. Also Y, although X -> X, but Y where no pronoun loses what it stands for."""
    tokens, text = analysis.tokens, analysis.text
    if _BROKEN.difference({"although", "though", "even"}).intersection(low) or mark + 3 >= len(tokens):
        return None
    start = mark - 1 if mark and low[mark - 1] == "even" else mark
    commas = [index for index, word in enumerate(low) if word == ","]
    if len(commas) != 1:
        return None
    comma = commas[0]
    last = len(tokens) - (low[-1] in (".", "!"))
    if start == 0 and comma > mark:
        first, second = range(mark + 1, comma), range(comma + 1, last)
    elif start == comma + 1:
        first, second = range(mark + 1, last), range(comma)
    else:
        return None
    if not (is_clause(tokens, low, first) and is_clause(tokens, low, second)) or _restarts(low, second):
        return None
    points = _POINTING.intersection(low[first.start : first.stop])
    if (points and low[second.start] not in _SUBJECTS) or (
        start and points and low[first.start] != low[second.start] and low[first.start] not in ("i", "we", "you")
    ):
        return None  # "The film is good, although it is long": the pronoun would come before its noun
    first_clause, second_clause = (
        text[tokens[side.start].start : tokens[side.stop - 1].end] for side in (first, second)
    )
    if tokens[0].text[0].isupper():
        first_clause = first_clause[0].upper() + first_clause[1:]
    if second.start == 0:
        second_clause = _uncapital(tokens[0], second_clause)
    return f"{text[: tokens[0].start]}{first_clause}, but {second_clause}{text[tokens[last - 1].end :]}"


def is_clause(tokens: Sequence[Token], low: Sequence[str], span: range) -> bool:
    """Whether the tokens begin with a subject that a finite verb follows at once, and form no formula or command."""
    if len(span) < 3 or " ".join(low[span.start : span.stop]).startswith(_FORMULAS):
        return False
    at = span.start
    if low[at] in _SUBJECTS and tokens[at].tag in ("PRP", "EX", "DT", "NN", "IN", "WDT"):
        at += 1
    if at == span.start or (low[span.start] in ("this", "that", "these", "those") and not _finite(tokens, low, at)):
        at = span.start
        if tokens[at].tag in ("IN", "CC", "VB", "VBG", "VBN", "TO", "WDT", "WP", "WRB", "UH", "RB", ","):
            return False
        nouns = 0
        while at < span.stop and (tokens[at].tag in _NOUN_PARTS or low[at] == "of") and not _finite(tokens, low, at):
            nouns += tokens[at].tag.startswith("NN")
            at += 1
        if not nouns or tokens[at - 1].tag in ("DT", "JJ", "PRP$", "IN"):
            return False
    while at < span.stop and tokens[at].tag == "RB" and not _finite(tokens, low, at):
        at += 1
    return at < span.stop - 1 and _finite(tokens, low, at)


def _finite(tokens: Sequence[Token], low: Sequence[str], at: int) -> bool:
    if at >= len(tokens):
        return False
    if low[at] == "'s":
        return tokens[at].tag != "POS"
    return low[at] in _FINITE or tokens[at].tag in ("VBZ", "VBD", "VBP", "MD")


def _uncapital(first: Token, text: str) -> str:
    """The text without the capital that it has only because it began the sentence."""
    second = text[len(first.text) :].lstrip()
    if first.tag == "DT" and second[:1].isupper() and not second[:2].isupper():
        return text  # "The Mother", a title
    keeps = first.text == "I" or first.tag in ("NNP", "NNPS") or (len(first.text) > 1 and first.text.isupper())
    return text if keeps or text[:2] in ("I ", "I'") else text[0].lower() + text[1:]


def _not_only(low: Sequence[str]) -> bool:
    return not any(
        word in ("not", "n't") and next_word in ("only", "just", "merely") for word, next_word in pairwise(low)
    )


def _restarts(low: Sequence[str], span: range) -> bool:
    """Whether the second clause is a question, or goes on with "then" or "oh well"."""
    return low[-1] == "?" or low[span.start] in ("then", "oh", "well", "hey", "what", "who")
