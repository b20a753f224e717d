"""Judging: the sample, gold, known answers, labels from elsewhere, answers that go stale, quality."""

import math
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any, Literal

from audit.cli.console import Reply, checking_too
from audit.cli.options import (
    DATABASE,
    JUDGE,
    NONE,
    START,
    Answers,
    Database,
    Names,
    Study,
    Task,
    chosen,
    command,
    flag,
    group,
    language_code,
    listed,
    numbered,
    open_database,
    place,
    settings_of,
    text,
    whole_number,
)
from audit.errors import AuditError
from audit.messages import counted
from audit.sampling.options import FRONT, SampleOptions

if TYPE_CHECKING:
    from audit.false_satisfaction.rounds import Asked
    from audit.judging.labels import Imported


@command(
    "sample",
    START,
    "ask the next round of questions",
    "audit sample",
    "audit sample --base 60 --decide none",
    "audit sample --decide MR1.1 --eps 0.01",
    "audit sample --share 0.01 --decide none",
)
def sample(
    db: Database = DATABASE,
    options: SampleOptions = FRONT,
    give_up: Annotated[
        bool, flag("--give-up", "let the rounds count with what is open in them: rates have bounds then")
    ] = False,
    study: Study = None,
) -> Reply:
    """Asks the next round of questions. The first rounds ask about the beginning of each relation's and system's list;
    then each asks about texts that can tell systems apart, until one is best or within --eps of the best. A round is
    asked when all before it are answered. What was asked stays.
    """
    from audit.false_satisfaction.questions import queue_length
    from audit.judging.samples import ask_next, give_up_rounds

    engine = open_database(db)
    if give_up:
        if study is None:
            raise AuditError("say with --study of which study the rounds are given up")
        number = give_up_rounds(engine, study)
        return Reply({"given_up": number}, [f"{counted(number, 'round')} given up.", f"Next: audit report --db {db}"])
    asked = ask_next(engine, options, study)
    waiting, behind = queue_length(engine)
    lines = [line for one in asked for line in _round_lines(one)]
    unfinished = [one.study for one in asked if one.unfinished]
    if unfinished:
        lines.append(
            f"The run of study {', '.join(map(str, unfinished))} is not finished: repeat `audit run`, then this."
        )
    lines.append(f"{waiting:,} questions wait for an answer.{checking_too(behind)}")
    lines.append(f"Next: audit {'app' if waiting else 'report'} --db {db}")
    return Reply({"waiting": waiting, "audits": behind, "studies": [one.as_json() for one in asked]}, lines)


def _round_lines(asked: "Asked") -> list[str]:
    """What a round asks, and how far its decisions are."""
    name = f"Study {asked.study}"
    if asked.waiting:
        lines = [f"{name}: {counted(asked.waiting, 'text')} of the rounds before still wait, so nothing new is asked."]
    elif asked.rounds:
        rounds = "round" if len(asked.rounds) == 1 else "rounds"
        numbers = " to ".join(map(str, sorted({asked.rounds[0], asked.rounds[-1]})))
        lines = [f"{name}, {rounds} {numbers}: {counted(asked.texts, 'new text')}, {asked.asked:,} in all."]
    else:
        lines = [f"{name}: nothing is left to ask; {counted(asked.asked, 'text')} were asked."]
    if asked.contests:
        ends = {
            "best": "one system is best on these texts",
            "within": "the best are within eps",
            "all asked": "all texts were asked",
        }
        how = [f"{of}: {ends[one.ended]}" for of, one in zip(asked.names, asked.contests, strict=True) if one.ended]
        lines.append(f"{asked.decided} of {counted(len(asked.contests), 'decision')} made. {'; '.join(how)}".rstrip())
    return lines


@command("gold", JUDGE, "answer questions with the gold labels of the corpora", "audit gold --db mine.db")
def gold(db: Database = DATABASE, study: Study = None) -> Reply:
    """Lets the gold labels of the corpora answer the questions about their texts, under the name `gold`, apart from
    people, whose answers go before. A text with different gold labels in different rows is `contradictory`: gold says
    nothing about it.
    """
    from audit.false_satisfaction.questions import queue_length
    from audit.judging.labels import answer_with_gold

    engine = open_database(db)
    gold = answer_with_gold(engine, study)
    waiting, audits = queue_length(engine)
    lines = [f"Gold answers {gold.answered:,} of {gold.questions:,} questions ({gold.added:,} new)."]
    if gold.contradictory:
        lines.append(f"{gold.contradictory:,} texts have different gold labels in different rows; people must answer.")
    if gold.pairs:
        lines.append(
            f"{gold.pairs:,} questions ask whether an output is right for a text with a gold label; that label says "
            "nothing about an output, so people must answer."
        )
    lines.append(f"{waiting:,} questions wait for people.{checking_too(audits)}")
    lines.append(f"Next: audit report --db {db}")
    return Reply(asdict(gold) | {"waiting": waiting, "audits": audits}, lines)


