"""What of Apertium is installed: its modes, the languages of each, and what tells one version of them from another."""

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from pathlib import Path

from audit.errors import AuditError
from audit.language.iso639 import two_letters

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
    found = _NAME.fullmatch(name)
    if found is None:
        return None
    source, target = two_letters(found["source"]), two_letters(found["target"])
    return Mode(source, target, (found["of"] or "") + (found["to"] or ""), name, file)


def folder() -> Path | None:
    """Where Apertium's data are: `APERTIUM_DATADIR`, else beside the program; None where it is not installed."""
    program = shutil.which("apertium")
    if program is None:
        return None
    if named := os.environ.get("APERTIUM_DATADIR"):
        return Path(named)
    beside = Path(program).resolve().parent.parent / "share" / "apertium"
    return beside if beside.is_dir() else Path("/usr/share/apertium")


def installed() -> tuple[Mode, ...]:
    """Every mode that is installed, as `apertium -l` lists them, sorted by languages; none where there is no Apertium.

    Plain modes come before variants of the same languages.
    """
    data = folder()
    return () if data is None else _installed(data)


@cache
def _installed(data: Path) -> tuple[Mode, ...]:
    found = (read_name(file.stem, file) for file in data.glob("modes/*.mode"))
    return tuple(sorted(mode for mode in found if mode is not None))


def taken(modes: Iterable[Mode]) -> dict[tuple[str, str], Mode]:
    """The mode that is taken for each pair of languages: the plain one, else the first variant by name."""
    found: dict[tuple[str, str], Mode] = {}
    for mode in sorted(modes):
        found.setdefault((mode.source, mode.target), mode)
    return found


def needs(names: Sequence[str] = ()) -> str | None:
    """None where Apertium is installed with all modes of these names (none named: with any); else what installs it."""
    if folder() is None:
        return f"apt-get install apertium {' '.join(PACKAGES)}"
    there = {mode.name for mode in installed()}
    missing = [name for name in names if name not in there]
    if missing:
        wanted = [_package(name) for name in missing]
        known = [package for package in wanted if package]
        how = f"apt-get install {' '.join(dict.fromkeys(known))}" if len(known) == len(wanted) else "see apertium -l"
        return f"Apertium has no mode {', '.join(missing)}; {how}"
    if not there:
        return f"Apertium has no pair of languages; apt-get install {' '.join(PACKAGES)}"
    return None


def _package(name: str) -> str | None:
    """Debian's package with the mode, as far as we know it."""
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
        shown = subprocess.run(
            ["apertium-wblank-mode", "-z", str(file)], capture_output=True, text=True, timeout=30, check=True
        ).stdout
    except FileNotFoundError:
        raise AuditError("the program apertium-wblank-mode is missing: Apertium 3.8 or newer is needed") from None
    except (subprocess.SubprocessError, UnicodeDecodeError) as problem:
        raise AuditError(f"Apertium cannot read its mode file {file} ({type(problem).__name__})") from problem
    found: list[list[str]] = [[]]
    for word in _words(shown):
        if word == "|":
            found.append([])
        elif word == "$1":
            found[-1].append("-n")
        elif word != "$2":
            found[-1].append(word)
    if not all(found):
        raise AuditError(f"Apertium's mode file {file} names no programs; install its package again")
    return tuple(map(tuple, found))


def _words(line: str) -> list[str]:
    cut = shlex.shlex(line, posix=True, punctuation_chars="|")
    cut.whitespace_split = True
    return list(cut)


@cache
def engine_version() -> str:
    """Of the engine, such as "3.8.3"; "absent" where it is not installed."""
    try:
        shown = subprocess.run(["apertium", "-V"], capture_output=True, text=True, timeout=30).stdout
    except (OSError, subprocess.SubprocessError):
        return "absent"
    found = re.search(r"\d[\w.]*", shown)
    return found[0] if found else "unknown"


def fingerprint(modes: Iterable[Mode]) -> str:
    """Twelve hexadecimal digits that name the content of the modes and of every file that they read.

    The content and not dates or the versions of packages: two machines with the same data have the same outputs.
    """
    whole = blake2b(digest_size=6)
    for mode in sorted(modes):
        whole.update(f"{mode.name}\0{_content(mode.file)}\0".encode())
        for stage in stages(mode):
            for word in stage:
                # Names without their folders: the same data may lie elsewhere.
                shown = f"file {_content(Path(word))}" if word.startswith("/") and Path(word).is_file() else word
                whole.update(f"{shown}\0".encode())
    return whole.hexdigest()


@cache
def _content(file: Path) -> str:
    with file.open("rb") as opened:
        state = blake2b(digest_size=16)
        while block := opened.read(1 << 20):
            state.update(block)
    return state.hexdigest()
