"""What pins are taken from: the one file of `tests/golden` that knows how audit is called, but for the keys pressed.

Who rewrites a report or a room changes its functions here, and no pin.
"""

import hashlib
import json
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from texts import Text, texts

import audit
from audit.errors import NotInstalled
from audit.exchange.export import export
from audit.exchange.replay import import_export
from audit.judging.accounts import add_account
from audit.judging.adjudications import adjudicate, disputes
from audit.judging.control_questions import KnownText, add_known
from audit.judging.judgements import flag, judge, skip, undo
from audit.judging.queue import next_question
from audit.judging.settings import change_settings
from audit.relations import Source
from audit.relations.base import Fixed
from audit.relations.registry import all_relations
from audit.runner.imported import import_run
from audit.store import open_store
from audit.tasks import Input, Output, get_task
from audit.text import Analysis

SHARED = Path(__file__).parents[3] / "shared" / "data"
DIGITS = 6
SENTIMENT = ("positive", "negative", "neutral")
Pinned = dict[str, Any]


class Absent(Exception):
    """What a pin needs and this machine has not: its test is skipped, for this reason."""


COUNTS = ("groups", "satisfied", "violated", "inapplicable", "errors", "judged", "false")
RATES = {
    "false_rate": ("fs_rate", ("value", "low", "high")),
    "genuine": ("sr_genuine", ("value", "low", "high")),
    "false_bounds": ("fs_rate", ("least", "most", "low", "high")),
    "genuine_bounds": ("sr_genuine", ("least", "most", "low", "high")),
}
"""Rates of a cell, their keys in a report's document, and what of these: a value or two bounds, and the ends."""


def figures(report: audit.Report) -> Pinned:
    """The numbers of a report by what they are of: each cell, the orders under each relation, and the decisions."""
    document: Any = report.document
    pinned: Pinned = {}
    for cell in document["cells"]:
        rates = {name: [cell[key][end] for end in ends] for name, (key, ends) in RATES.items()}
        rates = {"observed": [cell["sr_observed"]]} | rates
        known = {name: values for name, values in rates.items() if values[0] is not None}
        pinned[f"cell {cell['corpus']} {cell['relation']} {cell['system']}"] = {
            name: cell[name] for name in COUNTS
        } | known
    for relation in document["relations"]:
        before, after = relation["order_observed"], relation["order_genuine"]
        pinned[f"order {relation['corpus']} {relation['relation']}"] = {"before": before, "after": after}
    for decision in document["decisions"]:
        ends = ("value", "low", "high")
        scores = {
            entry["system"]: [entry["score_observed"], *(entry["score"][end] for end in ends)]
            for entry in decision["ranking"]
        }
        what = {name: decision[name] for name in ("state", "systems", "relations")}
        pinned[f"decision {decision['task']}"] = what | {"scores": scores}
    return rounded(pinned)


def rounded(value: Any) -> Any:
    """The same with all fractions to six digits."""
    if isinstance(value, float):
        return round(value, DIGITS) + 0.0  # no -0.0
    if isinstance(value, dict):
        return {key: rounded(item) for key, item in value.items()}
    return [rounded(item) for item in value] if isinstance(value, list | tuple) else value


# Worlds: each makes a study in an empty folder, and returns its report.


def demo(folder: Path, sentences: int = 300, documents: int = 40, per_relation: int = 25) -> Pinned:
    """What `audit demo` does, on fewer reviews: four systems, twenty relations, gold labels that answer."""
    systems, store = ("vader", "textblob", "hiv4", "tfidf-logreg"), folder / "demo.db"
    for corpus, limit in (("rotten-tomatoes", sentences), ("imdb", documents)):
        study = _run(corpus, systems, store=store, limit=limit)
    return figures(study.sample(per_relation).answer_with_gold().report())


def demo_whole(folder: Path) -> Pinned:
    """What `audit demo` does, with as many reviews."""
    return demo(folder, 2000, 200, 60)


def bounds(folder: Path) -> Pinned:
    """Gold alone, and relations that carry no answer to a follow-up: what is wrong is known, what is right is not."""
    lines = []
    for text in texts("en", 160):
        gold = SENTIMENT[_number(text.text) % 3]
        for relation in ("shout", "whisper"):
            for system, errors in (("careful", 20), ("quick", 35), ("rash", 50)):
                said = gold if _number(text.text, system) % 100 >= errors else SENTIMENT[_number(text.text, errors) % 3]
                then = said if _number(text.text, system, relation) % 6 else SENTIMENT[_number(text.text, relation) % 3]
                follow_up = f"{text.text} {relation.upper()}"
                line = {"relation": relation, "carries": "nothing", "system": system, "id": text.name, "gold": gold}
                line |= {"source": text.text, "follow_ups": [follow_up], "outputs": [said, then]}
                lines.append(json.dumps(line | {"verdict": "satisfied" if said == then else "violated"}))
    (folder / "bounds.jsonl").write_text("\n".join(lines), encoding="utf-8")
    return _imported(folder / "bounds.jsonl", folder)


