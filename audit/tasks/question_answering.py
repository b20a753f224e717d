"""Answers to questions: a short text, or the word that the context has none."""

import re
import string

from audit.errors import BadOutput
from audit.tasks.base import Output

UNANSWERABLE = "unanswerable"  # The text of an output that says that the context does not answer the question
_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
_MARKS = str.maketrans("", "", string.punctuation + "，。！？；：“”‘’（）《》、")


def normalised(answer: str) -> str:
    """Return an answer without capitals, punctuation, English articles and doubled spaces, by which it is compared.
    Source: Rajpurkar, Zhang, Lopyrev, Liang, "SQuAD" (EMNLP 2016), section 6.1, and its evaluation script.

    >>> normalised("The  Eiffel Tower.") == normalised("eiffel tower")
    True
    """
    return " ".join(_ARTICLES.sub(" ", answer.casefold().translate(_MARKS)).split())


def read_answer(output: Output) -> Output:
    """Return the answer, `UNANSWERABLE` for an empty one. Raises BadOutput where there is none at all."""
    if output.text is None and output.label != UNANSWERABLE:
        raise BadOutput(f"the answer is missing; an answer is a text, or {UNANSWERABLE!r}")
    text = (output.text or "").strip()
    return Output(text=text if normalised(text) not in ("", UNANSWERABLE) else UNANSWERABLE, score=output.score)
