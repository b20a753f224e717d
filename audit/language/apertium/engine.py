"""Texts through the programs of a mode of Apertium: one process a program for a whole batch, each text for itself.

What a text becomes must not hang on the texts before it, or a system would say something else for the same input in
another batch. The programs forget what they read at the NUL that ends a text, but for one: on a word with a set of
analyses that it was not trained on, the tagger of hidden Markov models replaces the tags that unknown words may have,
and keeps them so until it ends (`find_similar_ambiguity_class` assigns through a reference; Apertium 3.8.3). So texts
with such words, of which its option -d tells, are tagged by a process of their own.
"""

import os
import re
import subprocess
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from time import monotonic
from typing import IO

from audit.errors import AuditError, NotInstalled
from audit.language.apertium.formatting import deformatted, joined, parted, reformatted
from audit.language.apertium.modes import Mode, stages

PATIENCE = 20.0
"""Seconds that a batch may take, and one more for every thousand characters; the engine does ten times as much."""
_SHOWN = 200
"""Characters of a program's own message that an error has."""
_TAGGER = "apertium-tagger"
_UNSEEN = re.compile(r"^Word '(.*)'\.$", re.MULTILINE)
_SURFACE = re.compile(r"\^((?:[^\\/$]|\\.)*)")

Stages = Sequence[Sequence[str]]


def translated(mode: Mode, texts: Sequence[str], patience: float = PATIENCE) -> list[str | AuditError]:
    """What the engine makes of each text, in order; for one that it fails at, the error.

    A text is the same alone and among others. White space at its ends is dropped; of nothing else nothing is made.
    Raises NotInstalled for a program that is absent.
    """
    return [one if isinstance(one, AuditError) else reformatted(one) for one in _through(stages(mode), texts, patience)]


def tagged(mode: Mode, texts: Sequence[str], patience: float = PATIENCE) -> list[str | AuditError]:
    """Each text as the mode's tagger leaves it, in the format of the stream: `^surface/lemma<tag>...$`; or the error.

    Raises AuditError where the mode has no tagger.
    """
    every = stages(mode)
    place = _tagger(every)
    if place is None:
        raise AuditError(f"Apertium's mode {mode.name} has no tagger")
    program, *arguments = every[place]
    return _through([*every[:place], [program, "-p", *arguments]], texts, patience)


def has_tagger(mode: Mode) -> bool:
    """Whether texts can be `tagged` by the mode; not where its file cannot be read."""
    try:
        return _tagger(stages(mode)) is not None
    except AuditError:
        return False


def _through(every: Stages, texts: Sequence[str], patience: float) -> list[str | AuditError]:
    streams = [deformatted(text) for text in texts]
    full = [place for place, one in enumerate(streams) if one]
    found: list[str | AuditError] = [""] * len(texts)
    for place, one in zip(full, _halving(every, [streams[place] for place in full], patience), strict=True):
        found[place] = one
    return found


def _halving(every: Stages, streams: Sequence[str], patience: float) -> list[str | AuditError]:
    """Where a batch fails, its halves are tried, so that a text that the engine fails at costs no other one."""
    if not streams:
        return []
    try:
        return list(_batch(every, streams, patience))
    except NotInstalled:
        raise  # whatever the text
    except AuditError as problem:
        if len(streams) == 1:
            return [problem]
    half = len(streams) // 2
    return _halving(every, streams[:half], patience) + _halving(every, streams[half:], patience)


def _batch(every: Stages, streams: Sequence[str], patience: float) -> list[str]:
    """Raises AuditError: a program failed, took too long, or did not return every text."""
    until = monotonic() + patience + sum(map(len, streams)) / 1000
    place = _tagger(every)
    if place is None or not _remembers(every[place]):
        return _parted(_run(every, joined(streams), until)[0], every, len(streams))
    before = _parted(_run(every[:place], joined(streams), until)[0], every, len(streams)) if place else list(streams)
    between = _tagged(every[place], before, until)
    if place + 1 == len(every):
        return between
    return _parted(_run(every[place + 1 :], joined(between), until)[0], every, len(streams))


