"""Perturbations of Chinese texts: noise in characters, other ways to write the same, words, statements, sentences.

Their names are others than those of English perturbations, since a relation of a task has one name, one function and
one list of packages; docs/reference/chinese.md says which belong together. Long patterns are in
data/lexicons/chinese_words.toml.

Noise: in words that change, the tagger's words of two characters or more, no character that counts, negates or refers
is touched, so that a reader still reads what was meant; names stay. What comes out of noise is no other word.
"""

import random
import re
import tomllib
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache, partial
from itertools import pairwise
from typing import Any

from audit.errors import NotInstalled
from audit.packs.chinese.relations import TASKS as STUDIED
from audit.packs.chinese.reordering import is_ended
from audit.packs.chinese.taggers import DEFAULT, HAN, NEEDS, is_traditional, jieba, lexicon, opencc, pattern, simplified
from audit.relations.base import Plain, Rewritten, Source, Words, maps, where_same
from audit.relations.expect import TITLES, Mapped, SimilarText, plain_words
from audit.relations.uses import EVERY, FIRST, SECOND, SIMILAR, Function, Use, relation, uses
from audit.resources import data_file, data_rows
from audit.tasks import Input
from audit.text import Analysis
from audit.text.tokens import words

_KEEPS = tomllib.loads(data_file("lexicons/chinese_keeps.toml").read_text(encoding="utf-8"))


def in_chinese(
    name: str, family: str, tasks: Mapping[str, Use] = EVERY, *, reads_words: bool = False, **options: Any
) -> Callable[[Function], Function]:
    """Return `relation` for texts in Chinese, with what data/lexicons/chinese_keeps.toml says of it; one that
    `reads_words` has the parameter `tagger`. A run of a task of the study, which has its own relations, takes none."""
    params = {"tagger": DEFAULT} if reads_words else None
    own = {task: replace(use, default=False) if task in STUDIED else use for task, use in tasks.items()}

    def keep(function: Function) -> Function:
        kept = _KEEPS[function.__name__]
        first, *others = (function.__doc__ or "").split("\n\n")
        said = f"Keeps {kept['keeps']}; may break {kept['may_break']}."
        function.__doc__ = "\n\n".join([first, said, *others])
        return relation(name, family=family, tasks=own, languages=("zh",), params=params, **options)(function)

    return keep


@dataclass(frozen=True, kw_only=True)
class Throughout(Plain):
    """A perturbation that changes all texts of an input or none, so that both of a pair are written in one way.

    None from it says of a text that it cannot be changed as it should be; the text itself, that nothing is to change.
    It makes no random choices.
    """

    def make_group(self, source: Source) -> tuple[list[Input], Words]:
        read = source.analyses if self.changes == "all" and self.reads(source) else ()
        if any(place < len(read) and self.perturb(read[place], random.Random(0)) is None for place in self.texts):
            return [], ()
        return Plain.make_group(self, source)


# Noise: one word in ten.

_NOISE = "noise in characters"
_SHARE = 0.1
_TOUCHABLE = frozenset(words("n v vn vd a ad an d b z l i j"))
"""Tags of words that may change: no names, times, numbers, pronouns, links, particles."""
_COMMON = 2600
"""Characters that people type; the ones that stand most often in the words of jieba's dictionary."""


def _noisy(text: Analysis, choices: random.Random, tagger: str, change: Callable[[str], Iterator[str]]) -> str | None:
    """Return the text with a tenth of its words changed, at least one; None where none of them can be."""
    text = text.tagged_by(tagger)
    frequencies = _frequencies()
    places = [
        at
        for at, token in enumerate(text.tokens)
        if token.tag in _TOUCHABLE
        and len(token.text) > 1
        and HAN.fullmatch(token.text)
        and set(token.text).isdisjoint(lexicon("signs")["kept"])
        and frequencies.get(token.text)  # a tagger also makes words of pieces of two
    ]
    choices.shuffle(places)
    new: dict[int, str] = {}
    for at in places:
        # a dictionary also lists beginnings of its words, with frequency 0
        candidates = [word for word in change(text.tokens[at].text) if not frequencies.get(word)]
        if candidates:
            new[at] = choices.choice(candidates)
        if len(new) == max(1, round(_SHARE * len(text.tokens))):
            break
    return text.replace(new) if new else None


def _frequencies() -> Mapping[str, int]:
    """The words of jieba's dictionary with how often they stand in its texts. Raises NotInstalled without jieba."""
    frequencies: Mapping[str, int] = jieba().dt.FREQ
    return frequencies


