"""Perturbations of Chinese texts: words, statements and questions, sentences.

Those of characters are in `characters.py`. Their names are others than those of English perturbations, since a relation
of a task has one name, one function and one list of packages; docs/reference/chinese.md says which belong together.
"""

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from audit.errors import BadRow
from audit.packs.chinese.characters import by_name, in_chinese
from audit.packs.chinese.coherence import is_ended
from audit.packs.chinese.taggers import DEFAULT, is_traditional
from audit.relations.base import Rewritten, maps
from audit.relations.expect import TITLES, Mapped
from audit.relations.uses import EVERY, FIRST, SECOND, Use, relation, uses
from audit.resources import data_file
from audit.text import Analysis

# Words: others in their place that mean the same.

_WORDS = "other words for the same"


@dataclass(frozen=True, slots=True)
class Other:
    """What a word may become: the tags that the word must have (none: any), and where not."""

    tags: frozenset[str]
    new: str
    unless: re.Pattern[str] | None


@cache
def other_words(kind: str) -> Mapping[str, Other]:
    """Word -> what it may become, of a kind of data/lexicons/chinese_other_words.tsv. Raises BadRow naming a bad line.

    >>> other_words("link")["但是"].new
    '可是'
    """
    path = data_file("lexicons/chinese_other_words.tsv")
    others: dict[str, Other] = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        columns = [*line.split("\t"), ""][:5]
        if line.startswith("#") or columns[0] not in (kind, ""):
            continue
        if len(columns) < 5 or not all(columns[:4]):
            raise BadRow(path.name, number, "need kind, word, tags, new word and conditions, with tabs between")
        _, word, tags, new, unless = columns
        others[word] = Other(frozenset(tags.split(",")) - {"*"}, new, re.compile(unless) if unless else None)
    return others


def _reworded(kind: str, text: Analysis, most: int, choices: random.Random) -> str | None:
    """The text with some words replaced, each wherever it stands and may be; None where there is none."""
    others = other_words(kind)
    if not any(word in text.text for word in others):
        return None
    tokens = text.tokens
    new: dict[str, dict[int, str]] = {}
    for at, token in enumerate(tokens):
        other = others.get(token.text)
        if other is None or (other.tags and token.tag not in other.tags):
            continue
        around = text.text[max(0, token.start - 4) : token.end + 4]
        if not (other.unless and other.unless.search(around)):
            new.setdefault(token.text, {})[at] = other.new
    titles = [match.span() for match in TITLES.finditer(text.text)]
    chosen: dict[int, str] = {}
    for word in choices.sample(sorted(new), min(most, len(new))):
        chosen.update(
            (at, replacement)
            for at, replacement in new[word].items()
            if not any(start < tokens[at].start < end for start, end in titles)
        )
    return text.replace(chosen) if chosen else None


@in_chinese("other-links", _WORDS, reads_words=True, needs=("jieba",), version="2")
def other_links(text: Analysis, choices: random.Random, tagger: str = DEFAULT) -> str | None:
    """One or two words of grammar become others that do the same: 可是 for 但是, 由于 for 因为.

    Keeps how clauses hang together; may break grammar where the other word wants another neighbour (已经具雏形), and
    rhythm.

    >>> other_links(Analysis("因为下雨，他没来。", "zh"), random.Random(0))
    '由于下雨，他没来。'
    """
    return _reworded("link", text.tagged_by(tagger), 2, choices)


@in_chinese("internet-spellings", _WORDS, reads_words=True, needs=("jieba",))
def internet_spellings(text: Analysis, choices: random.Random, tagger: str = DEFAULT) -> str | None:
    """Up to three words are spelled as people do for fun on the internet: 木有 for 没有.

    Keeps what is said; may break labels of register and of the writer's age, and the tone of a serious text, which
    turns to a joke.

    >>> internet_spellings(Analysis("同学没有来。", "zh"), random.Random(0))
    '童鞋木有来。'
    """
    return _reworded("net", text.tagged_by(tagger), 3, choices)


# Inference: statements denied and affirmed.

_DENIED = {
    "entailment": ["contradiction"],
    "contradiction": ["entailment", "neutral"],
    "neutral": ["neutral"],
}
_OPPOSITE = {
    "inference": Use(
        check=Mapped(tuple((label, tuple(allowed)) for label, allowed in _DENIED.items())),
        expects="entailment becomes contradiction, contradiction does not stay, neutral stays",
        texts=SECOND,
        carry=maps(_DENIED),
    )
}
_DENYING = "denial"


@in_chinese("untrue-statement", _DENYING, _OPPOSITE)
def untrue_statement(text: Analysis, choices: random.Random) -> str | None:
    """The hypothesis is denied: “…”这一说法不属实。

    Keeps the premise; may break sense where the hypothesis is a heading, an instruction or an invitation, and which
    part of a long one is denied.

    One sentence without quotation marks, which is no question.

    >>> untrue_statement(Analysis("他是医生。", "zh"), random.Random(0))
    '“他是医生”这一说法不属实。'
    """
    return _framed(text, "这一说法不属实。")


@in_chinese("true-statement", _WORDS, uses("inference", texts=SECOND))
def true_statement(text: Analysis, choices: random.Random) -> str | None:
    """The hypothesis is affirmed: “…”这一说法属实。

    Keeps what the hypothesis says; may break its tone, which becomes that of an office that answers a rumour.

    >>> true_statement(Analysis("他是医生。", "zh"), random.Random(0))
    '“他是医生”这一说法属实。'
    """
    return _framed(text, "这一说法属实。")