def clusters(folder: Path) -> Pinned:
    """Sentences cut from documents, of which people judge a sample, and an adjudicator what they disagree on."""
    return figures(_clusters(folder).report())


def _clusters(folder: Path, documents: int = 90) -> audit.Study:
    rows = [
        (sentence, name)
        for name, text, other, document in texts("en", documents)
        for sentence in dict.fromkeys((text, other, document))
    ]
    relations = ["MR1.1", "MR1.3", "MR3.1", "MR4.1", "typos"]
    frame = pd.DataFrame(rows, columns=["text", "document"])
    study = _run(frame, ("vader", "textblob", "hiv4"), relations, folder)
    _answer(study.sample(30), SENTIMENT)
    return study


def translations(folder: Path) -> Pinned:
    """Recorded translations of three services: round trips and pivots, each output judged by people."""
    recorded = _shared("mcmt")
    systems = [f"recorded:{recorded}#{name}" for name in ("google", "bing", "youdao")]
    study = _run(f"recorded:{recorded}", systems, ["RTT", "MCMT"], folder, limit=700)
    right, *wrong = get_task("translation").labels
    _answer(study.sample(share=1.0), [right] * 2 * len(wrong) + wrong)
    return figures(study.report())


def llmbar(folder: Path) -> Pinned:
    """Recorded choices of six language models, asked in both orders; experts' labels answer."""
    return _imported(_shared("llmbar") / "groups.jsonl", folder)


def _imported(groups: Path, folder: Path) -> Pinned:
    store = str(folder / "imported.db")
    import_run(open_store(store, create=True), groups)
    return figures(audit.open(store).sample(share=1.0).answer_with_gold().report())


def _run(corpus: Any, systems: Sequence[str], relations: Any = None, folder: Path | None = None, **more: Any) -> Any:
    store = more.pop("store", None) or Path(str(folder)) / "study.db"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of relations that make no group here, of recordings' odd rows
        return audit.run(corpus, systems, relations, store=store, progress=False, **more)


def _answer(study: audit.Study, labels: Sequence[str]) -> None:
    """Let two people answer all, of whom each errs in one of eight, and an adjudicator settle what they dispute."""
    for _ in range(6):  # an answer may open questions
        asked = study.questions()
        if asked.empty:
            return
        said = [
            {
                name: labels[_number(person * (_number(key, person) % 8 == 0), *key) % len(labels)]
                for person, name in enumerate(("anna", "ben"), 1)
            }
            for key in asked[["text", "output"]].fillna("").itertuples(index=False, name=None)
        ]
        votes = [asked.assign(annotator=name, label=[pair[name] for pair in said]) for name in ("anna", "ben")]
        study.answer(pd.concat(votes))
        disputed = asked.assign(label=[pair["anna"] for pair in said], annotator="ada", reason="Anna is right.")
        disputed = disputed[[pair["anna"] != pair["ben"] for pair in said]]
        if not disputed.empty:
            study.answer(disputed, role="adjudicator")


def _number(*key: object) -> int:
    return int.from_bytes(hashlib.sha256(repr(key).encode()).digest()[:6])


def _shared(name: str) -> Path:
    if not (SHARED / name).exists():
        raise Absent(f"../shared/data/{name} is not here")
    return SHARED / name


WORLDS: dict[str, Callable[[Path], Pinned]] = {
    world.__name__: world for world in (demo, bounds, clusters, translations, llmbar, demo_whole)
}
SLOW = ("demo", "demo_whole", "translations")


def relations_of(language: str) -> dict[str, Any]:
    """The relations of a language by task and name."""
    return {f"{relation.task} {relation.name}": relation for relation in all_relations() if relation.speaks(language)}


def version_of(relation: Any, language: str) -> str:
    """A relation's version, with those of the tools that it asks. Raises Absent where one is not installed."""
    try:
        if reason := relation.lacks(language):
            raise Absent(reason)
        return str(relation.full_version)
    except NotInstalled as problem:
        raise Absent(str(problem)) from None


def sources_of(task: str, language: str, number: int) -> dict[str, Source]:
    """Sources of a task by name, made from texts; each text is analysed once, for all tasks."""
    return {text.name: _source(task, language, text) for text in texts(language, number)}


_ANALYSES: dict[tuple[str, str], Analysis] = {}


def _source(task: str, language: str, text: Text) -> Source:
    target = {"en": "zh", "zh": "en"}[language] if task == "translation" else None
    # Every third text of a task over single ones is a document.
    single = text.document if task == "summarization" or _number(text.name) % 3 == 0 else text.text
    single = text.text if target else single
    parts = (single,) if target or task in ("summarization", "sentiment", "classification") else text[1:3]
    parts = (single, *text[1:3]) if task.startswith("preference") else parts
    analyses = [_ANALYSES.setdefault((language, part), Analysis(part, language)) for part in parts]
    source = Source(Input.of(*parts, language=language, target=target), analyses[0], f"0 {text.name}")
    source.__dict__["analyses"] = tuple(analyses)
    return source


