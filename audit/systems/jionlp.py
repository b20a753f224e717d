"""Sentences chosen by TF-IDF, topics and place, from the package jionlp."""

import sys
from collections.abc import Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from io import StringIO
from typing import Any

from audit.errors import BadOutput
from audit.systems.installed import missing, package_version
from audit.systems.summaries import summarized
from audit.tasks import Input, Output


class JioNlp:
    """The system `jionlp-summary`: `jionlp.summary.extract_summary` with the settings that the package has by default.

    Sentences are weighed by TF-IDF and by how much their words belong to few of 100 topics; the first three weigh 1.2
    times as much, what an earlier one has said weighs less. The best are joined in the order of the text while they
    have no more than `length` characters together. A text that is no longer is its own summary. The package cleans a
    longer one first: tags, addresses and repeated characters go.

    Loading it takes half a minute and 2 GB at its peak.
    """

    name = "jionlp-summary"
    tasks: tuple[str, ...] = ("summarization",)
    languages: tuple[str, ...] = ("zh",)
    summary = "sentences of up to 200 characters by TF-IDF, topics and place (jionlp)"

    def __init__(self, length: int = 200, first: float = 1.2, topics: float = 0.2):
        self.version = f"{package_version('jionlp')} jiojio {package_version('jiojio')}"
        self.settings: Mapping[str, object] = {"summary_length": length, "lead_3_weight": first, "topic_theta": topics}

    def needs(self) -> str | None:
        return missing("jionlp", 'pip install "audit[chinese]"')

    def prepare(self) -> None:
        _extractor()

    def run(self, inputs: Sequence[Input]) -> list[Output]:
        return summarized(inputs, self._chosen)

    def _chosen(self, text: str) -> str:
        extract, said = _extractor(), StringIO()
        with redirect_stderr(said):
            found = extract(text, **self.settings)
        if text.strip() and not found.strip():
            # The package catches whatever it raises, says so on stderr and returns an empty text.
            raise BadOutput(f"jionlp made no summary: {' '.join(said.getvalue().split()) or 'it says nothing'}")
        return found


@cache
def _extractor() -> Any:
    """The package's object, loaded. Importing it prints what it is, and where else one may find its authors."""
    print("loading jionlp-summary, about half a minute", file=sys.stderr, flush=True)
    with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
        import jionlp

        jionlp.summary.extract_summary("准备。" * 100)
    return jionlp.summary.extract_summary
