"""Text as people write it, from text as corpora store it: spacing restored, leftovers of HTML and old encodings mended.

Review corpora are often tokenised (`listless , witless`), which reads badly and teaches annotators nothing. Nothing
here changes a word: only white space, HTML tags, and characters that a wrong encoding left behind.
"""

import re
from collections.abc import Callable, Sequence
from html import unescape

# Bytes 0x80-0x9f that came through as control characters are Windows-1252 punctuation nearly everywhere; the few
# accented letters among them are Mac Roman (Almod\x97var is rarer than a dash, but \x8e is always an e acute).
_CONTROLS = {code: bytes([code]).decode("cp1252", "replace") for code in range(0x80, 0xA0)}
_CONTROLS |= {0x85: "...", 0x8D: "ç", 0x8E: "é", 0x8F: "è", 0x9D: "ù", 0x9E: "û", 0x81: "", 0x90: ""}
# The same marks with their highest bit cut off (polarity v2.0).
_CONTROLS |= {0x05: "...", 0x12: "'", 0x13: '"', 0x14: '"', 0x16: "–", 0x17: "—"}
_CONTROLS |= {0x09: " ", 0xA0: " ", 0xAD: "", 0xFEFF: ""}
_ODD = re.compile(f"[{re.escape(''.join(map(chr, _CONTROLS)))}]")

_QUOTED = re.compile("=(85|9[1-7])")  # quoted-printable, left over in polarity v2.0

_ENTITY = re.compile(r"&#(\d{2,5});(?: (?=(?:s|t|re|ve|ll|d|m)\b))?")  # can&#8217; t

_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)
_TAG = re.compile(r"</?(?:i|b|em|u|hr|p|strong|spoiler)\s*/?>", re.IGNORECASE)

_SUFFIX = r"'(?:s|re|ve|ll|d|m)|n't"
_DASHED = "a an the i you he she it we they this that these those there which who what when where why how hence"
_DASHED += " if so as because though although while is are was were has have had should would could can not no yes"


def _closed_up(match: re.Match[str]) -> str:
    return match.group().replace(" ", "")


# Marks of which a text must have one, pattern, replacement. Most texts have few marks, and looking for a mark costs a
# tenth of looking for a pattern. No pattern matches without one of its marks, or goes beyond a line. They begin with a
# character and look behind after it, where they can: then only the places with that character are looked at.
_PATTERNS: tuple[tuple[tuple[str, ...], str, str | Callable[[re.Match[str]], str]], ...] = (
    ((". .",), r"\.(?: \.)+", _closed_up),  # . . .
    (("! ", "? "), r"[!?](?: [!?])+", _closed_up),  # ! ? !
    (("*",), r"\*(?: \*)+", _closed_up),  # * * *
    (("*",), r"(?<!\w)(?:a|s|f|fu|sh) \*+ ?(?=(?:u?c?k|h?i?t|t|holes?|k?ing|er|ed)\b)", _closed_up),  # s * * t
    (("*",), r"\*(?<!\S\*) \w\w+ \*(?!\S)", _closed_up),  # * me *
    ((": )", "; )", ": - )", "; - )"), r"[:;](?<!\S.)(?: -)? \)(?!\S)", _closed_up),  # : )
    ((" . ",), r"(?<![\w.'-])[a-z] \.(?: [a-z] \.)+", _closed_up),  # u . s .
    (tuple(f" , {digit}" for digit in "0123456789"), r"(?<!\d)\d{1,3}(?: , \d{3})+(?!\d)", _closed_up),  # 1 , 000
    *(((f" {mark} ",), rf" {re.escape(mark)} (?<=\d . )(?=\d)", mark) for mark in ".:/"),  # 3 . 5, 1 : 85, 8 / 10
    (("&",), r"&(?<=\w&) (?=\w\b)", "&"),  # pb& j
    (("- ",), rf"- (?<=[^\W_]- )(?=(?:{_DASHED.replace(' ', '|')})\b(?!-))", " - "),  # underneath- a priest
    (("- ",), r"- (?<=[^\W_]- )(?!(?:and|or|to|but|nor)\b(?!-))(?=[^\W_])", "-"),  # hard- boiled, but not pre- and
    ((" -",), r"(?<=-)(\w+) -(?=[^\W\d_])", r"\1-"),  # all-too -inevitable
    ((" -",), r" -(?<=[^\W_] -)(?=[^\W\d_]+-)", "-"),  # we're -doing-it
    ((" -",), r" -(?<=[^\W_] -)(?=[^\W\d_])", " - "),  # a taunt -a call
    (("$", "£", "€", "#"), r"([$£€#]) (?=\d)", r"\1"),
    ((" '", " n't"), rf" (?=(?:{_SUFFIX})(?!\w))", ""),  # it 's, do n't
    ((" ",), r" (?=[,.;:!?%)\]}])(?![:;]-?\))", ""),
    *(((f"{mark} ",), rf"{re.escape(mark)} ", mark) for mark in "([{"),
)
_STEPS = tuple((marks, re.compile(pattern), new) for marks, pattern, new in _PATTERNS)
_LONE = re.compile(r"(?<=\S) '(?!\S)")
_LETTER = re.compile(r"[^\W\d_]")


