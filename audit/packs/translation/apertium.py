"""The rule-based translation engine Apertium, with the pairs of languages that are installed here.

Forcada et al., "Apertium: a free/open-source platform for rule-based machine translation", Machine Translation 25,
2011. A *mode* is one way through the engine, such as `eng-spa`: a row of programs, each with the data of one step.
"""

import os
import re
import shlex
import shutil
import signal
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from itertools import pairwise
from pathlib import Path

from audit.errors import AuditError
from audit.systems.base import Pair
from audit.tasks import Input, Output
from audit.text.languages import two_letters

# Texts as Apertium's programs pass them on, and back ("Apertium stream format", wiki.apertium.org).
#
# Characters that mean something to the stream are escaped, white space other than single blanks is put into brackets,
# and every paragraph ends with a full stop that is not the text's own (`.[]`), or its last words would be taken for a
# title without an end. Many texts go in one stream: each ends with its number in brackets and a NUL, at which every
# program forgets what it read and writes what it has.

_ORDER = re.compile(r"[][\\/@^${}<>]")
_BLANKS = re.compile(r"[ \n\t\r~]+")
_PARAGRAPH = re.compile(r"\n\r?\n")
_END = ".[]"
_BACK = re.compile(r"\\(.)|\.\[\]|\[((?:[^]\\]|\\.)*)\]", re.DOTALL)
_NUMBER = re.compile(r"\[(\d+)\]\s*\Z")
# NUL ends a text; half characters and U+FFFE, U+FFFF are none: the last of them is the end of a file to the programs.
_NEVER = re.compile(r"[\ud800-\udfff\ufffe\uffff]")


def to_stream(text: str) -> str:
    """Return a text in the stream format, without white space at its ends; empty for a blank text.

    >>> to_stream("Up [5%].")
    'Up \\\\[5%\\\\]..[]'
    """

    def superblank(match: re.Match[str]) -> str:
        blank = match[0]
        return blank if blank == " " else f"{_END if _PARAGRAPH.search(blank) else ''}[{blank}]"

    # A byte order mark is none within a text, and at the beginning of a stream no program passes it on.
    text = _NEVER.sub("\ufffd", text.replace("\0", " ").replace("\ufeff", "")).strip()
    return _BLANKS.sub(superblank, _ORDER.sub(r"\\\g<0>", text)) + _END if text else ""


def from_stream(stream: str) -> str:
    """Return the plain text of the engine's output stream.

    >>> from_stream("Sube \\\\[5%\\\\]..[]")
    'Sube [5%].'
    """
    return _BACK.sub(lambda match: match[1] or match[2] or "", stream).strip()


# What of Apertium is installed: its modes, the languages of each, and what tells one version of them from another.

PACKAGES = ("apertium-eng-spa", "apertium-eng-cat", "apertium-spa-cat", "apertium-fra-cat", "apertium-fr-es")
"""Debian's packages of pairs among English, Spanish, Catalan and French; more are listed by `apt-cache search`."""
_NAME = re.compile(r"(?P<source>[a-z]{2,3})(?P<of>_\w+)?-(?P<target>[a-z]{2,3})(?P<to>_\w+)?")


@dataclass(frozen=True, order=True)
class Mode:
    """One way through the engine. `source` and `target` are codes of ISO 639-1 where there are such; `variant` is what
    the name says beyond the languages (`spa-cat_valencia`), empty for the plain one."""

    source: str
    target: str
    variant: str
    name: str
    file: Path


def installed_modes() -> tuple[Mode, ...]:
    """Return every mode that is installed, sorted by languages, plain ones before variants; none without Apertium.

    Names that say no two languages (`eco-es-fr`, `en-es-postchunk`) are left out.
    """
    program = shutil.which("apertium")
    if program is None:
        return ()
    data = os.environ.get("APERTIUM_DATADIR") or Path(program).resolve().parent.parent / "share" / "apertium"
    return _modes_in(Path(data))


@cache
def _modes_in(data: Path) -> tuple[Mode, ...]:
    modes = []
    for file in data.glob("modes/*.mode"):
        if match := _NAME.fullmatch(file.stem):
            languages = two_letters(match["source"]), two_letters(match["target"])
            modes.append(Mode(*languages, (match["of"] or "") + (match["to"] or ""), file.stem, file))
    return tuple(sorted(modes))


def needs(names: Sequence[str] = ()) -> str | None:
    """Return None where Apertium is installed with all modes of these names (none named: with any); else what to do."""
    present = {mode.name for mode in installed_modes()}
    if shutil.which("apertium") is None:
        return f"apt-get install apertium {' '.join(PACKAGES)}"
    if missing := [name for name in names if name not in present]:
        return f"Apertium has no mode {', '.join(missing)}; install their packages, as in apt-get install {PACKAGES[0]}"
    return None if present else f"Apertium has no pair of languages; apt-get install {' '.join(PACKAGES)}"


