"""Texts as Apertium's programs pass them on, and back ("Apertium stream format", wiki.apertium.org).

What its characters of order are is escaped, white space other than single blanks is put into brackets, and a full stop
that is not the text's own (`.[]`) ends every paragraph, or its last words would be taken for a title without an end.
`apertium -f txt` does the same for one file (`apertium-destxt`, `apertium-retxt`). Here many texts go in one stream:
each ends with its number in brackets and a NUL, at which every program forgets what it read and writes what it has.
"""

import re
from collections.abc import Sequence

_ORDER = re.compile(r"[][\\/@^${}<>]")
_BLANKS = re.compile(r"[ \n\t\r~]+")
_PARAGRAPH = re.compile(r"\n\r?\n")
_END = ".[]"
_BACK = re.compile(r"\\(.)|\.\[\]|\[((?:[^]\\]|\\.)*)\]", re.DOTALL)
_NUMBER = re.compile(r"\[(\d+)\]\s*\Z")
# NUL ends a text; half characters and U+FFFE, U+FFFF are none: the last of them is the end of a file to the programs.
_NEVER = re.compile(r"[\ud800-\udfff\ufffe\uffff]")


def deformatted(text: str) -> str:
    """One text in the format of the stream, without white space at its ends; empty where nothing else is in it.

    >>> deformatted("Up [5%].")
    'Up \\\\[5%\\\\]..[]'
    """
    # A byte order mark is none within a text, and at the beginning of a stream no program passes it on.
    text = _NEVER.sub("\ufffd", text.replace("\0", " ").replace("\ufeff", "")).strip()
    if not text:
        return ""
    return _BLANKS.sub(_superblank, _ORDER.sub(r"\\\g<0>", text)) + _END


def _superblank(found: re.Match[str]) -> str:
    blank = found[0]
    if blank == " ":
        return blank
    return f"{_END if _PARAGRAPH.search(blank) else ''}[{blank}]"


def reformatted(stream: str) -> str:
    """What the engine made of a text, as people read it.

    >>> reformatted("Sube \\\\[5%\\\\]..[]")
    'Sube [5%].'
    """
    return _BACK.sub(lambda found: found[1] or found[2] or "", stream).strip()


def joined(streams: Sequence[str]) -> bytes:
    """Texts in the format of the stream as one input, numbered from 0."""
    return "".join(f"{one}[{number}]\0" for number, one in enumerate(streams)).encode()


def parted(output: bytes, number: int) -> list[str] | None:
    """The outputs of a stream of so many texts, in order; None where it does not have the number of each of them."""
    found = output.decode(errors="replace").split("\0")
    streams = []
    for place, one in enumerate(found[:number]):
        end = _NUMBER.search(one)
        if end is None or int(end[1]) != place:
            return None
        streams.append(one[: end.start()])
    # Each program adds a NUL of its own at the end of the file.
    return streams if len(streams) == number and not "".join(found[number:]).strip() else None
