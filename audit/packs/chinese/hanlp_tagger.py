"""Chinese words and tags by a model of HanLP: of characters, of words, or of several tasks."""

import hashlib
import io
import re
import warnings
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout
from importlib.metadata import version
from pathlib import Path
from typing import Any

from audit.errors import AuditError, BadFile, NotInstalled, first_line
from audit.packs.chinese.sentences import spans
from audit.packs.chinese.taggers import by_characters, from_entity, to_peoples_daily
from audit.systems.model_files import one_thread
from audit.text.tokens import Token

# HanLP's components by name or directory, loaded quietly and on the processor.

MISSING = 'this needs HanLP; run: pip install "audit[chinese]"'
_LIST = "https://hanlp.hankcs.com/docs/api/hanlp/pretrained"


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
    """The component that `hanlp.load` makes of a directory, or of a name that it may download.

    Raises NotInstalled where there is no such model, BadFile for a directory that holds none or a damaged one.
    """
    package = hanlp()
    folder = Path(model)
    if not folder.is_dir() and model not in package.pretrained.ALL:
        raise NotInstalled(f"there is no directory {model!r}, and HanLP has no model of this name; {_LIST} lists them")
    one_thread()
    printed = io.StringIO()
    try:
        with redirect_stdout(printed), redirect_stderr(printed), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return package.load(model, devices=-1, verbose=False)
    except (Exception, SystemExit) as problem:  # whatever a download, a file or a version of it makes HanLP raise
        if folder.is_dir():
            raise BadFile(
                f"{model}: HanLP cannot load this model ({first_line(problem)}); train or download it again"
            ) from problem
        raise NotInstalled(
            f"HanLP's model {model!r} could not be downloaded or loaded ({first_line(problem)}); download and unpack "
            f"{package.pretrained.ALL[model]} and name its directory instead"
        ) from problem


def model_version(model: str) -> str:
    """Names a model: a directory by what its files hold, another one by the file that HanLP downloads."""
    package = hanlp()
    folder = Path(model)
    if not folder.is_dir():
        return f"hanlp {version('hanlp')}, {Path(package.pretrained.ALL[model]).stem}"
    state = hashlib.blake2b(digest_size=6)
    for file in sorted(folder.iterdir()):
        if file.is_file() and file.suffix in (".pt", ".json"):
            state.update(file.name.encode())
            state.update(hashlib.blake2b(file.read_bytes()).digest())
    return f"hanlp {version('hanlp')}, model {state.hexdigest()}"


RULES = "1"
"""Version of the treatment of a model's words; part of the tagger's version."""
LONGEST = 256
"""Characters that a model is given at once; what is longer is cut at a comma, or anywhere."""

Span = tuple[int, int, str]
"""Where a word starts and ends, and its tag."""

_CHARACTERS = re.compile(r"[BIESM]-.+")
_LATIN = re.compile(r"[A-Za-zＡ-Ｚａ-ｚ]+")
_REST = re.compile(r"[^，、；：,;:\s]*\Z")
_COARSE = re.compile(r"[-A-Za-z0-9Ａ-Ｚａ-ｚ０-９]+")


class HanlpTagger:
    """Words and tags by `hanlp.load(model)`: its kind is found out from the component.

    - of characters with tags such as B-nr (docs/reference/chinese.md has the training of one);
    - of several tasks, with `tok/*` and `pos/pku` or `pos/ctb`; of the latter's proper names (NR) `ner/*` says which
      are persons, places and organisations, and without it they are `nz`;
    - of words, after a tokenizer: `TOKENIZER+TAGGER`, or jieba's words where only the tagger is named.

    Raises NotInstalled where HanLP or the model is absent, BadFile where it is damaged, AuditError for a component
    that does not find words and tags.
    """

    def __init__(self, model: str):
        names = [model] if Path(model).is_dir() else model.split("+")
        components = [load(name) for name in names]
        kinds = [_kind(component, name) for component, name in zip(components, names, strict=True)]
        self.version = "; ".join([*map(model_version, names), f"rules {RULES}"])
        self._tag: Callable[[list[str]], list[list[Span]]]
        if kinds == ["characters"]:
            self._tag = _character_tagger(components[0])
        elif kinds == ["tasks"]:
            self._tag = _multitask_tagger(components[0], names[0])
        elif kinds == ["words"]:
            self._tag = _word_tagger(_jieba(), components[0])
        elif kinds == ["tokenizer", "words"]:
            self._tag = _word_tagger(components[0], components[1])
        else:
            raise AuditError(
                f"HanLP's model {model!r} gives {' and '.join(kinds)}, not words with tags; name a tagger, or "
                "TOKENIZER+TAGGER"
            )

    def __call__(self, text: str) -> tuple[Token, ...]:
        """Tokens in order; white space is none."""
        places = list(_pieces(text))
        tokens: list[Token] = []
        if places:
            one_thread()
            tagged = self._tag([text[a:b] for a, b in places])
            for (start, end), words in zip(places, tagged, strict=True):
                tokens += [Token(text[a:b], tag, a, b) for a, b, tag in _repaired_words(text, start, end, words)]
        return tuple(tokens)


