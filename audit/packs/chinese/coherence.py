"""Which sentences of a Chinese text may change places without a word that loses what it refers to.

Most sentences lean on the one before: by a link (但是), a word that points (这, 该), a missing subject, a pronoun, or
because they tell what happened next. Two neighbours may change places where neither leans on the other nor the next one
on one of them. Everything here errs on the side of leaving sentences where they are.
"""

import re
from collections.abc import Sequence
from functools import cache
from itertools import takewhile

from audit.resources import data_file
from audit.text.analysis import Analysis
from audit.text.tokens import Token

_ORDINAL = re.compile(r"[（(]?[0-9０-９一二三四五六七八九十①-⑳]{1,3}[）)、.．:：是要]|第[一二三四五六七八九十0-9]")
_COUNTS = re.compile(r"一是|其一|[：:，。；]首先|(?:有|包括)[：:]")
"""What a sentence has that begins to count: the next one goes on."""
_PAUSES = frozenset("，。！？；：:")
_OPENING = 3
"""Tokens at the beginning by whose tags items of a list are told."""
_FEWEST = 5
"""Words of such an item."""
_SHORTEST = 6
"""Tokens of a sentence that may move: what is shorter is a heading."""
_ENDS = re.compile(r"[。！][”’」』）)]*\Z")
_ENDED = re.compile(r"[。！？!?.．…][”’」』）)》\"']*\Z")
_BALANCED = (("“", "”"), ("‘", "’"), ("「", "」"), ("《", "》"), ("（", "）"), ("【", "】"), ("(", ")"), ("[", "]"))


@cache
def _words(name: str) -> frozenset[str]:
    """A list of data/lexicons/chinese_coherence.tsv."""
    lines = data_file("lexicons/chinese_coherence.tsv").read_text(encoding="utf-8").splitlines()
    return frozenset(dict(line.split("\t") for line in lines if not line.startswith("#"))[name].split())


def dangles(sentence: Sequence[Token], text: str) -> bool:
    """Whether a sentence takes up the one before it by a link, a number or a word that points.

    >>> [dangles(Analysis(sentence, "zh").tokens, sentence) for sentence in ("但是天黑了。", "天黑了。", "一是天黑。")]
    [True, False, True]
    """
    if not sentence or _ORDINAL.match(text) or sentence[0].text in _words("links"):
        return True
    if any(token.text[0] in "该这那" or "此" in token.text or token.text in _words("before") for token in sentence):
        return True
    return any(token.text in _words("taking up") or token.text[0] == "其" for token in _clause(sentence))


def exchangeable(text: Analysis) -> list[int]:
    """Sentences (by index) that may change places with the next one.

    Both say side by side what they say: both report what somebody says (会议指出……。会议强调……。), or tell nothing that
    happened and are both demands (要……。要……。) or items of one list (A股份拟10转5股。B股份拟10转7股。). Neither of the
    two, nor what follows them, takes up a sentence by a link, a pronoun or a word that points. The second has no name
    and no noun in its first clause that the first brings up, nor has what follows one of the second. Both stand in one
    line, or are lines of their own. The first sentence of a text says what it is about (and where news comes from:
    新华社北京1月1日电) and stays.

    >>> exchangeable(Analysis("会议开始。要把安全放在第一的位置。要把质量放在第二的位置。", "zh"))
    [1]
    """
    tokens = by_sentence(text)
    pieces = [text.text[start:end] for start, end in text.spans]
    first: dict[str, int] = {}
    for index, sentence in enumerate(tokens):
        for token in sentence:
            first.setdefault(token.text, index)
    return [
        at
        for at in range(1, len(tokens) - 1)
        if _movable(tokens[at], pieces[at])
        and _movable(tokens[at + 1], pieces[at + 1])
        and _is_complete(pieces[at - 1])
        and _in_place(text, at)
        and _are_parallel(tokens[at], tokens[at + 1])
        and not _parts_list(tokens, at)
        and not _takes_up(tokens[at + 1], at, first)
        and (
            at + 2 == len(tokens)
            or (
                _may_follow(tokens[at + 2], pieces[at + 2], tokens[at], "\n" in _gap(text, at + 2))
                and not _takes_up(tokens[at + 2], at + 1, first)
            )
        )
    ]


def _movable(sentence: Sequence[Token], text: str) -> bool:
    if len(sentence) < _SHORTEST or not _is_complete(text) or _COUNTS.search(text):
        return False
    return not dangles(sentence, text) and not _pronouns(sentence)


def _are_parallel(first: Sequence[Token], second: Sequence[Token]) -> bool:
    """Whether two sentences say side by side what they say: reports, demands, or items of one list."""
    if _reports(first) and _reports(second):
        if first[0].text == second[0].text and _tells_when(first):
            return False  # the same speaker begins with what was
        return all(map(_is_somebody, (first, second))) and _advises(first) == _advises(second)
    if _reports(first) or _reports(second) or _tells_when(first) or _tells_when(second):
        return False
    if _demands(first) and _demands(second):
        return first[0].text == second[0].text or not {first[0].text, second[0].text} & _words("modal")
    return _are_items(first, second)