def has_letter(text: str) -> bool:
    """Whether there is a letter in the text; lines without one are ornaments.

    >>> has_letter("* * *"), has_letter("10 times"), has_letter("好")
    (False, True, True)
    """
    return text[:1].isalpha() or _LETTER.search(text) is not None  # most begin with one, which is seen at once


def mended(text: str) -> str:
    """The text without control characters, tabs and non-breaking spaces, with the characters that they stood for.

    >>> mended("a bit\\x85 \\x96 it´s")
    "a bit... – it's"
    """
    if _ODD.search(text):
        text = text.translate(_CONTROLS)
    if "=" in text:
        text = _QUOTED.sub(lambda match: _CONTROLS[int(match.group(1), 16)], text)
    if "&" in text:
        text = _ENTITY.sub(lambda match: unescape(f"&#{match.group(1)};"), re.sub("&nbsp ?;", " ", text))
    return text.replace("´", "'").replace("``", '"').replace("''", '"').replace("`", "'")


def paragraphs(html: str) -> str:
    """A review with `<br />` as plain text: one break is a new line, two or more are a new paragraph.

    >>> paragraphs("Good.<br /><br />It <i>works</i>.")
    'Good.\\n\\nIt works.'
    """
    text = _TAG.sub("", _BREAK.sub("\n", mended(html)))
    lines = (" ".join(line.split()) for line in text.split("\n"))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()


def restored(tokenised: str) -> str:
    """A tokenised line or text, spaced as people write it; lines stay lines. No character but white space changes,
    apart from what `mended` mends and quotation marks in TeX's spelling.

    >>> restored('" i do n\\'t know , " he said ( twice ) . . . it\\'s hard- boiled !')
    '"i don\\'t know," he said (twice)... it\\'s hard-boiled!'
    """
    text = "\n".join(_single_spaced(line) for line in mended(tokenised).split("\n"))
    for marks, pattern, new in _STEPS:
        there = [mark for mark in marks if mark in text]
        if there and pattern.pattern[0] not in "([":
            text = pattern.sub(new, text)
        elif there:
            lines = text.split("\n")
            for at in {at for mark in there for at, line in enumerate(lines) if mark in line}:
                lines[at] = pattern.sub(new, lines[at])
            text = "\n".join(lines)
    lines = text.split("\n")
    for at, line in enumerate(lines):
        if '"' in line:
            line = _quotes(line)
        if " '" in line:
            line = _LONE.sub("'", line)
        lines[at] = line.strip()
    return "\n".join(lines)


def _single_spaced(line: str) -> str:
    line = line.strip()
    # Of white space, only a space is printable.
    return line if "  " not in line and line.isprintable() else " ".join(line.split())


def restored_all(texts: Sequence[str]) -> list[str]:
    """`restored` of each text, in order; many lines at once take a third of the time of one by one.

    >>> restored_all(["it is long .", "is it ?"])
    ['it is long.', 'is it?']
    """
    together = "\n".join(texts)
    # Where a text has several lines, or a character by number, which may be a line break, they are done one by one.
    if together.count("\n") != len(texts) - 1 or "&#" in together:
        return [restored(text) for text in texts]
    return restored(together).split("\n")


def _quotes(line: str) -> str:
    """Double quotes that stand alone, put to the word they open or close: they take turns."""
    marks = [match.start() for match in re.finditer('"', line)]
    parts: list[str] = []
    at = 0
    is_open = False
    for mark in marks:
        before, after = line[at:mark], line[mark + 1 :]
        spaced_left = mark == 0 or line[mark - 1] in " (["
        spaced_right = not after or after[0] in " ,.;:!?)]" or after.startswith("'s")
        if spaced_left and not spaced_right:
            is_open = True
        elif spaced_right and not spaced_left:
            is_open = False
        else:
            is_open = not is_open and bool(after.strip())
        if is_open:
            parts += [before, '"']
            at = mark + 1 + (after.startswith(" ") and bool(after.strip()))
        else:
            parts += [before.rstrip() if spaced_left else before, '"']
            at = mark + 1
    return "".join(parts) + line[at:]