Stages = Sequence[Sequence[str]]


@cache
def stages(file: Path) -> Stages:
    """Return the programs of a mode's file with their arguments, in order, told to end a text at a NUL.

    Words that are unknown stay as they are, without a mark (`apertium -u`). Raises AuditError where Apertium cannot
    read the file, or is older than 3.8.
    """
    try:
        # Apertium's own program: it knows which programs take -z, and where marks of formatting have to be moved.
        listing = subprocess.run(
            ["apertium-wblank-mode", "-z", str(file)], capture_output=True, text=True, timeout=30, check=True
        ).stdout
    except (OSError, subprocess.SubprocessError, UnicodeDecodeError) as problem:
        raise AuditError(f"Apertium 3.8 or newer is needed to read {file} ({type(problem).__name__})") from problem
    lexer = shlex.shlex(listing, posix=True, punctuation_chars="|")
    lexer.whitespace_split = True
    programs: list[list[str]] = [[]]
    for word in lexer:
        if word == "|":
            programs.append([])
        elif word != "$2":
            programs[-1].append("-n" if word == "$1" else word)
    return programs


@cache
def engine_version() -> str:
    """Return the version of the engine, such as "3.8.3"; "absent" where it is not installed."""
    try:
        printed = subprocess.run(["apertium", "-V"], capture_output=True, text=True, timeout=30).stdout
    except (OSError, subprocess.SubprocessError):
        return "absent"
    match = re.search(r"\d[\w.]*", printed)
    return match[0] if match else "unknown"


def fingerprint(modes: Iterable[Mode]) -> str:
    """Return twelve hexadecimal digits that name the content of the modes and of every file that they read.

    The content and not dates or the versions of packages: two machines with the same data have the same outputs.
    """
    state = blake2b(digest_size=6)
    for mode in sorted(modes):
        state.update(f"{mode.name}\0{_content(mode.file)}\0".encode())
        for word in (word for stage in stages(mode.file) for word in stage):
            # Names without their folders: the same data may lie elsewhere.
            content = f"file {_content(Path(word))}" if word.startswith("/") and Path(word).is_file() else word
            state.update(f"{content}\0".encode())
    return state.hexdigest()


@cache
def _content(file: Path) -> str:
    return blake2b(file.read_bytes(), digest_size=16).hexdigest()


# Texts through the programs of a mode: one process a program for a whole batch, each text for itself.
#
# What a text becomes must not hang on the texts before it, or a system would say something else for the same input in
# another batch. The programs forget what they read at the NUL that ends a text, but for one: on a word with a set of
# analyses that it was not trained on, the tagger of hidden Markov models replaces the tags that unknown words may have,
# and keeps them so until it ends (`find_similar_ambiguity_class` assigns through a reference; Apertium 3.8.3). So texts
# with such words, of which its option -d tells, are tagged by a process of their own.

PATIENCE = 20.0
"""Seconds that a batch may take, and one more for every thousand characters; the engine does ten times as much."""
_UNSEEN = re.compile(r"^Word '(.*)'\.$", re.MULTILINE)
_SURFACE = re.compile(r"\^((?:[^\\/$]|\\.)*)")


def translate(mode: Mode, texts: Sequence[str], patience: float = PATIENCE) -> list[str | AuditError]:
    """Translate each text, in order; where the engine fails at a text, the error stands in its place.

    A text has the same translation alone and in a batch. White space at its ends is dropped; an empty text stays empty.
    """
    outputs = _run_texts(stages(mode.file), texts, patience)
    return [output if isinstance(output, AuditError) else from_stream(output) for output in outputs]


def tag_texts(mode: Mode, texts: Sequence[str], patience: float = PATIENCE) -> list[str | AuditError]:
    """Return each text as the mode's tagger leaves it, in the stream's format `^surface/lemma<tag>...$`; or the error.

    Raises AuditError where the mode has no tagger.
    """
    pipeline = stages(mode.file)
    place = _tagger_place(pipeline)
    if place is None:
        raise AuditError(f"Apertium's mode {mode.name} has no tagger")
    program, *arguments = pipeline[place]
    return _run_texts([*pipeline[:place], [program, "-p", *arguments]], texts, patience)


def has_tagger(mode: Mode) -> bool:
    """Return whether texts can be tagged by the mode (`tag_texts`); not where its file cannot be read."""
    with suppress(AuditError):
        return _tagger_place(stages(mode.file)) is not None
    return False


