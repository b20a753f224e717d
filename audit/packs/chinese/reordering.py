"""Which sentences of a Chinese text may change places (MR7.2 and MR7.3).

Two neighbours may where neither takes up what stands before it, what follows takes up neither, and nothing says that
one came first: both are items of a list, or they speak of different things. The first sentence says what a text is
about, and stays.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile

from audit.packs.chinese.taggers import pattern, word_list
from audit.text import Analysis
from audit.text.tokens import Token

_ENDED = re.compile(r"[。！？!?.．…][”’」』）)》\"']*\Z")
_WHOLE = re.compile(r"[。！][”’」』）)]*\Z")
_BALANCED = ("“”", "‘’", "「」", "《》", "（）", "【】", "()", "[]")
_PAUSES = "，。！？；：:"


def is_ended(sentence: str) -> bool:
    """Return whether a mark ends a sentence; none ends titles, credits, and what a text breaks off with.

    >>> is_ended("他说：“走。”"), is_ended("图（一）")
    (True, False)
    """
    return bool(_ENDED.search(sentence))


def exchangeable(text: Analysis) -> list[int]:
    """Return the sentences (by index) that may change places with the next one.

    >>> exchangeable(Analysis("会议开始。要把安全放在第一的位置。要把质量放在第二的位置。", "zh"))
    [1]
    """
    sentences = list(_sentences(text))
    return [at for at in range(1, len(sentences) - 1) if _may_change(sentences, at)]


@dataclass(frozen=True)
class _Sentence:
    """A sentence with its tokens, and whether it begins a line."""

    text: str
    tokens: Sequence[Token]
    begins_line: bool

    @cached_property
    def clause(self) -> list[Token]:
        """The tokens of its first clause."""
        return list(takewhile(lambda token: token.text not in _PAUSES, self.tokens)) or [*self.tokens[:1]]

    @cached_property
    def words(self) -> frozenset[str]:
        return frozenset(token.text for token in self.tokens)

    @cached_property
    def nouns(self) -> frozenset[str]:
        return frozenset(token.text for token in self.tokens if token.tag[0] in "nj")

    @property
    def states(self) -> bool:
        """Whether it says how something is that it names first."""
        return self.tokens[0].tag[0] in "nj" and self.text[-1] == "。" and (self.reports or self.has("stating"))

    @cached_property
    def reports(self) -> bool:
        """Whether it reports what a body or a person says."""
        return bool(self.tokens) and self.clause[-1].text in word_list("order", "saying")

    @property
    def demands(self) -> bool:
        modal = word_list("order", "modal")
        return self.tokens[0].text in word_list("order", "demands") or any(t.text in modal for t in self.clause)

    @property
    def times(self) -> set[str]:
        return {token.text for token in self.clause if token.tag == "t" or token.text[-1] in "年月日号时"}

    def has(self, name: str) -> bool:
        return not self.words.isdisjoint(word_list("order", name))

    def leans(self, follows: bool = False) -> bool:
        """Whether it takes up what stands before it by a number, a link, a pronoun or a word that points; one that
        follows may add to a list (此外)."""
        adds = word_list("order", "adding") if follows else frozenset()
        if not self.tokens or (pattern("counted").search(self.text) and not follows):
            return True
        if self.tokens[0].text in word_list("order", "links") - adds:
            return True
        rest = self.tokens[len(self.clause) + 1 :] if self.reports else ()
        said = takewhile(lambda token: token.text not in _PAUSES, rest)
        leaning = word_list("order", "taking_up") | word_list("order", "pronouns") | word_list("order", "before")
        leaning -= adds | (word_list("order", "urging") if self.demands else frozenset())
        return any(
            token.text in leaning or token.text[0] in "该这那" or token.text == "其" or "此" in token.text
            for token in (*self.clause, *said)
        )

    @cached_property
    def is_whole(self) -> bool:
        """Whether it may stand elsewhere: a whole sentence that takes up nothing."""
        return (
            len(self.tokens) > 5
            and 9 < len(self.text) < 1_000
            and bool(_WHOLE.search(self.text))
            and all(self.text.count(pair[0]) == self.text.count(pair[1]) for pair in _BALANCED)
            and not pattern("no_item").search(self.text)
            and not self.leans()
        )


def _sentences(text: Analysis) -> Iterator[_Sentence]:
    before = 0
    for start, end in text.spans:
        own = [token for token in text.tokens if start <= token.start < end]
        yield _Sentence(text.text[start:end], own, "\n" in text.text[before:start])
        before = end


def _may_change(sentences: Sequence[_Sentence], at: int) -> bool:
    before, first, second = sentences[at - 1 : at + 2]
    after = sentences[at + 2] if at + 2 < len(sentences) else None
    if not first.is_whole or not second.is_whole or first.text[:15] == second.text[:15]:
        return False
    ends_line = after is None or after.begins_line
    if second.begins_line and not (first.begins_line and ends_line):
        return False  # a sentence of one paragraph does not move into the next one
    if after is not None and not ends_line and after.leans(follows=True):
        return False
    announced = "" if first.begins_line else before.text
    if pattern("announcing").search(announced) or pattern("announcing").search(first.text):
        return False
    if (listed := _are_listed(first, second)) is not None:
        return listed
    # Nothing makes them a list: each says how something of its own is, and what follows does not go on with the second.
    goes_on = after is not None and not ends_line and not (second.nouns - first.nouns).isdisjoint(after.nouns)
    return first.states and second.states and first.nouns.isdisjoint(second.nouns) and not goes_on


def _are_listed(first: _Sentence, second: _Sentence) -> bool | None:
    """Return whether two neighbours are items of one list; None where they do not look like it, and False where
    something says that the first comes first."""
    from rapidfuzz.distance import Indel

    labels = [match[0] for item in (first, second) if (match := pattern("label").match(item.text))]
    happened = first.has("happened") or second.has("happened")
    if len(labels) == 2:
        told = happened or labels[0] == labels[1]
        told = told or any(len(re.findall("[：:]", item.text)) > 1 for item in (first, second))
        return not told and not pattern("speaker").search("".join(labels))
    if re.search("[：:]", first.text + second.text) or first.reports != second.reports or first.times != second.times:
        return False
    if "说" in (first.clause[-1].text, second.clause[-1].text):
        return False  # a conversation
    if first.demands and second.demands:  # of one body: 要… takes its subject from what stands before it
        opens = [item.tokens[0].text in word_list("order", "demands") for item in (first, second)]
        return first.text[-1] == second.text[-1] and opens[0] == opens[1]
    if happened or any(item.has("pronouns") or item.has("adding") for item in (first, second)):
        return False
    # The share was set by reading what bodies of news give.
    own, other = ([token.text for token in item.tokens if token.text not in "，。的"] for item in (first, second))
    if Indel.normalized_similarity(own, other) >= 0.5:
        return True
    alike = first.tokens[0].text == second.tokens[0].text
    return True if alike and (first.reports or first.tokens[0].tag[0] in "nj") else None
