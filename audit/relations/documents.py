"""What the relations on documents share: their sentences as inputs, and sentences put together anew."""

from collections.abc import Sequence

from audit.language import Analysis
from audit.relations.base import Source
from audit.tasks import Input

_WIDE = frozenset("。！？…”’」』）》】—")
"""Marks of Chinese that a sentence ends with; after those of the West, the next sentence needs a space."""


def rearranged(text: Analysis, order: Sequence[int]) -> str:
    """The document with only these sentences, in this order.

    The white space between sentences keeps its place when all sentences stay, so that paragraphs stay paragraphs;
    where some go, what stood before each remaining sentence goes with it. A sentence that ended its document without
    a mark gets a full stop when another one follows it. Chinese sentences need no space between them, and are left as
    they are where the one that followed still follows.

    >>> rearranged(Analysis("One. Two.\\n\\nThree"), [2, 0, 1])
    'Three. One.\\n\\nTwo.'
    >>> rearranged(Analysis("One. Two. Three."), [0, 2])
    'One. Three.'
    >>> rearranged(Analysis("甲走。乙来。丙在", "zh"), [2, 0, 1])
    '丙在。甲走。乙来。'
    """
    chinese = text.language == "zh"
    gaps = _gaps(text)
    parts: list[str] = []
    for place, index in enumerate(order):
        start, end = text.spans[index]
        follows = chinese and place > 0 and order[place - 1] == index - 1
        if place:
            gap = gaps[place] if len(order) == len(text.spans) else gaps[index]
            if not follows and parts[-1][-1].isalnum():
                parts.append("。" if chinese else ".")
            parts.append(gap or ("" if follows or parts[-1][-1] in _WIDE else " "))
        parts.append(text.text[start:end])
    return "".join(parts)


def _gaps(text: Analysis) -> list[str]:
    """What stands before each sentence; nothing where one follows the other at once."""
    edges = [0, *(end for _, end in text.spans)]
    return [text.text[edges[index] : start] for index, (start, _) in enumerate(text.spans)]


def sentence_inputs(source: Source) -> list[Input]:
    """One input per sentence of the source, in order."""
    return [Input.of(sentence.text, language=source.analysis.language) for sentence in source.analysis.sentences]
