"""Which sentences of a Chinese text may change places (MR7.2 and MR7.3): those of a list.

Two neighbours are a list where both are demands (要…。要…。), are built alike and say how things are, begin with a
label (贷款范围：…), or report what a body or a person says. Neither leans on what stands before it, and what follows
them leans on neither. Stories, arguments and steps of a procedure are no lists.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile

from audit.packs.chinese.taggers import word_list
from audit.text import Analysis
from audit.text.tokens import Token

_ENDED = re.compile(r"[。！？!?.．…][”’」』）)》\"']*\Z")
_WHOLE = re.compile(r"[。！][”’」』）)]*\Z")
_NUMERAL = "一二三四五六七八九十"
_COUNTS = re.compile(
    rf"\A[（(]?(?:[0-9０-９①-⑳]|[{_NUMERAL}]{{1,3}}[）)、.．:：以]|[A-Za-z]+(?:[）)、.．]|\s*[0-9]))|\A第[0-9{_NUMERAL}]"
    rf"|[0-9]\s*[、）)]|(?<![0-9.])[0-9]{{1,2}}[.．](?![0-9])|[（(][0-9{_NUMERAL}]+[）)]|[{_NUMERAL}](?:是|要)|其[一二三]"
    rf"|第[{_NUMERAL}][，、：]|[：:，。；]首先"
)
_ANNOUNCES = re.compile("如下|以下|下列|(?:有|包括)[：:]")
_LABEL = re.compile(rf"(?![{_NUMERAL}])[\u4e00-\u9fff]{{1,12}}(?<![{_NUMERAL}])[：:](?![“\"])")
_SPEAKER = re.compile("代理人|代表人|记者|[网市居村]民|[说问答评告醒为图]|方|者")
"""Labels of who speaks, or of whom what follows is said: their order is that of a conversation or a record."""
_NO_ITEM = re.compile(r"[?？【●▼|]|>>|/>|本院|摄|的是|不要说|[^，。；、]{70}")
"""Questions, headings, what a sentence puts before the next one, and what has lost its punctuation."""
_BALANCED = ("“”", "‘’", "「」", "《》", "（）", "【】", "()", "[]")


def is_ended(sentence: str) -> bool:
    """Return whether a mark ends a sentence; none ends titles, credits, and what a text breaks off with.

    >>> is_ended("他说：“走。”"), is_ended("图（一）")
    (True, False)
    """
    return bool(_ENDED.search(sentence))


def exchangeable(text: Analysis) -> list[int]:
    """Return the sentences (by index) that may change places with the next one.

    The first sentence of a text says what it is about, and where news comes from, and stays.

    >>> exchangeable(Analysis("会议开始。要把安全放在第一的位置。要把质量放在第二的位置。", "zh"))
    [1]
    """
    sentences = list(_sentences(text))
    return [
        at
        for at, first, second in zip(range(1, len(sentences)), sentences[1:], sentences[2:], strict=False)
        if first.is_item and second.is_item and _is_apart(sentences, at) and _are_alike(first, second, sentences[:at])
    ]


@dataclass(frozen=True)
class _Sentence:
    """A sentence with its tokens, and whether it begins a line."""

    text: str
    tokens: Sequence[Token]
    begins_line: bool

    @cached_property
    def clause(self) -> list[Token]:
        """The tokens of its first clause."""
        return list(takewhile(lambda token: token.text not in "，。！？；：:", self.tokens)) or [*self.tokens[:1]]

    @cached_property
    def reports(self) -> bool:
        """Whether it reports what a body or a person says."""
        return bool(self.tokens) and self.clause[-1].text in word_list("order", "saying")

    def has(self, name: str, tokens: Sequence[Token] | None = None) -> bool:
        found = word_list("order", name)
        return any(token.text in found for token in (self.tokens if tokens is None else tokens))

    def leans(self, follows: bool = False) -> bool:
        """Whether it takes up what stands before it by a number, a link, a pronoun or a word that points; one that
        follows may add to a list (此外)."""
        adds = word_list("order", "adding") if follows else frozenset()
        if not self.tokens or (_COUNTS.search(self.text) and not follows):
            return True
        if self.tokens[0].text in word_list("order", "links") - adds:
            return True
        rest = self.tokens[len(self.clause) + 1 :] if self.reports else ()
        said = takewhile(lambda token: token.text not in "，。！？；：:", rest)
        leaning = word_list("order", "taking_up") | word_list("order", "pronouns") | word_list("order", "before")
        leaning -= adds | (word_list("order", "urging") if self.demands else frozenset())
        return any(
            token.text in leaning or token.text[0] in "该这那" or token.text == "其" or "此" in token.text
            for token in (*self.clause, *said)
        )

    @cached_property
    def is_item(self) -> bool:
        """Whether it may be one of a list: whole, and at no time, before or after another."""
        return (
            len(self.tokens) > 5
            and 9 < len(self.text) < 1_000
            and bool(_WHOLE.search(self.text))
            and all(self.text.count(pair[0]) == self.text.count(pair[1]) for pair in _BALANCED)
            and not _NO_ITEM.search(self.text)
            and not self.leans()
        )

    @property
    def demands(self) -> bool:
        return self.tokens[0].text in word_list("order", "demands") or self.has("modal", self.clause)

    @property
    def times(self) -> set[str]:
        return {token.text for token in self.clause if token.tag == "t" or token.text[-1] in "年月日号时"}

    def brings_up(self, told: set[str]) -> set[str]:
        """The nouns and names that it has and no sentence before it."""
        return {token.text for token in self.tokens if _is_noun(token)} - told


def _sentences(text: Analysis) -> Iterator[_Sentence]:
    tokens = iter(text.tokens)
    token = next(tokens, None)
    before = 0
    for start, end in text.spans:
        own: list[Token] = []
        while token is not None and token.start < end:
            own.append(token)
            token = next(tokens, None)
        yield _Sentence(text.text[start:end], own, "\n" in text.text[before:start])
        before = end


def _is_apart(sentences: Sequence[_Sentence], at: int) -> bool:
    """Return whether what stands around two neighbours lets them go, and both are in one line, or are lines."""
    before, first, second = sentences[at - 1 : at + 2]
    after = sentences[at + 2] if at + 2 < len(sentences) else None
    ends_line = after is None or after.begins_line
    if second.begins_line and not (first.begins_line and ends_line):
        return False
    if not (ends_line or after is None) and after.leans(follows=True):
        return False
    is_open = not first.begins_line and before.text[-1] in "：:，,、"
    return not is_open and not _ANNOUNCES.search(before.text + first.text)


def _are_alike(first: _Sentence, second: _Sentence, before: Sequence[_Sentence]) -> bool:
    """Return whether two neighbours are items of one list."""
    from rapidfuzz.distance import Indel

    shorter, longer = sorted((len(first.text), len(second.text)))
    if first.text[:15] == second.text[:15] or longer > 4 * shorter:
        return False
    labels = [match[0] for item in (first, second) if (match := _LABEL.match(item.text))]
    if len(labels) == 2:
        length, other_length = map(len, labels)
        told = first.has("happened") or second.has("happened") or labels[0] == labels[1]
        told = told or any(len(re.findall("[：:]", item.text)) > 1 for item in (first, second))
        return not told and abs(length - other_length) < 7 and not _SPEAKER.search("".join(labels))
    if re.search("[：:]", first.text + second.text) or first.reports != second.reports or first.times != second.times:
        return False
    if "说" in (first.clause[-1].text, second.clause[-1].text):
        return False  # a conversation
    # Words that both have in the same order; the shares were set by reading what 3,500 bodies of news give.
    one, other = ([token.text for token in item.tokens if token.text not in "，。的"] for item in (first, second))
    share = Indel.normalized_similarity(one, other)
    begins = first.tokens[0].text == second.tokens[0].text
    both_demand = first.demands and second.demands
    if not both_demand and (first.has("pronouns") or second.has("pronouns") or second.has("adding")):
        return False
    if share >= (0.6 if first.times else 0.35 if begins else 0.5):
        return True
    if first.has("happened", first.clause) or second.has("happened", second.clause) or first.times:
        return False
    if both_demand:
        return first.text[-1] == second.text[-1]
    if first.has("happened") or second.has("happened"):
        return False
    told_before = {token.text for sentence in before for token in sentence.tokens}
    chained = not first.brings_up(told_before).isdisjoint(token.text for token in second.tokens)
    if first.reports:
        return begins or not chained
    if begins and _is_noun(first.tokens[0]):
        return share >= 0.2 or (share >= 0.1 and first.has("stating") and second.has("stating"))
    return share >= 0.32 and first.tokens[0].tag[0] == second.tokens[0].tag[0] in "nvja" and not chained


def _is_noun(token: Token) -> bool:
    return token.tag[0] in "nj"