Group = tuple[list[tuple[str, str]], str]
"""The roles and texts of the members behind the source, and the verdict."""


def groups_of(relation: Any, sources: Sequence[Source]) -> list[Group | None]:
    """What a relation makes of each source, with its verdict on a toy's outputs; None: no group.

    Raises Absent where a tool is not installed that the relation needs.
    """
    try:
        if getattr(type(relation), "make_groups", Fixed.make_groups) is Fixed.make_groups:
            return [_walked(relation, source) for source in sources]
        made = relation.make_groups(sources)  # it asks another program, and takes seconds for each question
        return [_fixed(relation, source, *group) for source, group in zip(sources, made, strict=True)]
    except NotInstalled as problem:
        raise Absent(str(problem)) from None


def _fixed(relation: Fixed, source: Source, follow_ups: list[Input], note: Any) -> Group | None:
    if not follow_ups:
        return None
    outputs = [_toy(relation.task, item) for item in (source.input, *follow_ups)]
    return [("follow_up", _written(item)) for item in follow_ups], relation.verdict(outputs, note).outcome.name.lower()


def _walked(relation: Any, source: Source) -> Group | None:
    members: list[tuple[str, str]] = []
    try:
        steps = relation.steps(source)
        asked = next(steps)
        while True:
            members += [(member.role, _written(member.input)) for member in asked]
            asked = steps.send([_toy(relation.task, member.input) for member in asked])
    except StopIteration as stop:
        return None if stop.value is None else (members[1:], stop.value.outcome.name.lower())


def _written(item: Input) -> str:
    return " ‖ ".join(filter(None, [*item.texts, item.target]))


def _toy(task: str, item: Input) -> Output:
    """What a toy says of an input: a label, a score and a text that hang on its texts alone."""
    number, words = _number(item.texts, item.target), item.texts[-1].split()
    if task == "translation":
        return Output(text=" ".join(words[number % 3 == 0 :]) or item.text)
    if task in ("summarization", "question-answering"):
        return Output(text=" ".join(words[: 2 + number % 4]))
    name = "classification/film,news,other" if task == "classification" else task
    return Output(get_task(name).labels[number % len(get_task(name).labels)], score=number % 1000 / 1000)


def exported_rows(folder: Path) -> Pinned:
    """The tables of a small judged study after export, import, and export again: a hash of each column, and of times,
    which differ from run to run, their number. Raises AssertionError where the second export has other rows."""
    study = _clusters(folder, 24).sample(60)
    _press_keys(study.engine)
    export(study.engine, folder / "first")
    import_export(folder / "first", str(folder / "again.db"))
    export(open_store(str(folder / "again.db")), folder / "second")
    first, second = (_tables(folder / name) for name in ("first", "second"))
    assert first == second, "rows are other ones after export and import"
    return {table: _columns(rows) for table, rows in sorted(first.items())}


def _press_keys(engine: Any) -> None:
    """Answers, a skip, a flag, an undo, an adjudication and control questions, so that their tables have rows."""
    roles = {"cy": "annotator", "dee": "annotator", "mia": "manager"}
    ids = {name: add_account(engine, name, role, "long enough").id for name, role in roles.items()}
    add_known(engine, "gold", [KnownText(Input.of("A dull book."), ("negative",))], by=ids["mia"])
    change_settings(engine, ids["mia"], {"repeat_share": 0.1})
    for name in ("cy", "dee"):
        for number in range(8):
            shown = next_question(engine, ids[name])
            assert shown is not None
            if number == 2:
                skip(engine, ids[name], shown.id)
            elif number == 4:
                flag(engine, ids[name], shown.id, "Which one is meant?")
            else:
                judge(engine, ids[name], shown.id, shown.labels[_number(name, shown.texts) % len(shown.labels)])
        undo(engine, ids[name])
    for id in disputes(engine, ids["mia"])[:2]:
        adjudicate(engine, ids["mia"], id, ["neutral"], "Neither is right.")


def _tables(folder: Path) -> dict[str, list[dict[str, Any]]]:
    return {
        path.stem: [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        for path in (folder / "tables").glob("*.jsonl")
    }


def _columns(rows: list[dict[str, Any]]) -> Pinned:
    hashes = {}
    for name in rows[0] if rows else ():
        values = [row[name] for row in rows]
        times = name.endswith("_at") or name == "at"
        hashes[name] = f"{sum(value is not None for value in values)} times" if times else digest(values)
    return {"rows": len(rows)} | hashes


def digest(value: Any, length: int = 8) -> str:
    """So many hexadecimal digits of a hash of something as JSON has it."""
    return hashlib.sha256(json.dumps(value, ensure_ascii=False, sort_keys=True).encode()).hexdigest()[:length]