@command(
    "import-labels",
    JUDGE,
    "labels from elsewhere (tables, Label Studio and others) as annotators' votes",
    "audit import-labels crowd.csv --annotator crowd --map good=positive,bad=negative",
    "audit import-labels decided.csv --as adjudicator --annotator ada",
    "audit import-labels project-7.json --columns text=review,label=sentiment",
)
def import_labels(
    file: Annotated[str, place("FILE", "a CSV, TSV, JSONL, JSON, Excel or Parquet file")],
    db: Database = DATABASE,
    annotator: Annotated[
        str | None, text("who gave the labels, where the file names nobody or a single annotator", "NAME")
    ] = None,
    renamed: Annotated[
        Names,
        listed(
            "what the file's labels are called here; letters' case does not count",
            "good=positive,bad=negative",
            "--map",
        ),
    ] = NONE,
    task: Task = None,
    language: Annotated[str, language_code("of the texts, where the file has no such column", "CODE")] = "en",
    role: Annotated[
        Literal["annotator", "adjudicator"], chosen("votes of annotators, or decisions of adjudicators", None, "--as")
    ] = "annotator",
    columns: Annotated[
        Names,
        listed(
            "of a file with other names: ours=theirs; label=A+B are several columns, one an annotator", "ours=theirs"
        ),
    ] = NONE,
    study: Study = None,
) -> Reply:
    """Brings labels that people gave elsewhere, each annotator as one of their own who cannot log in. A file has the
    columns `label`, and `text` (of a pair `text_b`, too) or `row`, `output` where people judge outputs, and perhaps
    `annotator`, `language` and, of decisions, `reason`. A decision goes before all votes on its question.
    """
    from audit.false_satisfaction.questions import queue_length
    from audit.judging.adjudications import open_disputes
    from audit.judging.labels import import_labels, read_labels, renamed_labels

    renames = renamed_labels(renamed)
    labels = read_labels(file, settings_of("--columns", columns))
    engine = open_database(db)
    imported = import_labels(
        engine, labels, annotator=annotator, renamed=renames, task=task, language=language, study=study, role=role
    )
    waiting, _ = queue_length(engine)
    with engine.connect() as connection:
        disputes = open_disputes(connection)
    lines = [*_imported_lines(imported), f"{waiting:,} questions wait for an answer."]
    lines.append(f"Next: audit {'app' if disputes else 'report'} --db {db}")
    return Reply(asdict(imported) | {"waiting": waiting}, lines)


def _imported_lines(imported: "Imported") -> list[str]:
    lines = [
        f"{counted(imported.labels, 'label')} by {counted(len(imported.annotators), 'annotator')}: "
        f"{imported.added:,} new, {imported.changed:,} changed, {imported.known:,} known before, "
        f"{imported.repeated:,} repeated; {imported.opened:,} questions were made for them."
    ]
    lines += [
        f"{n:,} not used: {reason} (first: {imported.first[reason]})." for reason, n in imported.unmatched.items()
    ]
    lines += [f"{n:,} without a label: {reason}." for reason, n in imported.without.items()]
    if imported.too_few:
        lines.append(
            f"{counted(imported.too_few, 'question')} answered by fewer people than are asked (audit sample "
            "--annotators): those labels count once others have answered, too."
        )
    if imported.disputed:
        lines.append(
            f"On {counted(imported.disputed, 'question')} people disagree: an adjudicator decides, in the app."
        )
    return lines


@command(
    "progress",
    JUDGE,
    "how far the judging is: questions, pace, cells, people",
    "audit progress",
    "audit progress --db mine.db --answers people --json",
)
def progress(db: Database = DATABASE, study: Study = None, answers: Answers = "both") -> Reply:
    """How far the judging is, as the app's dashboard has it: questions and judgements, the pace, every cell that was
    drawn from, and people. Questions and people are those of the whole database; `--study` and `--answers` are
    about cells.
    """
    from audit.judging.activity import overview
    from audit.reports.evidence import evidence
    from audit.reports.progress import cells_at_work, progress_document, progress_sections
    from audit.reports.study import cells_of_report
    from audit.reports.tables import printed

    engine = open_database(db)
    present = evidence(engine, answers, study)
    cells = cells_at_work(cells_of_report(present))
    document = progress_document(overview(engine), cells)
    return Reply(document, printed(progress_sections))