def _run_texts(pipeline: Stages, texts: Sequence[str], patience: float) -> list[str | AuditError]:
    streams = [to_stream(text) for text in texts]
    outputs = iter(_run_halves(pipeline, [stream for stream in streams if stream], patience))
    return [next(outputs) if stream else "" for stream in streams]


def _run_halves(pipeline: Stages, streams: Sequence[str], patience: float) -> list[str | AuditError]:
    """Run a batch; where it fails, run its halves, so that a text that the engine fails at affects no other."""
    if not streams:
        return []
    try:
        return list(_run_batch(pipeline, streams, patience))
    except AuditError as problem:
        if len(streams) == 1:
            return [problem]
    half = len(streams) // 2
    return [*_run_halves(pipeline, streams[:half], patience), *_run_halves(pipeline, streams[half:], patience)]


def _run_batch(pipeline: Stages, streams: Sequence[str], patience: float) -> list[str]:
    place = _tagger_place(pipeline)
    # All taggers but the perceptron may carry state from one text to the next.
    if place is None or any(word.startswith("-") and "x" in word[1:] for word in pipeline[place][1:]):
        return _run(pipeline, streams, patience)[0]
    before = _run(pipeline[:place], streams, patience)[0] if place else list(streams)
    program, *arguments = pipeline[place]
    tagged, messages = _run([[program, "-d", *arguments]], before, patience)
    if messages:
        unseen = set(_UNSEEN.findall(messages))
        # A message without a word that we can read may be about any of the texts.
        alone = {
            at for at, stream in enumerate(before) if not unseen or unseen & set(map(_bare, _SURFACE.findall(stream)))
        }
        together = [at for at in range(len(before)) if at not in alone]
        for places in ([together] if together else []) + [[at] for at in sorted(alone)]:
            again = _run([pipeline[place]], [before[at] for at in places], patience)[0]
            for at, stream in zip(places, again, strict=True):
                tagged[at] = stream
    return _run(pipeline[place + 1 :], tagged, patience)[0] if place + 1 < len(pipeline) else tagged


def _tagger_place(pipeline: Stages) -> int | None:
    return next((place for place, stage in enumerate(pipeline) if Path(stage[0]).name == "apertium-tagger"), None)


def _bare(surface: str) -> str:
    return re.sub(r"\\(.)", r"\1", surface)


def _run(pipeline: Stages, streams: Sequence[str], patience: float) -> tuple[list[str], str]:
    """Run programs on texts, and return what becomes of each, and their messages.

    Raises AuditError where a program fails (with its own words), takes too long or does not return every text.
    """
    command = "set -o pipefail; " + " | ".join(shlex.join(stage) for stage in pipeline)
    data = "".join(f"{stream}[{number}]\0" for number, stream in enumerate(streams)).encode()
    process = subprocess.Popen(
        ["bash", "-c", command],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ | {"LC_ALL": "C.UTF-8"},
        start_new_session=True,
    )
    try:
        output, said = process.communicate(data, timeout=patience + len(data) / 1000)
    except subprocess.TimeoutExpired:
        raise AuditError("Apertium took too long and was stopped; shorten the text") from None
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    messages = said.decode(errors="replace").strip()
    if process.returncode not in (0, 128 + signal.SIGPIPE):
        words = " ".join(messages.split())[:200] or "it said nothing"
        raise AuditError(f"Apertium ended with {process.returncode}: {words}")
    parts = output.decode(errors="replace").split("\0")
    ends = [_NUMBER.search(part) for part in parts[: len(streams)]]
    # Each program adds a NUL of its own at the end of the file.
    whole = [int(end[1]) if end else None for end in ends] == list(range(len(streams)))
    if not whole or "".join(parts[len(streams) :]).strip():
        raise AuditError(f"Apertium ({Path(pipeline[-1][0]).name}) did not return its {len(streams)} texts one by one")
    return [part[: end.start()] for part, end in zip(parts, ends, strict=False) if end], messages


# The system.

LONGEST = 3
"""Modes of a chain, at most: what four rule-based translations in a row leave of a text tells nothing."""


