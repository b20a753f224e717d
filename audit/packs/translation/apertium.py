"""The rule-based translation engine Apertium, as it is installed on this machine: what it has, and how it is asked.

Forcada et al., "Apertium: a free/open-source platform for rule-based machine translation", Machine Translation 25,
2011. A *mode* is one way through the engine, such as `eng-spa`: a row of programs, each with the data of one step.
"""

import os
import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from pathlib import Path
from time import monotonic
from typing import IO

from audit.errors import AuditError, NotInstalled
from audit.text.languages import two_letters

# Texts as Apertium's programs pass them on, and back ("Apertium stream format", wiki.apertium.org).
#
# Characters that mean something to the stream are escaped, white space other than single blanks is put into brackets,
# and every paragraph ends with a full stop that is not the text's own (`.[]`), or its last words would be taken for a
# title without an end.
# `apertium -f txt` does the same for one file (`apertium-destxt`, `apertium-retxt`). Here many texts go in one stream:
# each ends with its number in brackets and a NUL, at which every program forgets what it read and writes what it has.

_ORDER = re.compile(r"[][\\/@^${}<>]")
_BLANKS = re.compile(r"[ \n\t\r~]+")
_PARAGRAPH = re.compile(r"\n\r?\n")
_END = ".[]"
_BACK = re.compile(r"\\(.)|\.\[\]|\[((?:[^]\\]|\\.)*)\]", re.DOTALL)
_NUMBER = re.compile(r"\[(\d+)\]\s*\Z")
# NUL ends a text; half characters and U+FFFE, U+FFFF are none: the last of them is the end of a file to the programs.
_NEVER = re.compile(r"[\ud800-\udfff\ufffe\uffff]")


def to_stream(text: str) -> str:
    """A text in the stream format, without white space at its ends; empty for a blank text.

    >>> to_stream("Up [5%].")
    'Up \\\\[5%\\\\]..[]'
    """
    # A byte order mark is none within a text, and at the beginning of a stream no program passes it on.
    text = _NEVER.sub("\ufffd", text.replace("\0", " ").replace("\ufeff", "")).strip()
    if not text:
        return ""
    return _BLANKS.sub(_superblank, _ORDER.sub(r"\\\g<0>", text)) + _END


def _superblank(match: re.Match[str]) -> str:
    blank = match[0]
    if blank == " ":
        return blank
    return f"{_END if _PARAGRAPH.search(blank) else ''}[{blank}]"


def from_stream(stream: str) -> str:
    """The plain text of the engine's output stream.

    >>> from_stream("Sube \\\\[5%\\\\]..[]")
    'Sube [5%].'
    """
    return _BACK.sub(lambda match: match[1] or match[2] or "", stream).strip()


def join_streams(streams: Sequence[str]) -> bytes:
    """Join texts in the stream format into one input, numbered from 0."""
    return "".join(f"{stream}[{number}]\0" for number, stream in enumerate(streams)).encode()


def split_output(output: bytes, number: int) -> list[str] | None:
    """Split an output stream into its `number` texts, in order; None where a text's number is missing."""
    parts = output.decode(errors="replace").split("\0")
    streams = []
    for place, stream in enumerate(parts[:number]):
        end = _NUMBER.search(stream)
        if end is None or int(end[1]) != place:
            return None
        streams.append(stream[: end.start()])
    # Each program adds a NUL of its own at the end of the file.
    return streams if len(streams) == number and not "".join(parts[number:]).strip() else None


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


def read_name(name: str, file: Path = Path()) -> Mode | None:
    """The mode of a name; None for names that say no two languages (`eco-es-fr`, `en-es-postchunk`).

    >>> mode = read_name("spa-cat_valencia")
    >>> mode.source, mode.target, mode.variant
    ('es', 'ca', '_valencia')
    """
    match = _NAME.fullmatch(name)
    if match is None:
        return None
    source, target = two_letters(match["source"]), two_letters(match["target"])
    return Mode(source, target, (match["of"] or "") + (match["to"] or ""), name, file)


def folder() -> Path | None:
    """Where Apertium's data are: `APERTIUM_DATADIR`, else beside the program; None where it is not installed."""
    program = shutil.which("apertium")
    if program is None:
        return None
    if named := os.environ.get("APERTIUM_DATADIR"):
        return Path(named)
    beside = Path(program).resolve().parent.parent / "share" / "apertium"
    return beside if beside.is_dir() else Path("/usr/share/apertium")