@cache
def _by_sound() -> Mapping[str, str]:
    """Common character -> others of the same sound and tone, both of one reading only, the most frequent first."""
    try:
        from pypinyin.pinyin_dict import pinyin_dict
    except ImportError as problem:
        raise NotInstalled(NEEDS.format("pypinyin")) from problem
    counts: Counter[str] = Counter()
    for word, frequency in _frequencies().items():
        for character in word:
            counts[character] += frequency
    readings: dict[str, list[str]] = defaultdict(list)
    for character, _ in counts.most_common(_COMMON):
        reading = pinyin_dict.get(ord(character), ",")
        encoded = character.encode("gb2312", "ignore")
        is_common = len(encoded) == 2 and 0xB0 <= encoded[0] <= 0xD7  # the first level of GB 2312
        if "," not in reading and character not in lexicon("signs")["kept"] and is_common:
            readings[reading].append(character)
    return {one: "".join(same).replace(one, "")[:4] for same in readings.values() for one in same}


@cache
def _by_shape() -> Mapping[str, str]:
    """Character -> those that look nearly the same (data/lexicons/chinese_look_alikes.txt)."""
    alike: dict[str, str] = defaultdict(str)
    for group in (group for row in data_rows("lexicons/chinese_look_alikes.txt") for group in row[0].split()):
        for character in group:
            alike[character] += group.replace(character, "")
    return alike


def _replaced(word: str, others: Mapping[str, str]) -> Iterator[str]:
    for at, character in enumerate(word):
        for other in others.get(character, ""):
            yield word[:at] + other + word[at + 1 :]


def _swaps(word: str) -> Iterator[str]:
    for at, (left, other) in enumerate(pairwise(word)):
        if left != other:
            yield word[:at] + other + left + word[at + 2 :]


_in_words = partial(in_chinese, family=_NOISE, reads_words=True, version="2")


@_in_words("homophones", needs=("jieba", "pypinyin"))
def homophones(text: Analysis, choices: random.Random, tagger: str = DEFAULT) -> str | None:
    """A character of one word in ten is another one of the same sound and tone, as one who types by sound picks it."""
    return _noisy(text, choices, tagger, lambda word: _replaced(word, _by_sound()))


@_in_words("look-alikes", needs=("jieba",))
def look_alikes(text: Analysis, choices: random.Random, tagger: str = DEFAULT) -> str | None:
    """A character of one word in ten is one that looks nearly the same, as a scanner reads it."""
    return _noisy(text, choices, tagger, lambda word: _replaced(word, _by_shape()))


@_in_words("swapped-characters", needs=("jieba",))
def swapped_characters(text: Analysis, choices: random.Random, tagger: str = DEFAULT) -> str | None:
    """Two characters inside one word in ten change places."""
    return _noisy(text, choices, tagger, _swaps)


@_in_words("repeated-characters", needs=("jieba",))
def repeated_characters(text: Analysis, choices: random.Random, tagger: str = DEFAULT) -> str | None:
    """The last character of one word in ten stands twice, as a key that was pressed twice."""
    return _noisy(text, choices, tagger, lambda word: iter([word + word[-1]] if word[-1] != word[-2] else []))


@in_chinese("stray-spaces", _NOISE)
def stray_spaces(text: Analysis, choices: random.Random) -> str | None:
    """A space stands between two characters, in one of ten places, as in text out of a file with a layout."""
    gaps = [match.end() for match in re.finditer(r"[\u4e00-\u9fff](?=[\u4e00-\u9fff])", text.text)]
    chosen = set(choices.sample(gaps, max(1, round(_SHARE * len(gaps))))) if gaps else set()
    return "".join(" " * (at in chosen) + sign for at, sign in enumerate(text.text)) if chosen else None


# Other ways to write the same.

_WRITING = "another way to write"
_throughout = partial(in_chinese, family=_WRITING, version="2", kind=Throughout)


def same_characters(text: str) -> str:
    """Return the words of a text (`plain_words`) in simplified characters, letters and digits of half width.

    >>> same_characters("体育２０１５")
    '体 育 2015'
    """
    return plain_words(unicodedata.normalize("NFKC", simplified(text)))


_BY_SCRIPT = EVERY | {
    "summarization": Use(
        check=SimilarText(SIMILAR, same_characters),
        expects="the summary stays much the same, whatever its script and width",
        carry=where_same(same_characters),
    )
}


@_throughout("script", tasks=_BY_SCRIPT, needs=("jieba", "opencc"))
def script(text: Analysis, choices: random.Random) -> str | None:
    """All is in traditional characters, or, of a text that is, in simplified ones."""
    return simplified(text.text) if is_traditional(text.text) else to_taiwan(text)


