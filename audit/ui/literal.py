"""Showing texts as they are: whatever a corpus, a system or a person wrote is data, never Markdown or HTML."""

import re
from difflib import SequenceMatcher
from html import escape

# Words, spaces, and every other sign by itself; Chinese and Japanese signs one by one, as they have no spaces.
_TOKENS = re.compile(r"\s+|[\u3040-\u30ff\u3400-\u9fff]|[^\W\u3040-\u30ff\u3400-\u9fff]+|[^\w\s]")
_COMMAND = re.compile(r"(`(?:audit |--)[a-z0-9 .-]+`)")
_LONG = 250_000
"""Pairs of tokens above which texts are compared by their rarer ones."""
_MARKS = re.compile(r"([\\`*_{}\[\]()#+\-.!|~$:<>&@/])")


def plain(text: str) -> str:
    """Markdown that shows the text as it is; for messages and labels that quote somebody.

    >>> plain("**a** :smile:")
    '\\\\*\\\\*a\\\\*\\\\* \\\\:smile\\\\:'
    """
    return _MARKS.sub(r"\\\1", _valid(text))


def with_commands(text: str) -> str:
    """As `plain`, but a command or option of ours in backticks is shown as one.

    >>> with_commands("*see* `audit gold`, `x`")
    '\\\\*see\\\\* `audit gold`, \\\\`x\\\\`'
    """
    return "".join(part if at % 2 else plain(part) for at, part in enumerate(_COMMAND.split(text)))


def html(text: str) -> str:
    """HTML that shows the text as it is; for `st.html`, which interprets nothing but HTML and sanitises that.

    >>> html("<b>")
    '&lt;b&gt;'
    """
    return escape(_valid(text))


def sentence(text: str) -> str:
    """With a capital letter and a full stop: errors are written without them.

    >>> sentence("choose at least one label")
    'Choose at least one label.'
    """
    return text[:1].upper() + text[1:] + ("" if text[-1:] in ".!?。！？" else ".")


def reading(text: str, language: str, extra: str = "") -> str:
    """A text to be read, as an HTML block that scrolls when it is long."""
    return _block(html(text), language, extra)


def compared(before: str, after: str, language: str) -> str:
    """The text `after` as an HTML block in which what differs from `before` is marked and underlined."""
    old, new = _TOKENS.findall(_valid(before)), _TOKENS.findall(_valid(after))
    parts = []
    # In a long review spaces and commas would be compared millions of times; there only rarer words begin a match.
    frequent = len(old) * len(new) > _LONG
    for kind, _, _, start, end in SequenceMatcher(None, old, new, autojunk=frequent).get_opcodes():
        piece = escape("".join(new[start:end]))
        parts.append(f"<mark>{piece}</mark>" if kind in ("insert", "replace") and piece.strip() else piece)
    return _block("".join(parts), language, "")


def _block(content: str, language: str, extra: str) -> str:
    kinds = f"audit-text {extra}".strip()
    return f'<div class="{kinds}" lang="{escape(language)}" dir="auto" tabindex="0">{content}</div>'


def _valid(text: str) -> str:
    """Without halves of characters, which cannot be sent to a browser."""
    return text.encode("utf-8", "replace").decode("utf-8")
