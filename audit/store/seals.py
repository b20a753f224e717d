"""What a manifest says of a file, so that a reader can tell whether, and where, the file was changed since."""

import hashlib
import os
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from audit.errors import BadFile
from audit.files import refuse_no_file
from audit.keys import canonical

BLOCKS = 1_000
"""Blocks of lines that are summed up on their own: a change in a file of so many lines is found to the line."""
_PIECE = 1 << 20


def described(path: Path) -> dict[str, Any]:
    """Size and sums of a file: lines, bytes, sha256, block (lines in each) and crc32 (8 hexadecimal digits a block)."""
    state, lines, size = hashlib.sha256(), 0, 0
    last = b"\n"
    with path.open("rb") as file:
        while piece := file.read(_PIECE):
            state.update(piece)
            lines += piece.count(b"\n")
            size += len(piece)
            last = piece[-1:]
    lines += last != b"\n"
    block = max(1, -(-lines // BLOCKS))
    return {
        "lines": lines,
        "bytes": size,
        "sha256": state.hexdigest(),
        "block": block,
        "crc32": "".join(_sums(path, block)),
    }


def check(folder: Path, name: str, sealed: Mapping[str, Any]) -> None:
    """Raise BadFile, with the file and its lines, unless a file of a folder is what the manifest says."""
    path = folder / name
    kinds = {"lines": int, "sha256": str, "block": int, "crc32": str}
    if not isinstance(sealed, Mapping) or any(not isinstance(sealed.get(key), kind) for key, kind in kinds.items()):
        raise BadFile(f"{path}: the manifest lacks the sums of this file; export again")
    if not os.path.exists(path):
        raise BadFile(f"{path}: the file is missing, the manifest lists it; export again")
    refuse_no_file(path)
    try:
        found = described(path)
    except OSError as problem:
        raise BadFile(f"{path}: cannot be read ({problem.strerror})") from None
    if found["sha256"] == sealed["sha256"]:
        return
    sums = sealed["crc32"]
    wanted = [sums[at : at + 8] for at in range(0, len(sums), 8)]
    for place, sum_ in enumerate(_sums(path, max(1, sealed["block"]))):
        first = place * sealed["block"] + 1
        if place >= len(wanted):
            raise BadFile(
                f"{path}, line {first:,}: the file goes on where it had {sealed['lines']:,} lines; export again"
            )
        if sum_ != wanted[place]:
            last = min(first + sealed["block"] - 1, sealed["lines"])
            if found["lines"] < last:
                break
            where = f"line {first:,}" if first == last else f"lines {first:,} to {last:,}"
            raise BadFile(f"{path}, {where}: changed since the export was made; export again")
    raise BadFile(
        f"{path}, line {found['lines']:,}: the file ends here, but had {sealed['lines']:,} lines; it was cut short"
    )


def seal(manifest: Mapping[str, Any]) -> str:
    """The SHA-256 of a manifest without its seal: it names a whole export, since the sums of its files are in it."""
    return hashlib.sha256(
        canonical({key: value for key, value in manifest.items() if key != "seal"}).encode()
    ).hexdigest()


def _sums(path: Path, block: int) -> Iterator[str]:
    with path.open("rb") as file:
        sum_, number = 0, 0
        for number, line in enumerate(file, start=1):
            sum_ = zlib.crc32(line, sum_)
            if number % block == 0:
                yield f"{sum_:08x}"
                sum_ = 0
        if number % block:
            yield f"{sum_:08x}"
