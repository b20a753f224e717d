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
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import cache
from hashlib import blake2b
from itertools import chain, pairwise
from pathlib import Path
from subprocess import PIPE
from typing import NamedTuple

from audit.errors import AuditError
from audit.systems.base import Pair
from audit.tasks import Input, Output
from audit.text.languages import two_letters

PACKAGES = "apertium-eng-spa apertium-eng-cat apertium-spa-cat apertium-fra-cat apertium-fr-es"
"""Debian's packages of pairs among English, Spanish, Catalan and French."""
LONGEST = 3
"""Modes of a chain, at most: four rule-based translations in a row leave little of a text."""
PATIENCE = 20.0
"""Seconds that a batch may take, and one more for every thousand characters; the engine does ten times as much."""
Stages = Sequence[Sequence[str]]


class Mode(NamedTuple):
    """One way through the engine; the languages are codes of ISO 639-1 where there are such."""

    source: str
    target: str
    name: str
    file: Path


def installed_modes() -> tuple[Mode, ...]:
    """Return every installed mode by languages, plain ones before variants (`spa-cat_valencia`)."""
    program = shutil.which("apertium")
    data = os.environ.get("APERTIUM_DATADIR") or Path(program or "").resolve().parent.parent / "share" / "apertium"
    return _modes_in(Path(data)) if program else ()


@cache
def _modes_in(data: Path) -> tuple[Mode, ...]:
    named = [
        (file, re.fullmatch(r"([a-z]{2,3})(?:_\w+)?-([a-z]{2,3})(?:_\w+)?", file.stem))
        for file in data.glob("modes/*.mode")
    ]
    return tuple(
        sorted(Mode(two_letters(name[1]), two_letters(name[2]), file.stem, file) for file, name in named if name)
    )


def needs(names: Sequence[str] = ()) -> str | None:
    """Return None where Apertium is installed with these modes (none named: with any); else what to do."""
    present = {mode.name for mode in installed_modes()}
    if present and not (missing := [name for name in names if name not in present]):
        return None
    wanted = f"; Apertium has no mode {', '.join(missing)}" if present else ""
    return f"apt-get install apertium {PACKAGES}{wanted}"


@cache
def stages(file: Path) -> Stages:
    """Return the programs of a mode's file with their arguments, told to end a text at a NUL and to leave unknown words
    unmarked. Raises AuditError where Apertium cannot read the file, or is older than 3.8.
    """
    try:  # Apertium's own program knows which programs take -z, and where marks of formatting have to be moved
        listing = subprocess.check_output(["apertium-wblank-mode", "-z", str(file)], text=True, timeout=30)
    except (OSError, subprocess.SubprocessError, UnicodeDecodeError) as problem:
        raise AuditError(f"Apertium 3.8 or newer is needed to read {file} ({type(problem).__name__})") from problem
    programs = [shlex.split(program) for program in listing.split("|")]
    return [["-n" if word == "$1" else word for word in program if word != "$2"] for program in programs]


def tagger_place(programs: Stages) -> int | None:
    """Return which program is the tagger; None where a mode has none."""
    return next((place for place, (name, *_) in enumerate(programs) if Path(name).name == "apertium-tagger"), None)


@cache
def engine_version() -> str:
    """Return the version of the engine, such as "3.8.3"; "absent" where it is not installed."""
    try:
        printed = subprocess.run(["apertium", "-V"], capture_output=True, text=True, timeout=30).stdout
    except (OSError, subprocess.SubprocessError):
        return "absent"
    return "".join(re.findall(r"\d[\w.]*", printed)[:1]) or "unknown"


def fingerprint(modes: Iterable[Mode]) -> str:
    """Return twelve hexadecimal digits that name the content of the modes and of every file that they read."""
    state = blake2b(digest_size=6)
    for mode in sorted(modes):
        state.update(f"{mode.name}\0{_content(mode.file)}\0".encode())
        for word in chain.from_iterable(stages(mode.file)):
            # Names without their folders: the same data may lie elsewhere.
            content = f"file {_content(Path(word))}" if word.startswith("/") and Path(word).is_file() else word
            state.update(f"{content}\0".encode())
    return state.hexdigest()


@cache
def _content(file: Path) -> str:
    return blake2b(file.read_bytes(), digest_size=16).hexdigest()


# The stream format (wiki.apertium.org, "Apertium stream format"): characters that mean something are escaped, white
# space other than single blanks stands in brackets, and every paragraph ends with a full stop that is not the text's
# own (`.[]`), or its last words would be taken for a title.

