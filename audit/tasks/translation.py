"""Translation: a text in one language becomes a text in another.

People are asked about a text and a translation of it together, once for each: there are many right translations.
Answers are grades of accuracy and fluency on a short scale, and the major errors by type, after the error types and
severities of Multidimensional Quality Metrics (Lommel, Uszkoreit, Burchardt, "Multidimensional Quality Metrics (MQM): a
framework for declaring and describing translation quality metrics", Tradumatica 12, 2014). A reference translation
against a threshold is a proxy, never gold.
"""

from collections.abc import Set
from typing import Literal

from audit.errors import BadOutput
from audit.tasks.base import Output

ACCEPTABLE = frozenset({"accurate", "not_fluent", "minor_error"})
"""Answers that make a translation right: whoever reads it learns what the text says."""


class Translation:
    """The task `translation`: an input has a text, its language and the language to translate into
    (`Input.of(text, language="en", target="es")`); the output is a text.

    An output may be absent, where the system does not have the pair of languages or nobody recorded it.

    >>> Translation().is_wrong(Output(text="Llueve."), {"mistranslated"})
    True
    >>> Translation().is_wrong(Output(text="Llueve."), {"accurate", "minor_error"})
    False
    """

    name = "translation"
    labels: tuple[str, ...] = (
        "accurate",
        "not_fluent",
        "minor_error",
        "mistranslated",
        "omitted_or_added",
        "untranslated",
        "unreadable",
    )
    """Accurate and fluent; accurate in clumsy language; a small error that misleads nobody; then the major errors: it
    says something else; something of weight is missing or put in; words of weight are left in the source's language;
    it cannot be understood."""
    question_kind: Literal["input", "pair"] = "pair"
    texts = 1
    question = "Is this translation right: does it say what the text says?"

    def checked(self, output: Output) -> Output:
        if output.absent:
            return output
        if output.text is None or not output.text.strip():
            raise BadOutput("the translation is empty; a translation is a text")
        return Output(text=output.text.strip(), score=output.score)

    def is_wrong(self, output: Output, allowed: Set[str]) -> bool:
        return not allowed & ACCEPTABLE
