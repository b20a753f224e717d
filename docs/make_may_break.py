"""Write docs/reference/may-break.md from the docstrings of our perturbations: python docs/make_may_break.py"""

from pathlib import Path

from audit.relations import Relation, all_relations
from audit.tasks import TASKS

PAGE = Path(__file__).parent / "reference" / "may-break.md"
HEAD = """# What perturbations keep, and what they may break

Written by `docs/make_may_break.py` from the docstrings of the perturbations. `audit relations NAME` says the same of
one, and the form of a plan in the app of those that are chosen there.

No change of a text is free. What a perturbation **keeps** is why its task expects what it expects, and why truth is
carried where it is (by task: [English](relations.md#perturbations-of-every-task),
[Chinese](chinese.md#perturbations)). What it **may break** is what to have in mind when you choose it: labels about
register, spelling or source ask for other perturbations than labels about topics. Groups where a rule can see the
damage are not made; the rest is for people: [how follow-ups read](../evidence/english-followups.md),
[how real they look](../evidence/validity-study.md)."""
LANGUAGES = {"en": "English", "zh": "Chinese"}


def tables(language: str) -> list[str]:
    """One table of each family, its relations by name; what differs by task stands in rows of its own."""
    families: dict[str, dict[tuple[str, str, str], list[Relation]]] = {}
    for relation in all_relations():
        if relation.may_break and relation.languages == (language,):
            said = (relation.name, relation.keeps, relation.may_break)
            families.setdefault(relation.family, {}).setdefault(said, []).append(relation)
    blocks = []
    for family, by_words in sorted(families.items()):
        names = [name for name, *_ in by_words]
        rows = [
            f"| {_named(name, relations, names.count(name) > 1)} | {keeps} | {may_break} |"
            for (name, keeps, may_break), relations in sorted(by_words.items())
        ]
        title = f"### {family[0].upper()}{family[1:]}" + (f" ({LANGUAGES[language]})" if language != "en" else "")
        blocks.append("\n".join([title, "", "| relation | keeps | may break |", "|---|---|---|", *rows]))
    return blocks


def _named(name: str, relations: list[Relation], divided: bool) -> str:
    """The name, with the tasks where others of the name have words of their own; not where these are most tasks."""
    tasks = [relation.task for relation in relations]
    return f"{name}, of {' and '.join(tasks)}" if divided and len(tasks) < len(TASKS) / 2 else name


def page() -> str:
    """The whole page."""
    blocks = [HEAD]
    for code, language in LANGUAGES.items():
        blocks += [f"## {language}", *tables(code)]
    return "\n\n".join(blocks) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