def to_taiwan(text: Analysis) -> str | None:
    """Return the text in the traditional characters of Taiwan; None where a character may stand for several of them.

    The table of OpenCC has many words, but takes the longest that a text has: 31个中小型 has its 个中 (箇中). So the
    text is converted as a whole and word by word, and both must agree. A character of several forms must stand in a
    word of the dictionary, and in no name. Raises NotInstalled without the tagger.

    >>> to_taiwan(Analysis("我们常常一起上学。", "zh")), to_taiwan(Analysis("他系海南人。", "zh"))
    ('我們常常一起上學。', None)
    """
    new: str = opencc("s2tw").convert(text.text)
    if len(new) != len(text.text) or pattern("both_ways").search(text.text) or pattern("doubtful").search(new):
        return None
    alone = set(lexicon("signs")["alone"])
    for token in text.tagged_by(DEFAULT).tokens:
        is_name = token.tag in ("nr", "nz", "nt")
        is_word = len(token.text) > 1 and token.tag != "nr" and _frequencies().get(token.text)
        unsure = alone | set(lexicon("signs")["in_names"]) if is_name else set() if is_word else alone
        if new[token.start : token.end] != _in_taiwan(token.text) or not unsure.isdisjoint(token.text):
            return None
    return new


@lru_cache(maxsize=4096)
def _in_taiwan(word: str) -> str:
    converted: str = opencc("s2tw").convert(word)
    return converted


@in_chinese("letter-width", _WRITING, _BY_SCRIPT)
def letter_width(text: Analysis, choices: random.Random) -> str | None:
    """Digits and Latin letters are of full width, or, where they are, of half width.

    Texts with an address (of mail, of the web) make no group.
    """
    if re.search("@|www|://", text.text):
        return None
    new = re.sub("[０-９Ａ-Ｚａ-ｚ]", lambda match: chr(ord(match[0]) - 0xFEE0), text.text)
    return new if new != text.text else re.sub("[0-9A-Za-z]", lambda match: chr(ord(match[0]) + 0xFEE0), new)


_WESTERN = str.maketrans("，。？！；：（）", ",.?!;:()")


@_throughout("western-marks")
def western_marks(text: Analysis, choices: random.Random) -> str | None:
    """Commas, stops, colons, brackets and the like are those of the West, as much of the web types them."""
    return None if pattern("no_western").search(text.text) else text.text.translate(_WESTERN)


@_throughout("last-mark", tasks={task: use for task, use in EVERY.items() if task != "summarization"})
def last_mark(text: Analysis, choices: random.Random) -> str | None:
    """The last full stop or question mark is left out, or a full stop is put where there is no mark.

    Headings get none. A question that no word asks (他来？) keeps its mark.
    """
    body = text.text.rstrip()
    asks = pattern("asking").search
    if re.search(r"[\u4e00-\u9fff]\Z", body):
        return f"{body}。" if "，" in body and not asks(body) else None
    is_question = re.search(r"[\u4e00-\u9fff][？?]\Z", body) and asks(re.split("[，。！；,]", body)[-1])
    return body[:-1] if is_question or re.search(r"[^\s。.…！!？?]。\Z", body) else None


@_throughout("dates")
def dates(text: Analysis, choices: random.Random) -> str | None:
    """The day of a date is 号 instead of 日, or the other way round.

    No group where other days stand without a month (24日至27日), in formal texts, and in traditional characters.
    """
    if pattern("formal").search(text.text) or is_traditional(text.text):
        return None
    kinds = {match[2] for match in pattern("day").finditer(text.text)}
    if len(kinds) != 1:
        return None if kinds else text.text
    new = pattern("day").sub(lambda match: match[1] + ("号" if match[2] == "日" else "日"), text.text)
    return None if re.search(rf"\d{kinds.pop()}", new) else new


# Words: others in their place that mean the same, by data/lexicons/chinese_other_words.tsv.

_WORDS = "other words for the same"


@cache
def other_words(kind: str) -> Mapping[str, tuple[frozenset[str], str, re.Pattern[str] | None]]:
    """Word of a kind -> the tags that it must have (none: any), what it may become, and where not."""
    rows = [(*row, "")[:5] for row in data_rows("lexicons/chinese_other_words.tsv", 4) if row[0] == kind]
    return {
        word: (frozenset(tags.split(",")) - {"*"}, new, re.compile(unless) if unless else None)
        for _, word, tags, new, unless in rows
    }


