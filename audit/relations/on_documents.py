"""Sentence relations on documents: some of a document's sentences are perturbed, the rest stays."""

import random
from dataclasses import dataclass, replace

from audit.errors import AuditError
from audit.language import Analysis
from audit.relations.base import Perturb, Plain


def on_documents(relation: Plain, share: float = 1.0) -> Plain:
    """The same relation for documents: same task, name, family, check and carry; its unit is "document".

    Of the sentences that the perturbation applies to, the share (0 < share <= 1, rounded to a whole number, at least
    one) is drawn at random and perturbed. What stands between sentences stays. No group where it applies to none.

    Raises AuditError for another share, for a relation that is one on documents already, and, when a source is
    perturbed, for a relation that makes several follow-ups of one sentence (which of them would belong together?).

    >>> from audit.relations import get_relation
    >>> on_documents(get_relation("sentiment", "MR4.3")).unit
    'document'
    """
    if not 0 < share <= 1:
        raise AuditError(f"share {share!r} of relation {relation.name!r} must be above 0 and at most 1")
    if relation.unit != "sentence":
        raise AuditError(f"relation {relation.name!r} works on documents already; use it as it is")
    return replace(
        relation,
        unit="document",
        perturb=_Spread(relation.name, relation.perturb, share),
        params={**relation.params, "on": "documents", "share": share},
    )


@dataclass(frozen=True, slots=True)
class _Spread:
    """A sentence perturbation, spread over a document. A class, not a closure: workers are sent it by pickle."""

    name: str
    perturb: Perturb
    share: float

    def __call__(self, text: Analysis, choices: random.Random) -> str | None:
        made: dict[int, str] = {}
        for index, sentence in enumerate(text.sentences):
            new = self.perturb(sentence, choices)
            if new is None or new == sentence.text:
                continue
            if not isinstance(new, str):
                raise AuditError(
                    f"relation {self.name!r} makes several follow-ups of one sentence, so it cannot be used on "
                    "documents; run it on sentences"
                )
            made[index] = new
        if not made:
            return None
        wanted = max(1, round(self.share * len(made)))
        chosen = choices.sample(sorted(made), wanted)
        return text.replace_sentences({index: made[index] for index in chosen})
