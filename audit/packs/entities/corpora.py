"""Texts with gold spans in the formats of others: columns after CoNLL, and Label Studio's JSON. Spans as offsets in
JSONL or CSV are a gold label as any: `--columns gold=spans`."""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from audit.corpora.files import AS_IT_IS, Faults, FileCorpus
from audit.errors import BadFile
from audit.files import read_lines, refuse_no_file
from audit.tasks.entities import WORDS, Span, read_spans, write_spans

if TYPE_CHECKING:
    import pandas as pd

_Row = tuple[int, str, str]
"""Line, text, and gold spans."""


class Conll(FileCorpus):
    """The corpus `conll:FILE`: a token a line, its tag in the last column (B-PER, I-PER, O; also IO and BIOES), blank
    lines between sentences. Tokens are joined with spaces where English has them, and without in Chinese.

    Its task is `entities`, or that of a scheme; without one a file whose kinds are none of ours has its own.
    """

    def __init__(self, path: str, language: str | None = None, task: str | None = None):
        refuse_no_file(path)
        self.path, self._content = Path(path), None
        self.name = self.path.name
        self._rows = list(self._read())
        kinds = sorted({span.kind.casefold() for *_, gold in self._rows for span in read_spans(gold) or ()})
        own = kinds and not any(WORDS.get(kind) for kind in kinds)
        self._fill(task if task and "/" in task else f"entities/{','.join(kinds)}" if own else "entities",
                   None, language, AS_IT_IS)  # fmt: skip

    def _read(self) -> Iterator[_Row]:
        tokens: list[tuple[str, str]] = []
        for line, content in enumerate([*read_lines(self.path), ""], 1):
            columns = content.split()
            if columns and not content.startswith(("-DOCSTART-", "# ")):
                if len(columns) < 2:
                    what = f"{self.path}, line {line}: {content.strip()!r:.40} has no tag"
                    raise BadFile(f"{what}; write a token, blanks, and its tag, as in: Paris B-LOC")
                tokens.append((columns[0], columns[-1]))
            elif tokens:
                yield line - len(tokens), *_joined(tokens)
                tokens = []

    def _pieces(self, bad: Faults) -> "Iterator[pd.DataFrame]":
        import pandas as pd

        lines, texts, golds = zip(*self._rows, strict=True)
        yield pd.DataFrame({"text": texts, "gold": golds}, index=list(lines))


def _joined(tokens: Sequence[tuple[str, str]]) -> tuple[str, str]:
    """Return the text of tokens, and its spans.

    >>> _joined([("Ann", "B-PER"), ("Lee", "I-PER"), ("'s", "O"), ("Paris", "B-LOC"), (".", "O")])
    ("Ann Lee's Paris.", '0-7 PER; 10-15 LOC')
    """
    text, spans, before = "", list[Span](), "O"
    open_quote = False
    for token, tag in tokens:
        bare = re.fullmatch(r"[.,;:!?%)\]}。，、]+|['’]\w+|n['’]t", token) or (token == '"' and open_quote)
        tight = not text or bare or text[-1] in "([{" or (text[-1] == '"' and open_quote and token != '"')
        chinese = text and re.match(r"[\u3000-\u9fff]", token) and re.match(r"[\u3000-\u9fff]", text[-1])
        text += "" if tight or chinese else " "
        open_quote ^= token == '"'
        prefix, _, kind = tag.rpartition("-") if re.match(r"[BIESLU]-", tag) else ("I", "", tag)
        goes_on = prefix in ("I", "E", "L") and spans and before == kind
        if tag not in ("O", "_"):
            start = spans.pop().start if goes_on else len(text)
            spans.append(Span(start, len(text) + len(token), kind))
        before = "O" if tag in ("O", "_") else kind
        text += token
    return text, write_spans(spans)


class LabelStudio(Conll):
    """The corpus `label-studio:FILE.json`: Label Studio's export (JSON), whose first annotation that was not cancelled
    is gold; a task without one has none."""

    def _read(self) -> Iterator[_Row]:
        try:
            tasks = json.loads("".join(read_lines(self.path)))
            for number, task in enumerate(tasks, 1):
                of = next((of for of in task.get("annotations", []) if not of.get("was_cancelled")), None)
                results = [part["value"] for part in of["result"] if part["type"] == "labels"] if of else []
                yield number, str(task["data"]["text"]), "" if of is None else write_spans(_spans(results))
        except (ValueError, KeyError, TypeError, AttributeError) as problem:
            what = f"{self.path} is no export of Label Studio with spans ({type(problem).__name__}: {problem})"
            raise BadFile(f"{what}; export the format JSON, with a Labels tag on a text called text") from None


def _spans(results: Iterable[dict[str, object]]) -> tuple[Span, ...]:
    written = "+".join(json.dumps({name: result[name] for name in ("start", "end", "labels")}) for result in results)
    return read_spans(written) or ()