_UNFIT = re.compile(
    "[“”‘’「」『』\"'?？！!\n]|^(?:[但而请并且却则]|所以|因此|其次|首先|此外|另外|同时|然后|最后|[（(]|\\d+[、.])|^[^《]*》"
)
"""What is no statement, has quotation marks, or goes on with what was said."""
_SAYS = re.compile("^[^：]*[是有在了会能被将着过的][^：]*$")
"""What has no full stop and is no heading."""


def _framed(text: Analysis, frame: str) -> str | None:
    body = text.text.strip()
    if len(text.spans) != 1 or _UNFIT.search(body) or len(body) < 5 or not re.search("[\u4e00-\u9fff]。?\\Z", body):
        return None
    if body[-1] != "。" and not _SAYS.search(body):
        return None
    return f"“{body.removesuffix('。')}”{frame}"


# Questions.


@in_chinese("may-i-ask", "the question put otherwise", uses("question-answering"))
def may_i_ask(text: Analysis, choices: random.Random) -> str | None:
    """The question is put politely: 请问，….

    Keeps what is asked; may break a rhetorical question, which wants no answer, and labels of politeness.

    >>> may_i_ask(Analysis("他住在哪里？", "zh"), random.Random(0))
    '我想问一下，他住在哪里？'
    """
    body = text.text.strip()
    if not _QUESTION.fullmatch(body) or not _ASKS.search(body) or _NO_QUESTION.search(body):
        return None
    return choices.choice(("请问，", "我想问一下，", "想请教一下，")) + body


_QUESTION = re.compile('[^？?！!。；;：:\n》”"]{4,60}[？?]')
_ASKS = re.compile("[吗呢么哪谁几何啥]|怎|多少|是否|是不是|有没有|能不能|可不可以")
_NO_QUESTION = re.compile(
    r"^(?:[请且但而还那图“‘（(【《\d]|难道|可是|所以|首先|莫非|何况|结果|既然)|不是.*吗|岂|竟然|点击|何况|难道|又怎|更多|然而|奇怪|可想而知|何在|[了的][？?]"
)
"""What is put to nobody, or begins in the middle."""

# Sentences: more of them. (Another order is MR7.2 and MR7.3 of the study.)

_SENTENCES = "sentences added"


@cache
def _irrelevant() -> tuple[str, ...]:
    """The sentences of data/sentences/chinese_irrelevant.txt."""
    return tuple(data_file("sentences/chinese_irrelevant.txt").read_text(encoding="utf-8").split())


def _appended(text: str, sentence: str) -> str | None:
    """The text with a sentence at its end; None where the text does not end as a sentence does."""
    body = text.rstrip()
    last = body.rpartition("\n")[2]
    return f"{body}{sentence}" if is_ended(last) and body[-1] not in ".…" else None


_UNRELATED = {
    task: use
    for task, use in (EVERY | uses("question-answering", texts=FIRST)).items()
    if task in ("inference", "question-answering", "summarization")
}


@relation(
    "unrelated-ending",
    by="input",
    family=_SENTENCES,
    tasks=by_name(_UNRELATED),
    languages=("zh",),
    version="2",
    needs=("jieba", "opencc"),
)
def unrelated_ending(texts: Sequence[Analysis], choices: random.Random) -> Rewritten | None:
    """A sentence about something else stands at the end of the first text.

    Keeps every sentence of the text; may break its thread, and a summary that takes the ending for the point.

    It is one of `data/sentences/chinese_irrelevant.txt` that shares no noun or verb with any text of the input; none
    behind texts in traditional characters.

    >>> texts = Analysis("小明住在北京。", "zh"), Analysis("小明住在哪里？", "zh")
    >>> unrelated_ending(texts, random.Random(0)).texts[0]
    '小明住在北京。蜂蜜放久了会结晶。'
    """
    joined = "\n".join(text.text for text in texts)
    if is_traditional(joined):
        return None
    free = [sentence for sentence in _irrelevant() if not any(word in joined for word in _content(sentence))]
    new = _appended(texts[0].text, choices.choice(free)) if free else None
    return Rewritten((new, *(text.text for text in texts[1:]))) if new else None


@cache
def _content(sentence: str) -> frozenset[str]:
    return frozenset(token.text for token in Analysis(sentence, "zh", DEFAULT).tokens if token.tag[0] in "nva")


@in_chinese(
    "doubled-sentence",
    _SENTENCES,
    uses("classification", "inference", "question-answering", "sentiment", "summarization", texts=FIRST),
)
def doubled_sentence(text: Analysis, choices: random.Random) -> str | None:
    """One sentence of the text, the context or the premise stands twice, one behind the other.

    Keeps what is said; may break tone, since it sounds insistent, or like a slip of whoever copied the text.

    >>> doubled_sentence(Analysis("它很长。我喜欢它。", "zh"), random.Random(0))
    '它很长。我喜欢它。我喜欢它。'
    """
    whole = [
        (start, end)
        for start, end in text.spans
        if is_ended(text.text[start:end]) and text.text[end - 1] in "。！？" and len(text.text[start:end]) > 4
    ]
    if not whole:
        return None
    start, end = choices.choice(whole)
    return text.text[:end] + text.text[start:end] + text.text[end:]
