"""What people are asked about a group: one plain question for each relation, made of what it checks and expects.

An annotator needs no word of metamorphic testing: "Is the opinion the same in texts A and B?" is *yes* where the
relation holds. A relation may bring its own question (`Relation.question`); relations of audit whose check says too
little have theirs in `data/messages` (`[asking_of.TASK]`)."""

from collections.abc import Mapping, Sequence
from string import ascii_uppercase
from typing import Any

from audit.messages import ENGLISH, catalogue, phrase
from audit.relations import expect
from audit.relations.base import Chained, Relation
from audit.relations.registry import find_relation
from audit.tasks import OwnWords, Wording, base_of, get_task, wording
from audit.tasks.words import NO_WORDS

_CODES: dict[Any, str] = {
    expect.equivalent: "",
    expect.same_interval: "",
    expect.same_label: "",
    expect.same_text: "asking.summary_replaced",
    expect.stronger: "asking.stronger",
    expect.goes_up: "asking.up",
    expect.goes_down: "asking.down",
}  # Check -> its question; empty: that of the task


def group_question(
    task: str,
    relation: str,
    follow_ups: int = 1,
    language: str = ENGLISH,
    *,
    summary: str = "",
    own: OwnWords = NO_WORDS,
) -> str:
    """Return the question about a group of this relation, in a language of the app: yes where the relation holds.

    Source and follow-ups are called A, B, C (`letter`). `own` are a database's words of the task, whose question is
    then the one whose answers are compared. Of a relation whose expectation is unknown, imported or with a check of its
    own, it is asked whether what its `summary` (else its name) says can be expected."""
    registered = find_relation(task, relation)
    brought = (
        {}
        if registered is None
        else {ENGLISH: registered.question}
        if isinstance(registered.question, str)
        else registered.question
    )
    if question := brought.get(language) or brought.get(ENGLISH, ""):
        return question
    letters = [letter(place) for place in range(max(1, follow_ups) + 1)]
    named = {
        "names": _listed(letters, language),
        "first": letters[0],
        "others": _listed(letters[1:], language),
        "count": len(letters) - 1,
    }
    code = f"asking_of.{base_of(task)}.{relation}"
    if code in catalogue(language):
        return phrase(language, code, **named)
    derived = "" if registered is None else _derived(task, _bare_check(registered), named, language, own)
    return derived or phrase(language, "asking.fits", expected=summary or relation)


def letter(place: int) -> str:
    """Return what the source (0) and the follow-ups of a group are called: A, B, and behind Z A1."""
    number, place = divmod(place, len(ascii_uppercase))
    return ascii_uppercase[place] + (str(number) if number else "")


def text_names(roles: Sequence[str], texts: int = 1, language: str = ENGLISH) -> list[str]:
    """Return what the texts of a group are called above them, by their roles in order: by letters, and those that a
    system made on the way (links) by what they are. `texts` is how many texts an input has."""
    code, names, place = "group.text" if texts == 1 else "group.pair", [], 0
    for role in roles:
        names.append(phrase(language, "group.link") if role == "link" else phrase(language, code, letter=letter(place)))
        place += role != "link"
    return names


def _listed(parts: Sequence[str], language: str, code: str = "asking.and") -> str:
    """Return parts in one phrase: "A, B and C"."""
    if len(parts) == 1:
        return parts[0]
    return phrase(language, code, first=phrase(language, "list.comma").join(parts[:-1]), second=parts[-1])


def _bare_check(relation: Relation) -> Any:
    """Return the check of a relation without what stands around it; None where it does not say what it expects."""
    check: Any = relation.expects if isinstance(relation, Chained) else getattr(relation, "check", None)
    while (inner := getattr(check, "composes_as", None) or getattr(check, "check", None)) is not None:
        check = inner
    return check


def _derived(task: str, check: Any, named: Mapping[str, Any], language: str, own: OwnWords) -> str:
    """Return the question that follows from a check; empty where none does."""
    words = wording(task, language, own)
    # An answer about an output says nothing that could be compared between two inputs.
    asks_otherwise = get_task(task).question_kind == "input" and any(
        table.question or table.labels for table in own.wordings.values()
    )
    parameters = {**named, "question": words.question.rstrip("?？ ")}
    if isinstance(check, expect.Mapped):
        return _mapped(task, check, words, parameters, language)
    if isinstance(check, expect.Labelled):
        return phrase(language, "asking.labelled", label=words.labels.get(check.label, check.label), **parameters)
    if check is expect.different:
        code = "asking.opinion_other" if base_of(task) == "sentiment" and not asks_otherwise else "asking.right_other"
        return phrase(language, code, **parameters)
    codes = [""] * isinstance(check, expect.SimilarText) + [
        _CODES[code_check] for code_check in _CODES if code_check is check
    ]
    if not codes:
        return ""
    is_pair = get_task(task).question_kind == "pair"
    usual = "asking.opinion" if base_of(task) == "sentiment" else "asking.right_output" if is_pair else "asking.right"
    return phrase(language, codes[0] or ("asking.right" if asks_otherwise else usual), **parameters)


def _mapped(task: str, check: expect.Mapped, words: Wording, parameters: Mapping[str, Any], language: str) -> str:
    """Return the question whether the right answer goes from one label to others; of several labels as a list."""

    def quoted(labels: Sequence[str]) -> str:
        return _listed([f"“{words.labels.get(label, label)}”" for label in labels], language, "asking.or")

    steps = []
    for label, allowed in check.labels:
        any_other = len(allowed) > 1 and set(get_task(task).labels) - {label} == set(allowed)
        steps.append((quoted([label]), phrase(language, "asking.another") if any_other else quoted(allowed)))
    if len(steps) == 1:
        return phrase(language, "asking.leads", label=steps[0][0], allowed=steps[0][1], **parameters)
    each = [phrase(language, "asking.step", label=label, allowed=allowed) for label, allowed in steps]
    return phrase(language, "asking.leads_each", steps=phrase(language, "list.semicolon").join(each), **parameters)