def installed_modes() -> tuple[Mode, ...]:
    """Every mode that is installed, as `apertium -l` lists them, sorted by languages; none where there is no Apertium.

    Plain modes come before variants of the same languages.
    """
    data = folder()
    return () if data is None else _modes_in(data)


@cache
def _modes_in(data: Path) -> tuple[Mode, ...]:
    modes = (read_name(file.stem, file) for file in data.glob("modes/*.mode"))
    return tuple(sorted(mode for mode in modes if mode is not None))


def preferred_modes(modes: Iterable[Mode]) -> dict[tuple[str, str], Mode]:
    """The mode to use for each pair of languages: the plain one, else the first variant by name."""
    preferred: dict[tuple[str, str], Mode] = {}
    for mode in sorted(modes):
        preferred.setdefault((mode.source, mode.target), mode)
    return preferred


def needs(names: Sequence[str] = ()) -> str | None:
    """None where Apertium is installed with all modes of these names (none named: with any); else what installs it."""
    if folder() is None:
        return f"apt-get install apertium {' '.join(PACKAGES)}"
    names_installed = {mode.name for mode in installed_modes()}
    missing = [name for name in names if name not in names_installed]
    if missing:
        candidates = [_package(name) for name in missing]
        packages = [package for package in candidates if package]
        how = (
            f"apt-get install {' '.join(dict.fromkeys(packages))}"
            if len(packages) == len(candidates)
            else "see apertium -l"
        )
        return f"Apertium has no mode {', '.join(missing)}; {how}"
    if not names_installed:
        return f"Apertium has no pair of languages; apt-get install {' '.join(PACKAGES)}"
    return None


def _package(name: str) -> str | None:
    """Debian's package with the mode; None where we know of none."""
    wanted = read_name(name)
    for package in PACKAGES:
        pair = read_name(package.removeprefix("apertium-"))
        if wanted and pair and {wanted.source, wanted.target} == {pair.source, pair.target}:
            return package
    return None


def stages(mode: Mode) -> tuple[tuple[str, ...], ...]:
    """The programs of a mode with their arguments, in order, told to end a text at a NUL.

    Words that are unknown stay as they are, without a mark (`apertium -u`). Raises AuditError where Apertium cannot
    read the mode's file, or is older than 3.8.
    """
    return _stages(mode.file)


@cache
def _stages(file: Path) -> tuple[tuple[str, ...], ...]:
    try:
        # Apertium's own program: it knows which programs take -z, and where marks of formatting have to be moved.
        listing = subprocess.run(
            ["apertium-wblank-mode", "-z", str(file)], capture_output=True, text=True, timeout=30, check=True
        ).stdout
    except FileNotFoundError:
        raise AuditError("the program apertium-wblank-mode is missing: Apertium 3.8 or newer is needed") from None
    except (subprocess.SubprocessError, UnicodeDecodeError) as problem:
        raise AuditError(f"Apertium cannot read its mode file {file} ({type(problem).__name__})") from problem
    programs: list[list[str]] = [[]]
    for word in _words(listing):
        if word == "|":
            programs.append([])
        elif word == "$1":
            programs[-1].append("-n")
        elif word != "$2":
            programs[-1].append(word)
    if not all(programs):
        raise AuditError(f"Apertium's mode file {file} names no programs; install its package again")
    return tuple(map(tuple, programs))


def _words(line: str) -> list[str]:
    lexer = shlex.shlex(line, posix=True, punctuation_chars="|")
    lexer.whitespace_split = True
    return list(lexer)


@cache
def engine_version() -> str:
    """The version of the engine, such as "3.8.3"; "absent" where it is not installed."""
    try:
        printed = subprocess.run(["apertium", "-V"], capture_output=True, text=True, timeout=30).stdout
    except (OSError, subprocess.SubprocessError):
        return "absent"
    match = re.search(r"\d[\w.]*", printed)
    return match[0] if match else "unknown"


def fingerprint(modes: Iterable[Mode]) -> str:
    """Twelve hexadecimal digits that name the content of the modes and of every file that they read.

    The content and not dates or the versions of packages: two machines with the same data have the same outputs.
    """
    state = blake2b(digest_size=6)
    for mode in sorted(modes):
        state.update(f"{mode.name}\0{_content(mode.file)}\0".encode())
        for stage in stages(mode):
            for word in stage:
                # Names without their folders: the same data may lie elsewhere.
                content = f"file {_content(Path(word))}" if word.startswith("/") and Path(word).is_file() else word
                state.update(f"{content}\0".encode())
    return state.hexdigest()