class Apertium:
    """The system `apertium`: texts between any two languages that installed modes lead from one to the other.

    Of each pair of languages the plain mode is taken (`spa-cat`), else the first variant by name. Where there is no
    mode of a pair, the shortest chain of modes is (English to French through Catalan), of at most three, and of equally
    short ones that whose languages come first in the alphabet; `settings` and `pairs()` say which. What a chain makes
    on its way stays inside the system: it is no output of its own and no link of a group. For other pairs, and for
    languages that no mode has, the output is absent.

    `apertium:eng-cat+cat-spa` has only the modes that are named: another system, with its own outputs. Unknown words
    stay as they are, without a mark.
    """

    tasks: tuple[str, ...] = ("translation",)
    languages: tuple[str, ...] = ("*",)
    call_size = 4096
    batch_seconds = 20.0
    """Its programs take a quarter of a second to begin, for each pair of languages in each call."""
    summary = "rule-based translation (Apertium), through other languages where it has no mode for a pair"

    def __init__(self, modes: str | None = None):
        self.name = "apertium" if modes is None else f"apertium:{modes}"
        self._names = () if modes is None else tuple(name.strip() for name in modes.split("+"))
        self._modes: dict[tuple[str, str], Mode] = {}
        for mode in installed_modes():
            if mode.name in self._names or not self._names:
                taken = self._modes.setdefault((mode.source, mode.target), mode)
                if self._names and taken is not mode:
                    raise AuditError(f"system {self.name}: {mode.name} is a second mode of its languages; name one")
        if len(set(self._names)) < len(self._names) or not all(self._names):
            raise AuditError(
                f"system {self.name}: name modes of `apertium -l`, each once, as in apertium:eng-spa+spa-eng"
            )
        self._paths = _paths(self._modes)
        self.version = self._version()
        self.settings: Mapping[str, object] = {
            "modes": {f"{source}-{target}": mode.name for (source, target), mode in self._modes.items()},
            "chains": {f"{pair.source}-{pair.target}": " + ".join(pair.steps) for pair in self.pairs() if pair.through},
            "longest chain": LONGEST,
            "unknown words": "unmarked",
        }

    def _version(self) -> str:
        """Return the version of the engine, and a digest of the modes' data."""
        try:
            return engine_version() + (f" data {fingerprint(self._modes.values())}" if self._modes else "")
        except (AuditError, OSError):
            return f"{engine_version()} data unreadable"

    def needs(self) -> str | None:
        return needs(self._names)

    def prepare(self) -> None:
        """Nothing to load: the engine's programs read their data for each batch."""

    def lacks(self, item: Input) -> bool:
        """Return whether no mode or chain leads from the language of an input to its target."""
        return item.target is not None and (item.languages[0], item.target) not in self._paths

    def pairs(self) -> list[Pair]:
        """Return every pair of languages with its modes, direct or chained, sorted by languages."""
        return [
            Pair(path[0], path[-1], tuple(self._modes[step].name for step in pairwise(path)), path[1:-1])
            for path in self._paths.values()
        ]

    def run(self, inputs: Sequence[Input]) -> list[Output]:
        outputs = [Output()] * len(inputs)
        places: dict[tuple[str, ...], list[int]] = {}
        for place, item in enumerate(inputs):
            if item.target is None:
                raise AuditError("system apertium translates: its inputs have a language to translate into")
            if path := self._paths.get((item.languages[0], item.target)):
                places.setdefault(path, []).append(place)
        for path, path_places in places.items():
            texts = [inputs[place].text for place in path_places]
            for place, text in zip(path_places, self._translate_along(path, texts), strict=True):
                outputs[place] = Output(text=text) if isinstance(text, str) else Output(error=str(text))
        return outputs

    def _translate_along(self, path: tuple[str, ...], texts: Sequence[str]) -> list[str | AuditError]:
        """Return each text after every mode of the path; one that a mode fails at goes no further."""
        results: list[str | AuditError] = list(texts)
        for step in pairwise(path):
            mode = self._modes[step]
            going = [place for place, text in enumerate(results) if isinstance(text, str)]
            for place, text in zip(going, translate(mode, [str(results[place]) for place in going]), strict=True):
                results[place] = text if isinstance(text, str) else AuditError(f"{mode.name}: {text}")
        return results


def _paths(modes: Iterable[tuple[str, str]]) -> dict[tuple[str, str], tuple[str, ...]]:
    """Return (from, to) -> the languages on the way, both ends among them; sorted.

    >>> _paths([("en", "ca"), ("ca", "fr"), ("en", "es"), ("es", "fr")])["en", "fr"]
    ('en', 'ca', 'fr')
    """
    onward: dict[str, list[str]] = {}
    for source, target in sorted(modes):
        onward.setdefault(source, []).append(target)
    paths: dict[tuple[str, str], tuple[str, ...]] = {}
    for start in onward:
        ends: list[tuple[str, ...]] = [(start,)]
        for _ in range(LONGEST):
            # In the order of the alphabet at every step, so that the first path that reaches a language is its path.
            longer = [(*path, target) for path in ends for target in onward.get(path[-1], []) if target != start]
            ends = []
            for path in longer:
                if (start, path[-1]) not in paths:
                    paths[start, path[-1]] = path
                    ends.append(path)
    return dict(sorted(paths.items()))