def _tagger(every: Stages) -> int | None:
    return next((place for place, stage in enumerate(every) if Path(stage[0]).name == _TAGGER), None)


def _remembers(stage: Sequence[str]) -> bool:
    """Whether a tagger may keep something from one text to the next: all but the perceptron."""
    return not any(word.startswith("-") and ("x" in word[1:] or word == "--perceptron") for word in stage[1:])


def _tagged(stage: Sequence[str], streams: list[str], until: float) -> list[str]:
    """The streams after the tagger, each as if it were the first that the tagger reads."""
    program, *arguments = stage
    output, said = _run([[program, "-d", *arguments]], joined(streams), until)
    if not said:
        return _parted(output, [stage], len(streams))
    unseen = set(_UNSEEN.findall(said))
    # A message without a word that we can read may be about any of them.
    alone = [not unseen or any(_plain(one) in unseen for one in _SURFACE.findall(stream)) for stream in streams]
    together = [place for place, one in enumerate(alone) if not one]
    found = [""] * len(streams)
    for places in ([together] if together else []) + [[place] for place, one in enumerate(alone) if one]:
        output, _ = _run([stage], joined([streams[place] for place in places]), until)
        for place, one in zip(places, _parted(output, [stage], len(places)), strict=True):
            found[place] = one
    return found


def _plain(surface: str) -> str:
    return re.sub(r"\\(.)", r"\1", surface)


def _parted(output: bytes, every: Stages, number: int) -> list[str]:
    found = parted(output, number)
    if found is None:
        raise AuditError(f"Apertium ({Path(every[-1][0]).name}) did not return its {number} texts one by one")
    return found


def _run(every: Stages, given: bytes, until: float) -> tuple[bytes, str]:
    """What comes out of programs, each of which reads what the one before it writes, and what the last one says.

    Raises AuditError for a program that is absent or fails (with its own words), and for what takes too long.
    """
    environment = os.environ | {"LC_ALL": "C.UTF-8"}
    running: list[subprocess.Popen[bytes]] = []
    with ExitStack() as stack:
        source = stack.enter_context(tempfile.TemporaryFile())
        source.write(given)
        source.seek(0)
        # Files and not pipes: nobody has to read what many programs say while they work.
        spoken = [stack.enter_context(tempfile.TemporaryFile()) for _ in every]
        try:
            for stage, speaks in zip(every, spoken, strict=True):
                reads = running[-1].stdout if running else source
                one = subprocess.Popen(list(stage), stdin=reads, stdout=subprocess.PIPE, stderr=speaks, env=environment)
                if running and running[-1].stdout:
                    running[-1].stdout.close()  # else a program whose reader died would wait for ever
                running.append(one)
            output, _ = running[-1].communicate(timeout=max(0.1, until - monotonic()))
            codes = [one.wait(timeout=max(0.1, until - monotonic())) for one in running]
        except FileNotFoundError:
            raise NotInstalled(
                f"Apertium's program {stage[0]} is not installed; on Debian: apt-get install apertium"
            ) from None
        except subprocess.TimeoutExpired:
            raise AuditError("Apertium took too long and was stopped; shorten the text") from None
        finally:
            for one in running:
                if one.poll() is None:
                    one.kill()
                    one.wait()
                if one.stdout:
                    one.stdout.close()
        said = [_said(speaks) for speaks in spoken]
    # A program that only found nobody to write to (SIGPIPE) is not the one that failed.
    for code, stage, words in zip(codes, every, said, strict=True):
        if code not in (0, -13):
            shown = " ".join(words.split())[:_SHOWN] or "it said nothing"
            raise AuditError(f"Apertium's program {Path(stage[0]).name} ended with {code}: {shown}")
    return output, said[-1]


def _said(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode(errors="replace").strip()