@cache
def _content(file: Path) -> str:
    with file.open("rb") as opened:
        state = blake2b(digest_size=16)
        while block := opened.read(1 << 20):
            state.update(block)
    return state.hexdigest()


# Texts through the programs of a mode of Apertium: one process a program for a whole batch, each text for itself.
#
# What a text becomes must not hang on the texts before it, or a system would say something else for the same input in
# another batch. The programs forget what they read at the NUL that ends a text, but for one: on a word with a set of
# analyses that it was not trained on, the tagger of hidden Markov models replaces the tags that unknown words may have,
# and keeps them so until it ends (`find_similar_ambiguity_class` assigns through a reference; Apertium 3.8.3). So texts
# with such words, of which its option -d tells, are tagged by a process of their own.

PATIENCE = 20.0
"""Seconds that a batch may take, and one more for every thousand characters; the engine does ten times as much."""
_SHOWN = 200
"""Characters of a program's message that an error repeats."""
_TAGGER = "apertium-tagger"
_UNSEEN = re.compile(r"^Word '(.*)'\.$", re.MULTILINE)
_SURFACE = re.compile(r"\^((?:[^\\/$]|\\.)*)")

Stages = Sequence[Sequence[str]]


def translate(mode: Mode, texts: Sequence[str], patience: float = PATIENCE) -> list[str | AuditError]:
    """Translate each text, in order; where the engine fails at a text, the error stands in its place.

    A text has the same translation alone and in a batch. White space at its ends is dropped; an empty text stays empty.
    Raises NotInstalled for a program that is absent.
    """
    return [
        output if isinstance(output, AuditError) else from_stream(output)
        for output in _run_texts(stages(mode), texts, patience)
    ]


def tag_texts(mode: Mode, texts: Sequence[str], patience: float = PATIENCE) -> list[str | AuditError]:
    """Each text as the mode's tagger leaves it, in the format of the stream: `^surface/lemma<tag>...$`; or the error.

    Raises AuditError where the mode has no tagger.
    """
    pipeline = stages(mode)
    place = _tagger_place(pipeline)
    if place is None:
        raise AuditError(f"Apertium's mode {mode.name} has no tagger")
    program, *arguments = pipeline[place]
    return _run_texts([*pipeline[:place], [program, "-p", *arguments]], texts, patience)


def has_tagger(mode: Mode) -> bool:
    """Whether texts can be tagged by the mode (`tag_texts`); not where its file cannot be read."""
    try:
        return _tagger_place(stages(mode)) is not None
    except AuditError:
        return False


def _run_texts(pipeline: Stages, texts: Sequence[str], patience: float) -> list[str | AuditError]:
    streams = [to_stream(text) for text in texts]
    full = [place for place, stream in enumerate(streams) if stream]
    outputs: list[str | AuditError] = [""] * len(texts)
    for place, output in zip(
        full, _translate_by_halves(pipeline, [streams[place] for place in full], patience), strict=True
    ):
        outputs[place] = output
    return outputs


def _translate_by_halves(pipeline: Stages, streams: Sequence[str], patience: float) -> list[str | AuditError]:
    """Run a batch; where it fails, run its halves, so that a text that the engine fails at affects no other."""
    if not streams:
        return []
    try:
        return list(_run_batch(pipeline, streams, patience))
    except NotInstalled:
        raise  # whatever the text
    except AuditError as problem:
        if len(streams) == 1:
            return [problem]
    half = len(streams) // 2
    return _translate_by_halves(pipeline, streams[:half], patience) + _translate_by_halves(
        pipeline, streams[half:], patience
    )


def _run_batch(pipeline: Stages, streams: Sequence[str], patience: float) -> list[str]:
    """Raises AuditError: a program failed, took too long, or did not return every text."""
    until = monotonic() + patience + sum(map(len, streams)) / 1000
    place = _tagger_place(pipeline)
    if place is None or not _remembers(pipeline[place]):
        return _split_checked(_run(pipeline, join_streams(streams), until)[0], pipeline, len(streams))
    before = (
        _split_checked(_run(pipeline[:place], join_streams(streams), until)[0], pipeline, len(streams))
        if place
        else list(streams)
    )
    between = _tag_streams(pipeline[place], before, until)
    if place + 1 == len(pipeline):
        return between
    return _split_checked(_run(pipeline[place + 1 :], join_streams(between), until)[0], pipeline, len(streams))


