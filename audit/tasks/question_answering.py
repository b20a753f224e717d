"""Question answering: a context and a question become a short answer, or the word that the context has none.

There are many right answers to a question, so people are asked about each answer beside its context and question: an
output is right when they say so.
"""

import re
import string
from collections.abc import Set
from typing import Literal

from audit.errors import BadOutput
from audit.tasks.base import Output

UNANSWERABLE = "unanswerable"
"""The text of an output that says that the context does not answer the question."""
_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
_MARKS = str.maketrans("", "", string.punctuation + "，。！？；：“”‘’（）《》、")


def normalised(answer: str) -> str:
    """An answer without capitals, punctuation, English articles and doubled spaces: those that are equal then are the
    same answer.

    Source: Rajpurkar, Zhang, Lopyrev, Liang, "SQuAD: 100,000+ questions for machine comprehension of text" (EMNLP
    2016), section 6.1, and its evaluation script.

    >>> normalised("The  Eiffel Tower.") == normalised("eiffel tower")
    True
    """
    return " ".join(_ARTICLES.sub(" ", answer.casefold().translate(_MARKS)).split())


class QuestionAnswering:
    """The task `question-answering`: an input is a context and a question, the output a text, and each answer of people
    says whether it is right.

    >>> QuestionAnswering().checked(Output(text=" Paris. ")).text, QuestionAnswering().checked(Output(text="")).text
    ('Paris.', 'unanswerable')
    >>> QuestionAnswering().is_wrong(Output(text="Paris"), {"wrong"})
    True
    """

    name = "question-answering"
    labels: tuple[str, ...] = ("right", "wrong")
    question_kind: Literal["input", "pair"] = "pair"
    texts = 2
    text_names = ("context", "question")
    question = "Is this the right answer to the question, going by the text alone?"

    def checked(self, output: Output) -> Output:
        if output.text is None and output.label != UNANSWERABLE:
            raise BadOutput(f"the answer is missing; an answer is a text, or {UNANSWERABLE!r}")
        text = (output.text or "").strip()
        return Output(text=text if normalised(text) not in ("", UNANSWERABLE) else UNANSWERABLE, score=output.score)

    def is_wrong(self, output: Output, allowed: Set[str]) -> bool:
        return "right" not in allowed
