"""What the relations on documents share: their sentences as inputs, and sentences put together anew."""

from collections.abc import Sequence

from audit.language import Analysis
from audit.relations.base import Source
from audit.tasks import Input


def rearranged(text: Analysis, order: Sequence[int]) -> str:
    """The document with only these sentences, in this order.

    The white space between sentences keeps its place when all sentences stay, so that paragraphs stay paragraphs;
    where some go, what stood before each remaining sentence goes with it. A sentence that ended its document without
    a mark gets a full stop when another one follows it.

    >>> rearranged(Analysis("One. Two.\\n\\nThree"), [2, 0, 1])
    'Three. One.\\n\\nTwo.'
    >>> rearranged(Analysis("One. Two. Three."), [0, 2])
    'One. Three.'
    """
    gaps = _gaps(text)
    parts: list[str] = []
    for place, index in enumerate(order):
        start, end = text.spans[index]
        if place:
            parts.append(gaps[place] if len(order) == len(text.spans) else gaps[index])
        sentence = text.text[start:end]
        parts.append(sentence if place == len(order) - 1 or not sentence[-1].isalnum() else sentence + ".")
    return "".join(parts)


def _gaps(text: Analysis) -> list[str]:
    """What stands before each sentence: one space or line break at least."""
    edges = [0, *(end for _, end in text.spans)]
    return [text.text[edges[index] : start] or " " for index, (start, _) in enumerate(text.spans)]


def sentence_inputs(source: Source) -> list[Input]:
    """One input per sentence of the source, in order."""
    return [Input.of(sentence.text, language=source.analysis.language) for sentence in source.analysis.sentences]