group(
    "known",
    JUDGE,
    "questions with known answers: for training, and hidden ones",
    "Control questions, whose right answers are known: for training, or hidden among the others to measure those who "
    "judge (docs/how-to/quality.md). They settle nothing, and a question that still waits for answers cannot be one.",
)


@command(
    "known add",
    JUDGE,
    "make texts of a file, or settled questions, known",
    "audit known add training.csv --purpose training --db mine.db",
    'audit known add --questions 17,19 --purpose training --explanation "Irony: the writer means the opposite."',
)
def known_add(
    purpose: Annotated[
        str, text("training (answered before judging, with feedback) or gold (hidden among the others)", "NAME")
    ],
    file: Annotated[str | None, place("FILE", "the CSV")] = None,
    questions: Annotated[Names | None, numbered("settled questions of the database instead", "1,2")] = None,
    explanation: Annotated[str, text("of --questions: what people read after they answered in training", "TEXT")] = "",
    task: Annotated[str, text("of the file", "NAME")] = "sentiment",
    language: Annotated[str, language_code("of rows without one", "CODE")] = "en",
    db: Database = DATABASE,
) -> Reply:
    """Makes the texts of a UTF-8 CSV known, with the columns `text`, `answer` (several with `|` between them) and
    perhaps `language` and `explanation`, and `text_b` where a task compares two texts; or, with `--questions`,
    questions of the database that are settled, by the answer that settles them.
    """
    from audit.judging.control_questions import add_known, add_settled_questions, read_known

    if (file is None) == (questions is None):
        raise AuditError("name a file of texts, or questions of the database with --questions; one of the two")
    engine = open_database(db)
    if questions is not None:
        added = add_settled_questions(engine, purpose, questions, explanation)
    else:
        items = read_known(str(file), task, language)
        added = add_known(engine, purpose, items, task=task)
    lines = [f"{added.added:,} questions became known, {added.changed:,} that were known changed.", _next(purpose, db)]
    return Reply({"purpose": purpose, "added": added.added, "changed": added.changed}, lines)


@command(
    "known pick",
    JUDGE,
    "make questions known that cost no sample anything, evenly by label",
    "audit known pick --purpose gold --count 40 --db mine.db",
)
def known_pick(
    purpose: Annotated[str, text("training or gold", "NAME")],
    count: Annotated[int, whole_number("how many at most", "N")] = 20,
    seed: Annotated[int, whole_number("which of a label are taken", "S")] = 0,
    db: Database = DATABASE,
) -> Reply:
    """Makes questions known that cost no sample anything: texts of sources with a gold label, and questions that an
    adjudicator settled, of which no drawn group has any part; as many of each label as there are. `candidates` is
    how many there were.
    """
    from audit.judging.control_questions import pick_known

    picked = pick_known(open_database(db), purpose, count, seed)
    by_label = ", ".join(f"{number:,} {label}" for label, number in (picked.labels or {}).items())
    lines = [f"{picked.added:,} of {picked.candidates:,} questions outside all samples became known: {by_label}."]
    if picked.added < count:
        lines.append(f"{count:,} were asked for; there are no more.")
    return Reply({"purpose": purpose, **asdict(picked)}, [*lines, _next(purpose, db)])


def _next(purpose: str, db: str) -> str:
    name = "pass_mark=0.8" if purpose == "training" else "gold_share=0.05"
    return f"Next, where it is not done: audit settings --set {name} --db {db}"


@command(
    "settings",
    JUDGE,
    "how judging goes: pass mark, shares of hidden questions, speed",
    "audit settings --set pass_mark=0.8 --set gold_share=0.05 --set repeat_share=0.05 --db mine.db",
)
def settings(
    changes: Annotated[list[str], text("change one; may be given several times", "NAME=VALUE", "--set")] = NONE,
    db: Database = DATABASE,
) -> Reply:
    """How judging goes in a database; without `--set` it shows the settings. Each change is in the log."""
    from audit.judging.settings import CHOICES, change_settings, settings_of

    values: dict[str, Any] = {}
    for change in changes:
        name, equals, value = change.partition("=")
        if not equals:
            raise AuditError(f"--set {change!r}: must be NAME=VALUE, for example pass_mark=0.8")
        name, value = name.strip(), value.strip()
        values[name] = value if name in CHOICES else _number(name, value)
    engine = open_database(db)
    if values:
        present = change_settings(engine, None, values)
    else:
        with engine.connect() as connection:
            present = settings_of(connection)
    document = asdict(present)
    return Reply(document, [f"{name} = {value}" for name, value in document.items()])


def _number(name: str, text: str) -> float | int:
    from audit.files import parse_json

    try:
        value = parse_json(text)
    except ValueError:
        value = None
    if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value):
        raise AuditError(f"--set {name}={text[:40]}: the value must be a number, for example 0.1")
    return value
