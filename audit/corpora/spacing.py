"""Text as people write it, from text as corpora store it: spacing restored, leftovers of HTML and old encodings mended.

Review corpora are often tokenised (`listless , witless`), which reads badly and teaches annotators nothing. Nothing
here changes a word: only white space, HTML tags, and characters that a wrong encoding left behind.
"""

import re

# Bytes 0x80-0x9f that came through as control characters are Windows-1252 punctuation nearly everywhere; the few
# accented letters among them are Mac Roman (Almod\x97var is rarer than a dash, but \x8e is always an e acute).
_CONTROLS = {
    code: bytes([code]).decode("cp1252")
    for code in range(0x80, 0xA0)
    if code not in (0x81, 0x8D, 0x8E, 0x8F, 0x90, 0x9D, 0x9E)
}
_CONTROLS |= {0x8D: "ç", 0x8E: "é", 0x8F: "è", 0x9D: "ù", 0x9E: "û", 0x85: "..."}
_CONTROLS |= {0xA0: " ", 0xAD: "", 0xFEFF: "", 0x09: " "}

_BREAK = re.compile(r"\s*<br\s*/?>\s*", re.IGNORECASE)
_BREAKS = re.compile(r"(?:\s*<br\s*/?>\s*){2,}", re.IGNORECASE)
_TAG = re.compile(r"</?(?:i|b|em|u|hr|p|strong|spoiler)\s*/?>", re.IGNORECASE)

_SUFFIX = r"'(?:s|re|ve|ll|d|m)|n't"
_STEPS = tuple(
    (re.compile(pattern), new)
    for pattern, new in (
        (r"``|''", '"'),
        (r"\.(?: \.)+", lambda match: match.group().replace(" ", "")),  # . . .  ->  ...
        (r"[!?](?: [!?])+", lambda match: match.group().replace(" ", "")),  # ! ? !  ->  !?!
        (r"\*(?: \*)+", lambda match: match.group().replace(" ", "")),  # * * *  ->  ***
        (r"\ba (\*+) (?=holes?\b)", r"a\1"),
        (r"(?<![\w.'-])[a-z] \.(?: [a-z] \.)+", lambda match: match.group().replace(" ", "")),  # u . s .  ->  u.s.
        (r"(?<=\d) ([.:]) (?=\d)", r"\1"),  # 3 . 5, 1 : 85
        (r"(?<=\d) , (?=\d{3}\b)", ","),  # 1 , 000
        (r"(?<=\w) / (?=\w)", "/"),
        (r"(?<=[\w])& (?=\w\b)", "&"),  # pb& j
        (r"(?<=[^\W_])- (?!(?:and|or|to|but|nor)\b(?!-))(?=[^\W_])", "-"),  # hard- boiled
        (r"(?<=\S-)(\S*) -(?=\w)", r"\1-"),  # all-too -inevitable
        (r"(?<=\w) -(?=\w+-)", "-"),  # we're -doing-it
        (r"(?<=\w) -(?=\w)", " - "),  # a taunt -a call
        (r"([$£€#]) (?=\d)", r"\1"),
        (rf" (?=(?:{_SUFFIX})(?!\w))", ""),  # it 's, do n't
        (r" (?=[,.;:!?%)\]}])(?!\.\w)", ""),
        (r"(?<=[(\[{]) ", ""),
    )
)
_QUOTE = re.compile(r'(?<!\S)"(?!\S)| "(?=[,.;:!?)\]])|(?<=[(\[])"(?= )')
_LONE = re.compile(r"(?<=\S) '(?!\S)")


def mended(text: str) -> str:
    """The text without control characters, tabs and non-breaking spaces, with the characters that they stood for.

    >>> mended("a bit\\x85 \\x96 it´s")
    "a bit... – it's"
    """
    return re.sub(r"(?<=\w)[´`](?=\w)", "'", text.translate(_CONTROLS))


def paragraphs(html: str) -> str:
    """A review with `<br />` as plain text: one break is a new line, two or more are a new paragraph.

    >>> paragraphs("Good.<br /><br />It <i>works</i>.")
    'Good.\\n\\nIt works.'
    """
    text = _BREAK.sub("\n", _BREAKS.sub("\n\n", mended(html)))
    return re.sub(r"[ ]{2,}", " ", _TAG.sub("", text)).strip()


def restored(tokenised: str) -> str:
    """A tokenised line or text, spaced as people write it; lines stay lines. No character but white space changes,
    apart from what `mended` mends and quotation marks in TeX's spelling.

    >>> restored('" i do n\\'t know , " he said ( twice ) . . . it\\'s hard- boiled !')
    '"i don\\'t know," he said (twice)... it\\'s hard-boiled!'
    """
    return "\n".join(_line(line) for line in mended(tokenised).split("\n"))


def _line(line: str) -> str:
    line = " ".join(line.split())
    for pattern, new in _STEPS:
        line = pattern.sub(new, line)
    return _LONE.sub("'", _quotes(line)).strip()


def _quotes(line: str) -> str:
    """Double quotes that stand alone, put to the word they open or close: they take turns."""
    marks = [match.start() + match.group().index('"') for match in re.finditer(r'"', line) for _ in (0,)]
    parts: list[str] = []
    at = 0
    is_open = False
    for mark in marks:
        before, after = line[at:mark], line[mark + 1 :]
        spaced_left = mark == 0 or line[mark - 1] in " (["
        spaced_right = not after or after[0] in " ,.;:!?)]"
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