def _tagger_place(pipeline: Stages) -> int | None:
    return next((place for place, stage in enumerate(pipeline) if Path(stage[0]).name == _TAGGER), None)


def _remembers(stage: Sequence[str]) -> bool:
    """Whether a tagger may carry state from one text to the next: all but the perceptron do."""
    return not any(word.startswith("-") and ("x" in word[1:] or word == "--perceptron") for word in stage[1:])


def _tag_streams(stage: Sequence[str], streams: list[str], until: float) -> list[str]:
    """The streams after the tagger, each as if it were the first that the tagger reads."""
    program, *arguments = stage
    output, messages = _run([[program, "-d", *arguments]], join_streams(streams), until)
    if not messages:
        return _split_checked(output, [stage], len(streams))
    unseen = set(_UNSEEN.findall(messages))
    # A message without a word that we can read may be about any of them.
    alone = [
        not unseen or any(_unescape(surface) in unseen for surface in _SURFACE.findall(stream)) for stream in streams
    ]
    together = [place for place, is_alone in enumerate(alone) if not is_alone]
    tagged_streams = [""] * len(streams)
    for places in ([together] if together else []) + [[place] for place, is_alone in enumerate(alone) if is_alone]:
        output, _ = _run([stage], join_streams([streams[place] for place in places]), until)
        for place, tagged_stream in zip(places, _split_checked(output, [stage], len(places)), strict=True):
            tagged_streams[place] = tagged_stream
    return tagged_streams


def _unescape(surface: str) -> str:
    return re.sub(r"\\(.)", r"\1", surface)


def _split_checked(output: bytes, pipeline: Stages, number: int) -> list[str]:
    streams = split_output(output, number)
    if streams is None:
        raise AuditError(f"Apertium ({Path(pipeline[-1][0]).name}) did not return its {number} texts one by one")
    return streams


def _run(pipeline: Stages, data: bytes, until: float) -> tuple[bytes, str]:
    """Run a pipeline of programs on `data`: the output of the last one, and its messages.

    Raises AuditError for a program that is absent or fails (with its own words), and for what takes too long.
    """
    environment = os.environ | {"LC_ALL": "C.UTF-8"}
    running: list[subprocess.Popen[bytes]] = []
    with ExitStack() as stack:
        source = stack.enter_context(tempfile.TemporaryFile())
        source.write(data)
        source.seek(0)
        # Files and not pipes: nobody has to read what many programs say while they work.
        message_files = [stack.enter_context(tempfile.TemporaryFile()) for _ in pipeline]
        try:
            for stage, message_file in zip(pipeline, message_files, strict=True):
                reads = running[-1].stdout if running else source
                process = subprocess.Popen(
                    list(stage), stdin=reads, stdout=subprocess.PIPE, stderr=message_file, env=environment
                )
                if running and running[-1].stdout:
                    running[-1].stdout.close()  # else a program whose reader died would wait for ever
                running.append(process)
            output, _ = running[-1].communicate(timeout=max(0.1, until - monotonic()))
            codes = [process.wait(timeout=max(0.1, until - monotonic())) for process in running]
        except FileNotFoundError:
            raise NotInstalled(
                f"Apertium's program {stage[0]} is not installed; on Debian: apt-get install apertium"
            ) from None
        except subprocess.TimeoutExpired:
            raise AuditError("Apertium took too long and was stopped; shorten the text") from None
        finally:
            for process in running:
                if process.poll() is None:
                    process.kill()
                    process.wait()
                if process.stdout:
                    process.stdout.close()
        messages = [_read_message(message_file) for message_file in message_files]
    # A program that only found nobody to write to (SIGPIPE) is not the one that failed.
    for code, stage, text in zip(codes, pipeline, messages, strict=True):
        if code not in (0, -13):
            message = " ".join(text.split())[:_SHOWN] or "it said nothing"
            raise AuditError(f"Apertium's program {Path(stage[0]).name} ended with {code}: {message}")
    return output, messages[-1]


def _read_message(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode(errors="replace").strip()


__all__ = [
    "Mode",
    "engine_version",
    "fingerprint",
    "has_tagger",
    "installed_modes",
    "needs",
    "preferred_modes",
    "stages",
    "tag_texts",
    "translate",
]