_BACK = re.compile(r"\\(.)|\.\[\]|\[((?:[^]\\]|\\.)*)\]", re.DOTALL)


def to_stream(text: str) -> str:
    """Return a text in the stream format, without white space at its ends.

    >>> to_stream("Up [5%].")
    'Up \\\\[5%\\\\]..[]'
    """

    def blank(match: re.Match[str]) -> str:
        ends = ".[]" if re.search(r"\n\r?\n", match[0]) else ""
        return " " if match[0] == " " else f"{ends}[{match[0]}]"

    # NUL ends a text; surrogates, U+FFFE and U+FFFF are no characters; a byte order mark is lost at a stream's start.
    text = re.sub(r"[\ud800-\udfff\ufffe\uffff]", "\ufffd", text.replace("\0", " ").replace("\ufeff", "")).strip()
    return re.sub(r"[ \n\t\r~]+", blank, re.sub(r"[][\\/@^${}<>]", r"\\\g<0>", text)) + ".[]"


def from_stream(stream: str) -> str:
    """Return the plain text of the engine's output stream.

    >>> from_stream("Sube \\\\[5%\\\\]..[]")
    'Sube [5%].'
    """
    return _BACK.sub(lambda match: match[1] or match[2] or "", stream).strip()


# Texts through the programs of a mode: one process a program for a whole batch. At the NUL behind a text every program
# forgets what it read, but for one: on a word with a set of analyses that it was not trained on, the tagger of hidden
# Markov models replaces the tags that unknown words may have, and keeps them so (Apertium 3.8.3). A text must become
# the same in every batch, so texts with such words, which the option -d tells, are tagged by a process of their own.


def translate(mode: Mode, texts: Sequence[str], patience: float = PATIENCE) -> list[str | AuditError]:
    """Translate each text, in order; where the engine fails at a text, the error stands in its place."""
    outputs = _run_each(stages(mode.file), list(map(to_stream, texts)), patience)
    return [output if isinstance(output, AuditError) else from_stream(output) for output in outputs]


def tag_texts(mode: Mode, texts: Sequence[str], patience: float = PATIENCE) -> list[str | AuditError]:
    """Return each text as the tagger of a mode that has one leaves it, `^surface/lemma<tag>...$`; or the error."""
    programs, place = stages(mode.file), tagger_place(stages(mode.file)) or 0
    program, *arguments = programs[place]
    return _run_each([*programs[:place], [program, "-p", *arguments]], list(map(to_stream, texts)), patience)


def _run_each(programs: Stages, streams: Sequence[str], patience: float) -> list[str | AuditError]:
    """Run a batch; where it fails, run its halves, so that a text that the engine fails at costs no other."""
    try:
        return list(_run_batch(programs, streams, patience)) if streams else []
    except AuditError as problem:
        if len(streams) == 1:
            return [problem]
    half = len(streams) // 2
    return [*_run_each(programs, streams[:half], patience), *_run_each(programs, streams[half:], patience)]


def _run_batch(programs: Stages, streams: Sequence[str], patience: float) -> list[str]:
    place = tagger_place(programs)
    # The perceptron (-x) keeps no state from one text to the next.
    if place is None or any(word.startswith("-") and "x" in word for word in programs[place][1:]):
        return _run(programs, streams, patience)[0]
    before, _ = _run(programs[:place], streams, patience)
    program, *arguments = programs[place]
    tagged, messages = _run([[program, "-d", *arguments]], before, patience)
    if messages:
        unseen = set(re.findall(r"^Word '(.*)'\.$", messages, re.MULTILINE))
        # A message without a word that we can read may be about any of the texts.
        alone = [at for at, stream in enumerate(before) if not unseen or unseen & _surfaces(stream)]
        together = [at for at in range(len(before)) if at not in alone]
        for places in filter(None, [together, *([at] for at in alone)]):
            again, _ = _run([programs[place]], [before[at] for at in places], patience)
            for at, stream in zip(places, again, strict=True):
                tagged[at] = stream
    return _run(programs[place + 1 :], tagged, patience)[0]


def _surfaces(stream: str) -> set[str]:
    return {re.sub(r"\\(.)", r"\1", surface) for surface in re.findall(r"\^((?:[^\\/$]|\\.)*)", stream)}


