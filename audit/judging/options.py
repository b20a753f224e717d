"""What a front end says about the words of a task, and of what a judge is asked."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from annotated_types import Ge

from audit.errors import AuditError
from audit.options import Options, Told, listed


def _words_of(value: Any) -> Any:
    """The words in a TOML file, where they may stand under [words]; a mapping as it is."""
    if not isinstance(value, str):
        return {} if value is None else value
    from audit.files import read_bytes, text_of, toml_of

    content = toml_of(value, text_of(value, read_bytes(value, 1_000_000)), "")
    return dict(content.get("words", content))


@dataclass(frozen=True, kw_only=True)
class WordsOptions(Options):
    """What annotators read about the task of a run."""

    words: Annotated[
        Mapping[str, Any],
        Told("question, guideline and label texts of the task, as [words] of a plan has them", "FILE.toml",
             read=_words_of, file=True),
    ] = field(default_factory=dict)  # fmt: skip
    change_words: Annotated[bool, Told("set these words although people have answered under other ones")] = False

    def content(self, tasks: Sequence[str]) -> Mapping[str, Any]:
        """Return the words for the one task that all these are, checked. Raises AuditError."""
        if self.words and len(set(tasks)) > 1:
            raise AuditError(f"words are of one task, and these corpora are for {', '.join(sorted(set(tasks)))}")
        if self.words:
            from audit.judging.words import words_content  # which loads pandas: a run has no use for it

            words_content(tasks[0], self.words)
        return self.words


@dataclass(frozen=True, kw_only=True)
class JudgeRequest(Options):
    """What a judge is asked: the questions of what was drawn, as people are asked."""

    variants: Annotated[
        Sequence[Literal["labels", "wording", "texts"]],
        Told("also with labels reversed, in other words (wording), or texts in the opposite order, to see how "
             "consistent it is", "labels,wording,texts", commas=True, read=listed),
    ] = ()  # fmt: skip
    everything: Annotated[bool, Told("all satisfied groups, too: a proxy for those that nobody judges")] = False
    max_calls: Annotated[int | None, Ge(1), Told("ask at most N questions now", "N")] = None
    allow_own: Annotated[bool, Told("also a judge that is a system under test; reports say so")] = False
    study: Annotated[int | None, Told("one study of the database (default: all)", "ID")] = None
