"""Scores of translations against a user's reference translations. A reference is a proxy, never gold."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pandas as pd

from audit.errors import AuditError, BadFile, NotInstalled
from audit.files import read_table, read_text, refuse_bad_rows
from audit.keys import fingerprint
from audit.language.text_similarity import meteor, reference_bleu, word_error_rate

MEASURES = ("bleu", "meteor", "wer")
"""Of reference and output; all grow with quality: `wer` stands for 1 - WER, as in the tables of the MGMT study."""
NOTE = (
    "A reference is a proxy, never gold: a translation may be right and unlike it, or wrong and near to it. "
    "wer is 1 - WER, so that more is better in every column."
)
NO_SYNONYMS = "METEOR was made without synonyms: only the same words and the same stems count."
_NEEDED = ("source", "reference", "target_language")


@dataclass(frozen=True)
class References:
    """References of a file, by (source text, target language); `repeated` counts rows that add nothing."""

    name: str
    texts: Mapping[tuple[str, str], tuple[str, ...]]
    repeated: int
    synonyms: bool = True
    """Whether METEOR asks WordNet for English synonyms."""

    @property
    def signature(self) -> dict[str, str]:
        """Names the file and what was made of it, for signatures."""
        return {"references": self.name, "sha": self.sha} | ({} if self.synonyms else {"meteor": "exact and stem"})

    @cached_property
    def sha(self) -> str:
        """Names the content, for signatures."""
        return fingerprint("\t".join((*key, *found)) for key, found in sorted(self.texts.items()))


def read_references(path: str | Path, *, synonyms: bool = True) -> References:
    """Read a UTF-8 CSV with the columns source, reference and target_language; others are ignored.

    A text may have several references. Raises BadFile where the file is missing, empty or lacks a column, BadRow (or
    BadFile, for several) where a field is empty.
    """
    header, rows = read_table(path, read_text(path), f"needed are the columns {', '.join(_NEEDED)}")
    lacking = [name for name in _NEEDED if name not in header]
    if lacking:
        raise BadFile(f"{path}: column(s) {', '.join(lacking)} missing; needed are {', '.join(_NEEDED)}")
    texts: dict[tuple[str, str], list[str]] = {}
    bad, repeated = [], 0
    for line, fields in rows:
        if len(fields) != len(header):
            bad.append((line, f"{len(fields)} fields where the header has {len(header)}"))
            continue
        row = dict(zip(header, fields, strict=True))
        empty = next((name for name in _NEEDED if not row[name]), None)
        if empty:
            bad.append((line, f"column {empty} is empty"))
            continue
        found = texts.setdefault((row["source"], row["target_language"]), [])
        repeated += row["reference"] in found
        found += [row["reference"]] if row["reference"] not in found else []
    refuse_bad_rows(path, bad, len(rows))
    return References(Path(path).name, {key: tuple(found) for key, found in texts.items()}, repeated, synonyms)


def reference_scores(outputs: pd.DataFrame, references: References) -> tuple[pd.DataFrame, list[str]]:
    """(the rows of `outputs` that have a reference, with the columns `MEASURES`; notes on what could not be had).

    `outputs` has the columns text (of the source), target and output. The best of several references counts, for each
    measure. METEOR into English needs WordNet: it is NaN without it, and a note says so; another note where the
    references are without synonyms. Raises AuditError where no row has a reference.
    """
    known = [references.texts.get((text.strip(), target)) for text, target in outputs[["text", "target"]].to_numpy()]
    chosen = outputs[[found is not None for found in known]].copy()
    if chosen.empty:
        raise AuditError(
            f"{references.name} has no reference for any of the {len(outputs):,} outputs of this study; source and "
            "target_language must be as the corpus has them"
        )
    some = [found for found in known if found is not None]
    notes = [] if references.synonyms else [NO_SYNONYMS]
    made: dict[tuple[str, ...], tuple[float, float, float]] = {}
    scores = []
    for said, output, target in zip(some, chosen["output"], chosen["target"], strict=True):
        key = (target, output, *said)  # systems often say the same
        if key not in made:
            made[key] = (
                max(reference_bleu(one, output, target) for one in said),
                _meteor(said, output, target, references.synonyms, notes),
                max(1 - word_error_rate(one, output, target) for one in said),
            )
        scores.append(made[key])
    chosen[list(MEASURES)] = scores
    return chosen, notes


def _meteor(said: Sequence[str], output: str, target: str, synonyms: bool, notes: list[str]) -> float:
    try:
        return max(meteor(one, output, target, synonyms=synonyms) for one in said)
    except NotInstalled as problem:
        note = f"{problem} (--no-synonyms)"
        if note not in notes:
            notes.append(note)
        return math.nan