def _reworded(kind: str, text: Analysis, most: int, choices: random.Random) -> str | None:
    """Return the text with some words replaced, each wherever it stands and may be; None where there is none."""
    others = other_words(kind)
    titles = [match.span() for match in TITLES.finditer(text.text)]
    new: dict[str, dict[int, str]] = {}
    for at, token in enumerate(text.tokens) if any(word in text.text for word in others) else ():
        tags, other, unless = others.get(token.text, (frozenset("-"), "", None))
        around = text.text[max(0, token.start - 4) : token.end + 4]
        if (not tags or token.tag in tags) and not (unless and unless.search(around)):
            in_title = any(start < token.start < end for start, end in titles)
            new.setdefault(token.text, {}).update({} if in_title else {at: other})
    chosen = [new[word] for word in choices.sample(sorted(new), min(most, len(new)))]
    return text.replace({at: word for places in chosen for at, word in places.items()}) if any(chosen) else None


@in_chinese("other-links", _WORDS, reads_words=True, needs=("jieba",), version="2")
def other_links(text: Analysis, choices: random.Random, tagger: str = DEFAULT) -> str | None:
    """One or two words of grammar become others that do the same: 可是 for 但是, 由于 for 因为."""
    return _reworded("link", text.tagged_by(tagger), 2, choices)


@in_chinese("internet-spellings", _WORDS, reads_words=True, needs=("jieba",))
def internet_spellings(text: Analysis, choices: random.Random, tagger: str = DEFAULT) -> str | None:
    """Up to three words are spelled as people do for fun on the internet: 木有 for 没有."""
    return _reworded("net", text.tagged_by(tagger), 3, choices)


# Statements denied and affirmed.

_DENIED = {"entailment": ["contradiction"], "contradiction": ["entailment", "neutral"], "neutral": ["neutral"]}
_OPPOSITE = {
    "inference": Use(
        check=Mapped(tuple((label, tuple(allowed)) for label, allowed in _DENIED.items())),
        expects="entailment becomes contradiction, contradiction does not stay, neutral stays",
        texts=SECOND,
        carry=maps(_DENIED),
    )
}


@in_chinese("untrue-statement", "denial", _OPPOSITE)
def untrue_statement(text: Analysis, choices: random.Random) -> str | None:
    """The hypothesis is denied: “…”这一说法不属实。"""
    return _framed(text, "这一说法不属实。")


@in_chinese("true-statement", _WORDS, uses("inference", texts=SECOND))
def true_statement(text: Analysis, choices: random.Random) -> str | None:
    """The hypothesis is affirmed: “…”这一说法属实。"""
    return _framed(text, "这一说法属实。")


def _framed(text: Analysis, frame: str) -> str | None:
    body = text.text.strip()
    ends_well = re.search("[\u4e00-\u9fff]。?\\Z", body)
    if len(text.spans) != 1 or len(body) < 5 or not ends_well or pattern("unframed").search(body):
        return None
    return f"“{body.removesuffix('。')}”{frame}" if body[-1] == "。" or pattern("statement").search(body) else None


# Sentences: more of them. (Another order is MR7.2 and MR7.3 of the study.)

_SENTENCES = "sentences added"


@cache
def _irrelevant() -> Mapping[str, frozenset[str]]:
    """The sentences of data/sentences/chinese_irrelevant.txt with their words of content."""
    analyses = (Analysis(row[0], "zh", DEFAULT) for row in data_rows("sentences/chinese_irrelevant.txt"))
    return {text.text: frozenset(token.text for token in text.tokens if token.tag[0] in "nva") for text in analyses}


@in_chinese(
    "unrelated-ending",
    _SENTENCES,
    uses("inference", "summarization") | uses("question-answering", texts=FIRST),
    by="input",
    version="2",
    needs=("jieba", "opencc"),
)
def unrelated_ending(texts: Sequence[Analysis], choices: random.Random) -> Rewritten | None:
    """A sentence about something else stands at the end of the first text.

    It shares no noun or verb with any text of the input; none behind texts in traditional characters.
    """
    joined, body = "\n".join(text.text for text in texts), texts[0].text.rstrip()
    if is_traditional(joined) or not is_ended(body.rpartition("\n")[2]) or body[-1] in ".…":
        return None
    free = [sentence for sentence, content in _irrelevant().items() if not any(word in joined for word in content)]
    return Rewritten((body + choices.choice(free), *(text.text for text in texts[1:]))) if free else None


@in_chinese(
    "doubled-sentence",
    _SENTENCES,
    uses("classification", "inference", "question-answering", "sentiment", "summarization", texts=FIRST),
)
def doubled_sentence(text: Analysis, choices: random.Random) -> str | None:
    """One sentence of the text, the context or the premise stands twice, one behind the other."""
    whole = [(start, end) for start, end in text.spans if text.text[end - 1] in "。！？" and end - start > 4]
    start, end = choices.choice(whole) if whole else (0, 0)
    return text.text[:end] + text.text[start:end] + text.text[end:] if whole else None