def _are_items(first: Sequence[Token], second: Sequence[Token]) -> bool:
    """Whether two sentences are items of one list: they begin alike, are about as long, and share half their words.

    What begins with a number may count, with a person may tell a story. Marks and particles are no words.
    """
    opening = [token.tag for token in first[:_OPENING]]
    if opening != [token.tag for token in second[:_OPENING]] or opening[0] == "m" or "nr" in opening:
        return False
    one, other = ({token.text for token in sentence if token.tag[0] not in "wuy"} for sentence in (first, second))
    shorter, longer = sorted((len(one), len(other)))
    return shorter >= _FEWEST and longer <= 2 * shorter and len(one & other) >= shorter / 2


def _parts_list(tokens: Sequence[Sequence[Token]], at: int) -> bool:
    """Whether one of two sentences, alone, begins as the one before or behind them does: the other one explains it."""
    begins = [sentence[0].text if sentence else "" for sentence in tokens[at - 1 : at + 3]]
    return begins[1] != begins[2] and not {begins[0], begins[-1] if len(begins) == 4 else ""}.isdisjoint(begins[1:3])


def _may_follow(sentence: Sequence[Token], text: str, before: Sequence[Token], new_line: bool) -> bool:
    """Whether a sentence may follow another one than it did; both of those are alike."""
    if dangles(sentence, text) or _pronouns(sentence):
        return False
    if not (
        _has_subject(sentence) or sentence[0].tag[:1] in ("t", "m", "p") or (_demands(sentence) and _demands(before))
    ):
        return False
    return new_line or not _reports(before) or _reports(sentence)


def is_ended(sentence: str) -> bool:
    """Whether a mark ends a sentence; none ends titles, credits, and what a text breaks off with.

    >>> is_ended("他说：“走。”"), is_ended("图（一）")
    (True, False)
    """
    return bool(_ENDED.search(sentence))


def by_sentence(text: Analysis) -> list[list[Token]]:
    """The tokens of each sentence, in order."""
    sentences: list[list[Token]] = [[] for _ in text.spans]
    at = 0
    for token in text.tokens:
        while at < len(text.spans) and token.start >= text.spans[at][1]:
            at += 1
        if at == len(text.spans):
            break
        sentences[at].append(token)
    return sentences


def _takes_up(sentence: Sequence[Token], at: int, first: dict[str, int]) -> bool:
    """Whether the sentence at `at` brings up a name in this one, or a noun of its first clause."""
    if any(token.tag in ("nr", "nt", "nz", "ns") and first[token.text] == at for token in sentence):
        return True
    return any(token.tag[:1] in ("n", "j") and first[token.text] == at for token in _clause(sentence))


def _has_subject(sentence: Sequence[Token]) -> bool:
    return sentence[0].tag[:1] in ("n", "j") or sentence[0].text in _words("self")


def _demands(sentence: Sequence[Token]) -> bool:
    return sentence[0].text in _words("demands")


def _pronouns(sentence: Sequence[Token]) -> bool:
    return any(token.text in _words("pronouns") for token in sentence)


def _reports(sentence: Sequence[Token]) -> bool:
    """Whether a sentence reports what somebody says."""
    return _clause(sentence)[-1].text in _words("saying")


def _advises(sentence: Sequence[Token]) -> bool:
    return _clause(sentence)[-1].text in _words("advising")


def _is_complete(text: str) -> bool:
    """Whether a sentence ends as such, with both ends of its quotes and brackets, and announces nothing."""
    if not _ENDS.search(text) or "如下" in text:
        return False
    return all(text.count(opening) == text.count(closing) for opening, closing in _BALANCED)


def _clause(sentence: Sequence[Token]) -> list[Token]:
    """The tokens before the first pause; at least one."""
    return list(takewhile(lambda token: token.text not in _PAUSES, sentence)) or [sentence[0]]


def _is_somebody(sentence: Sequence[Token]) -> bool:
    """Whether a report begins with who says it, not with 我: that is a conversation."""
    return sentence[0].tag[:1] in ("n", "j") and "我" not in (token.text for token in _clause(sentence))


def _tells_when(sentence: Sequence[Token]) -> bool:
    """Whether a sentence says when something was, or that it is over."""
    return any(token.tag == "t" or token.text in _words("happened") or token.text[-1] in "年月日" for token in sentence)


def _in_place(text: Analysis, at: int) -> bool:
    """Whether a sentence and the next one stand in one line, or are lines of their own."""
    before, between, after = (_gap(text, index) for index in (at, at + 1, at + 2))
    return "\n" not in between or ("\n" in before and ("\n" in after or at + 2 == len(text.spans)))


def _gap(text: Analysis, index: int) -> str:
    """The text before a sentence; for the index behind the last sentence, the end of the text."""
    start = text.spans[index - 1][1]
    end = text.spans[index][0] if index < len(text.spans) else len(text.text)
    return text.text[start:end]
