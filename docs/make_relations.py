"""Write docs/reference/relation-list.md from the relations that are registered: python docs/make_relations.py"""

from collections.abc import Iterable
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Any

from audit.keys import canonical
from audit.relations import all_relations
from audit.tasks import get_task

PAGE = Path(__file__).parent / "reference" / "relation-list.md"
HEAD = """# All relations

Written by `docs/make_relations.py` from the relations that come with audit; `audit relations NAME` says the same.
Background: [English](relations.md), [Chinese](chinese.md), [translation](translation-relations.md).

*Carries* says which answers about a source are known to be right for its follow-ups. With `everything`, nobody is
asked about a follow-up. `--set RELATION.NAME=VALUE` changes a parameter.

Tasks of perturbations: **c**lassification, **i**nference, **q**uestion answering, s**e**ntiment, si**m**ilarity,
**s**ummarization, **n**amed entities; of **j**udges: preference, with **t**ies, **p**oints. For a task in brackets
nothing is carried, so people are always asked about the follow-up.
"""
LETTERS = {
    "classification": "c",
    "inference": "i",
    "question-answering": "q",
    "sentiment": "e",
    "similarity": "m",
    "summarization": "s",
    "preference": "j",
    "preference-tie": "t",
    "points": "p",
    "entities": "n",
}
LANGUAGES = {"en": "English", "zh": "Chinese", "*": "Any language"}


def carries(relation: Any) -> str:
    """What the relation carries, in a word."""
    return str(relation.carry.reach(get_task(relation.task).labels))


def parameters(relation: Any) -> str:
    """The parameters with their defaults."""
    return ", ".join(f"`{name}={canonical(value)}`" for name, value in relation.params.items())


def table(*columns: str, rows: Iterable[Iterable[str]]) -> str:
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", r"\|") for cell in line) + " |" for line in lines)


def of_one_task(relations: list[Any]) -> str:
    """The relations of a published study: each belongs to one task."""
    rows = ((one.name, one.family, one.summary, carries(one), parameters(one)) for one in relations)
    return table("relation", "family", "what it does and expects", "carries", "parameters", rows=rows)


def of_many_tasks(relations: list[Any]) -> str:
    """Perturbations: one row for a name, with the tasks that it is for."""
    by_name = attrgetter("name")
    rows = []
    for name, group in groupby(sorted(relations, key=by_name), by_name):
        uses = list(group)
        letters = (LETTERS[one.task] if carries(one) != "nothing" else f"({LETTERS[one.task]})" for one in uses)
        does = uses[0].summary.split(";")[0]
        rows.append((name, uses[0].family, does, " ".join(letters), uses[0].keeps, uses[0].may_break))
    return table("relation", "family", "what it does", "tasks", "keeps", "may break", rows=rows)


def page() -> str:
    known = [one for one in all_relations() if one.family != "own"]
    parts = [HEAD]
    for language, title in LANGUAGES.items():
        spoken = [one for one in known if language in one.languages]
        single = [one for one in spoken if not one.keeps]
        for task, group in groupby(single, attrgetter("task")):
            parts += [f"## {title}: {task}", of_one_task(list(group))]
        if several := [one for one in spoken if one.keeps]:
            parts += [f"## {title}: perturbations of several tasks", of_many_tasks(several)]
    return "\n\n".join(part.strip() for part in parts) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