def _run(programs: Stages, streams: Sequence[str], patience: float) -> tuple[list[str], str]:
    """Run programs on texts; return what becomes of each, and the programs' messages.

    Raises AuditError where a program fails, takes too long or does not return every text.
    """
    if not programs:
        return list(streams), ""
    command = "set -o pipefail; " + " | ".join(map(shlex.join, programs))
    data = "".join(f"{stream}[{number}]\0" for number, stream in enumerate(streams)).encode()
    environment = os.environ | {"LC_ALL": "C.UTF-8"}
    process = subprocess.Popen(
        ["bash", "-c", command], stdin=PIPE, stdout=PIPE, stderr=PIPE, env=environment, start_new_session=True
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
        raise AuditError(f"Apertium ended with {process.returncode}: {' '.join(messages.split())[:200]}")
    ends = [re.search(r"\[(\d+)\]\s*\Z", part) for part in output.decode(errors="replace").split("\0")[: len(streams)]]
    if [int(end[1]) if end else None for end in ends] != list(range(len(streams))):
        raise AuditError(f"Apertium ({Path(programs[-1][0]).name}) did not return its {len(streams)} texts one by one")
    return [end.string[: end.start()] for end in ends if end], messages


class Apertium:
    """The system `apertium`: texts between any two languages that installed modes lead from one to the other.

    Of each pair the plain mode is taken (`spa-cat`), else the first variant by name. Where a pair has no mode, the
    shortest chain is taken (English to French through Catalan), at most three modes, and of equally short ones that
    whose languages come first in the alphabet; `settings` and `pairs()` say which. For other pairs the output is
    absent. `apertium:eng-cat+cat-spa` has only the modes that are named: another system.
    """

    tasks: tuple[str, ...] = ("translation",)
    languages: tuple[str, ...] = ("*",)
    call_size = 4096
    batch_seconds = 20.0
    """Its programs take a quarter of a second to begin, for each pair of languages in each call."""
    summary = "rule-based translation (Apertium), through other languages where it has no mode for a pair"

    def __init__(self, modes: str | None = None):
        self.name = "apertium" if modes is None else f"apertium:{modes}"
        self._names = [name.strip() for name in (modes or "").split("+") if name]
        self._modes: dict[tuple[str, str], Mode] = {}
        for mode in installed_modes():
            if mode.name in self._names or not self._names:
                self._modes.setdefault((mode.source, mode.target), mode)
        self._paths = _paths(self._modes)
        self.version = engine_version() + (f" data {fingerprint(self._modes.values())}" if self._modes else "")
        chains = {f"{pair.source}-{pair.target}": " + ".join(pair.steps) for pair in self.pairs() if pair.through}
        named = {f"{source}-{target}": mode.name for (source, target), mode in self._modes.items()}
        self.settings = {"modes": named, "chains": chains, "longest chain": LONGEST, "unknown words": "unmarked"}

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
        pairs = [(item.languages[0], item.target or "") for item in inputs]
        for pair in dict.fromkeys(pair for pair in pairs if pair in self._paths):
            at = [place for place, own in enumerate(pairs) if own == pair]
            made = {place: Output(text=inputs[place].text) for place in at}
            for step in pairwise(self._paths[pair]):
                going = [place for place in at if made[place].error is None]
                texts = translate(self._modes[step], [str(made[place].text) for place in going])
                for place, text in zip(going, texts, strict=True):
                    error = f"{self._modes[step].name}: {text}"
                    made[place] = Output(text=text) if isinstance(text, str) else Output(error=error)
            for place in at:
                outputs[place] = made[place]
        return outputs


def _paths(modes: Iterable[tuple[str, str]]) -> dict[tuple[str, str], tuple[str, ...]]:
    """Return (from, to) -> the languages on the way, both ends among them; sorted.

    >>> _paths([("en", "ca"), ("ca", "fr"), ("en", "es"), ("es", "fr")])["en", "fr"]
    ('en', 'ca', 'fr')
    """
    steps = sorted(modes)
    paths: dict[tuple[str, str], tuple[str, ...]] = {}
    for start in sorted({source for source, _ in steps}):
        ends: list[tuple[str, ...]] = [(start,)]
        for _ in range(LONGEST):
            # In the order of the alphabet at every step, so that the first path that reaches a language is its path.
            longer = [(*path, to) for path in ends for source, to in steps if source == path[-1] and to != start]
            ends = [path for path in longer if paths.setdefault((start, path[-1]), path) is path]
    return dict(sorted(paths.items()))
