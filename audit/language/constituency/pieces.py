"""What of a text a parser is given at once, and how a treebank would write its words."""

from __future__ import annotations

import re
from collections.abc import Sequence

from audit.language.penn_signs import BRACKETS
from audit.language.sentences import spans
from audit.language.tagging import TAGGERS, tag
from audit.language.text import Token

_OPENING, _CLOSING = frozenset('"“‘«「『'), frozenset('"”»」』')
_NAMED = {sign: name for name, sign in BRACKETS.items()}
# An article that lost its vowel is a word of its own in the treebanks of Romance languages: l'homme.
_WORD = re.compile(r"[^\W\d_]{1,3}['’](?=\w)|\w+(?:[-.,]\w+)*|[^\w\s]")


def sentences_of(text: str, language: str) -> list[list[Token]]:
    """The words of each sentence, by the language's tagger; without tags where it has none.

    >>> [[token.text for token in one] for one in sentences_of("L'homme dort. Il rêve.", "fr")]
    [["L'", 'homme', 'dort', '.'], ['Il', 'rêve', '.']]
    """
    if language in TAGGERS:
        tokens = tag(text, language)
    else:
        tokens = tuple(Token(found.group(), "_", *found.span()) for found in _WORD.finditer(text))
    found = [[token for token in tokens if start <= token.start < end] for start, end in spans(text, language)]
    return [some for some in found if some]


def clauses_of(text: str) -> list[list[Token]]:
    """The words of each clause of a Chinese text; a mark stands alone.

    >>> [[token.text for token in one] for one in clauses_of("我来，他走。")]
    [['我', '来'], ['，'], ['他', '走'], ['。']]
    """
    found: list[list[Token]] = [[]]
    for token in tag(text, "zh"):
        if any(one.isalnum() for one in token.text):
            found[-1].append(token)
        else:
            found += [[token], []]
    return [piece for piece in found if piece]


def is_mark(piece: Sequence[Token]) -> bool:
    """Whether a piece is one mark."""
    return len(piece) == 1 and not any(one.isalnum() for one in piece[0].text)


def written(tokens: Sequence[Token], language: str) -> list[str]:
    """The words as treebanks write them: brackets and quotation marks by their names in Penn's, Chinese in simplified
    characters.

    >>> written(sentences_of('He said "(yes)".', "en")[0], "en")
    ['He', 'said', '``', '-LRB-', 'yes', '-RRB-', "''", '.']
    """
    if language == "zh":
        from audit.language.chinese_characters import simplified

        return [simplified(token.text) for token in tokens]
    words = []
    opened = False
    for token in tokens:
        word = _NAMED.get(token.text, token.text).replace("’", "'")
        if token.text in _OPENING | _CLOSING:
            opened = token.text in _OPENING and not (token.text in _CLOSING and opened)
            word = "``" if opened else "''"
        words.append(word)
    return words