def _kind(component: Any, name: str) -> str:
    """The kind of a component: `characters` (with tags), `words` (with tags), `tokenizer` (no tags) or `tasks`."""
    if hasattr(component, "tasks"):
        return "tasks"
    vocabularies = getattr(component, "vocabs", None) or {}
    labels = {str(label) for label in vocabularies["tag"].idx_to_token} if "tag" in vocabularies else set()
    if labels and all(_CHARACTERS.fullmatch(label) for label in labels):
        return "characters"
    if labels and labels <= set("BMESI"):
        return "tokenizer"
    if labels and "nh" not in labels and any(to_peoples_daily(label) != "x" for label in labels):
        return "words"
    raise AuditError(
        f"HanLP's model {name!r} tags no Chinese words: tags of the People's Daily or of the Chinese Treebank are read"
    )


def _pieces(text: str) -> Iterator[tuple[int, int]]:
    """The sentences, the long ones in pieces: a model's time and memory grow with the longest."""
    for start, end in spans(text):
        while end - start > LONGEST:
            rest = _REST.search(text, start + LONGEST // 2, start + LONGEST)
            cut = rest.start() if rest and rest.start() > start + LONGEST // 2 else start + LONGEST
            if text[start:cut].strip():
                yield start, cut
            start = cut
        if text[start:end].strip():
            yield start, end


def _character_tagger(component: Any) -> Callable[[list[str]], list[list[Span]]]:
    """Words by a model that tags characters: a word begins with B- or S-, and after E- or S-."""
    vocabulary = component.vocabs[component.config.token_key]

    def sign(character: str) -> str:
        # The People's Daily has full-width letters, digits and marks.
        wide = chr(ord(character) + 0xFEE0) if "!" <= character <= "~" else character
        return wide if wide != character and wide in vocabulary else character

    def tag(texts: list[str]) -> list[list[Span]]:
        places = [[at for at, character in enumerate(text) if not character.isspace()] for text in texts]
        wanted = [[sign(text[at]) for at in there] for text, there in zip(texts, places, strict=True)]
        return [_decode(there, labels) for there, labels in zip(places, component(wanted), strict=True)]

    return tag


def _decode(places: Sequence[int], labels: Sequence[str]) -> list[Span]:
    """Words of the characters at these places, by their labels; white space is in no word.

    >>> _decode([0, 1, 3], ["B-nr", "E-nr", "S-v"])
    [(0, 2, 'nr'), (3, 4, 'v')]
    """
    words: list[Span] = []
    before = "E"
    for at, label in zip(places, labels, strict=True):
        if words and label[0] not in "BS" and before not in "ES" and words[-1][1] == at:
            words[-1] = (words[-1][0], at + 1, words[-1][2])
        else:
            words.append((at, at + 1, label[2:]))
        before = label[0]
    return words


def _word_tagger(
    tokenizer: Callable[[list[str]], list[list[str]]], tagger: Any
) -> Callable[[list[str]], list[list[Span]]]:
    """Words by a tokenizer, their tags by a tagger of words."""

    def tag(texts: list[str]) -> list[list[Span]]:
        words = tokenizer(texts)
        return [_align(*tagged_text) for tagged_text in zip(texts, words, tagger(words), strict=True)]

    return tag


def _jieba() -> Callable[[list[str]], list[list[str]]]:
    from audit.packs.chinese.jieba_tagger import JiebaTagger

    tagger = JiebaTagger()
    return lambda texts: [[token.text for token in tagger(text)] for text in texts]


def _multitask_tagger(component: Any, name: str) -> Callable[[list[str]], list[list[Span]]]:
    """Words by a model of several tasks: a document with `tok/…` and `pos/…`, one list for each sentence, and `ner/…`,
    lists of (text, kind, first word, word behind the last)."""
    tasks = list(component.tasks)
    tok = next((task for task in ("tok/fine", "tok", *tasks) if task in tasks and task.startswith("tok")), None)
    pos = next((task for task in ("pos/pku", "pos/ctb", "pos") if task in tasks), None)
    ner = next((task for task in tasks if task.startswith("ner")), None)
    if tok is None or pos is None:
        raise AuditError(
            f"HanLP's model {name!r} has the tasks {', '.join(tasks)}; tok and pos/pku or pos/ctb are needed"
        )
    tasks_to_run = [task for task in (tok, pos, ner) if task]

    def tag(texts: list[str]) -> list[list[Span]]:
        document = component(texts, tasks=tasks_to_run)
        spans = []
        for index, text in enumerate(texts):
            words, labels = document[tok][index], list(document[pos][index])
            for _, kind, first, behind in document[ner][index] if ner else ():
                entity_tag = from_entity(kind)
                for place in range(first, behind) if entity_tag else ():
                    labels[place] = entity_tag if labels[place] == "NR" else labels[place]
            spans.append(_align(text, words, labels))
        return spans

    return tag


def _align(text: str, words: Sequence[str], labels: Sequence[str]) -> list[Span]:
    """Where a model's words are in the text that it was given, whatever it made of white space and rare signs.

    A word is looked for with and without white space in it; one that is not there stands for as many characters as
    it has. What is in no word is a word of its own, without a tag.

    >>> _align("iPhone 15 好", ["iPhone15", "好"], ["NN", "VA"])
    [(0, 9, 'n'), (10, 11, 'a')]
    """
    spans: list[Span] = []
    signs = [at for at, sign in enumerate(text) if not sign.isspace()]
    bare = "".join(text[at] for at in signs)
    at = 0  # in `bare`
    for word, label in zip(words, labels, strict=True):
        plain = "".join(word.split())
        if not plain:
            continue
        place = bare.find(plain, at, at + 2 * len(plain) + 16)
        place, size = (place, len(plain)) if place >= 0 else (at, min(len(plain), len(bare) - at))
        if size <= 0:
            break
        if place > at:
            spans.append((signs[at], signs[place - 1] + 1, "x"))
        spans.append((signs[place], signs[place + size - 1] + 1, to_peoples_daily(label)))
        at = place + size
    if at < len(bare):
        spans.append((signs[at], signs[-1] + 1, "x"))
    return spans


def _repaired_words(text: str, start: int, end: int, words: Sequence[Span]) -> list[Span]:
    """A piece's words in the text: no white space and no emoji within them, and English words in no pieces."""
    latin = [match.span() for match in _LATIN.finditer(text, start, end)]
    opened = [first for first, _ in latin]
    repaired: list[Span] = []
    for begin, stop, tag in words:
        for first, last in _parts(text, start + begin, start + stop):
            place = bisect_right(opened, first) - 1
            inside = place >= 0 and opened[place] < first < latin[place][1]
            if inside and repaired and repaired[-1][1] == first:
                first, _, tag = repaired.pop()
            repaired.append((first, last, tag))
    return [part for first, last, tag in repaired for part in _apart(text, first, last, tag)]


def _parts(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Runs of signs with and without a place in words (emoji have none), and of neither white space."""
    first = start
    for at in range(start, end):
        if text[at].isspace():
            if first < at:
                yield first, at
            first = at + 1
        elif first < at and (by_characters(text[at]) == "x") != (by_characters(text[first]) == "x"):
            yield first, at
            first = at
    if first < end:
        yield first, end


def _apart(text: str, first: int, last: int, tag: str) -> Iterator[Span]:
    """A word with its last tag; an English word that the model took for the beginning of a Chinese one, on its own."""
    latin = _LATIN.match(text, first, last)
    if latin and latin.end() - first > 2 and last > latin.end() and text[latin.end()].isalpha():
        yield first, latin.end(), "nx"
        first = latin.end()
    word = text[first:last]
    if _COARSE.fullmatch(word):
        tag = "nx" if _LATIN.search(word) else "m" if tag == "nx" else tag
    yield first, last, by_characters(word) or tag
