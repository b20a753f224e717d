"""Judging: rounds of questions, gold, labels and known answers from elsewhere, judges that are models, validity."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Annotated, Any, Literal

from audit.cli.console import Reply
from audit.cli.options import (
    DATABASE,
    JUDGE,
    START,
    Answers,
    Columns,
    Database,
    Read,
    Study,
    Task,
    command,
    group,
    open_database,
    settings_of,
)
from audit.cli.running import waiting_of
from audit.errors import AuditError
from audit.messages import counted
from audit.options import Told
from audit.sampling.options import FRONT, SampleOptions

Purpose = Annotated[
    str, Told("training (answered before judging, with feedback) or gold (hidden among the others)", "NAME")
]
OwnFile = Annotated[Read, Told("a CSV, TSV, JSONL, JSON, Excel or Parquet file", "FILE", argument=True)]


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
    give_up: Annotated[bool, Told("let the rounds count with what is open in them: rates have bounds then")] = False,
    study: Study = None,
) -> Reply:
    """Asks the next round of questions. The first rounds ask about the beginning of each relation's and system's list;
    then each asks about texts that can tell systems apart, until one is best or within --eps of the best. A round is
    asked when all before it are answered. What was asked stays.
    """
    from audit.judging.samples import ask_next, give_up_rounds

    engine = open_database(db)
    if give_up:
        if study is None:
            raise AuditError("say with --study of which study the rounds are given up")
        return Reply({"given_up": give_up_rounds(engine, study)}, None, ("report", "--db", db))
    asked = ask_next(engine, options, study)
    waiting, sentence = waiting_of(engine)
    lines = [line for one in asked for line in _round_lines(one)]
    after = "app" if waiting["waiting"] else "report"
    return Reply(waiting | {"studies": [one.as_json() for one in asked]}, [*lines, sentence], (after, "--db", db))


def _round_lines(asked: Any) -> list[str]:
    """Say what a round asks, and how far its decisions are."""
    name = f"Study {asked.study}"
    if asked.unfinished:
        name += " (whose run is not finished: repeat `audit run`, then this)"
    if asked.waiting:
        return [f"{name}: {counted(asked.waiting, 'text')} of the rounds before still wait, so nothing new is asked."]
    if not asked.rounds:
        lines = [f"{name}: nothing is left to ask; {counted(asked.asked, 'text')} were asked."]
    else:
        rounds = " to ".join(map(str, sorted({asked.rounds[0], asked.rounds[-1]})))
        lines = [f"{name}, round {rounds}: {counted(asked.texts, 'new text')}, {asked.asked:,} in all."]
    if asked.contests:
        ends = {"best": "one system is best", "within": "the best are within eps", "all asked": "all texts were asked"}
        how = [f"{of}: {ends[one.ended]}" for of, one in zip(asked.names, asked.contests, strict=True) if one.ended]
        lines.append(f"{asked.decided} of {counted(len(asked.contests), 'decision')} made. {'; '.join(how)}".rstrip())
    return lines


@command("gold", JUDGE, "answer questions with the gold labels of the corpora", "audit gold --db mine.db")
def gold(db: Database = DATABASE, study: Study = None) -> Reply:
    """Lets the gold labels of the corpora answer the questions about their texts, under the name `gold`, apart from
    people, whose answers go before. A text with different gold labels in different rows is `contradictory`: gold says
    nothing about it, nor about whether an output is right, so people must answer.
    """
    from audit.judging.labels import answer_with_gold

    engine = open_database(db)
    gold = answer_with_gold(engine, study)
    waiting, sentence = waiting_of(engine)
    lines = [f"Gold answers {gold.answered:,} of {gold.questions:,} questions ({gold.added:,} new)."]
    if gold.contradictory:
        lines.append(f"It says nothing about {counted(gold.contradictory, 'contradictory text')}.")
    return Reply(asdict(gold) | waiting, [*lines, sentence], ("report", "--db", db))


@command(
    "import-labels",
    JUDGE,
    "labels from elsewhere (tables, Label Studio) as votes",
    "audit import-labels crowd.csv --annotator crowd --map good=positive,bad=negative",
    "audit import-labels decided.csv --as adjudicator --annotator ada",
    "audit import-labels project-7.json --columns text=review,label=sentiment",
)
def import_labels(
    file: OwnFile,
    db: Database = DATABASE,
    annotator: Annotated[str | None, Told("who gave the labels, where the file names nobody", "NAME")] = None,
    renamed: Annotated[
        Sequence[str],
        Told("what the file's labels are called here; letters' case does not count", "good=positive,bad=negative",
             "--map", commas=True),
    ] = (),
    task: Task = None,
    language: Annotated[str, Told("of the texts, where the file has no such column", "CODE")] = "en",
    role: Annotated[
        Literal["annotator", "adjudicator"],
        Told("votes of annotators, or decisions of adjudicators", spelled="--as"),
    ] = "annotator",
    columns: Columns = (),
) -> Reply:  # fmt: skip
    """Brings labels that people gave elsewhere, each annotator as one of their own who cannot log in. A file has the
    columns `label`, and `text` (of a pair `text_b`, too), `output` where people judge outputs, and perhaps
    `annotator`, `language` and, of decisions, `reason`. A decision goes before all votes on its question. Labels of
    questions that fewer people answered than are asked (`too_few`) count once others have answered, too.
    """
    from audit.judging.adjudications import open_disputes
    from audit.judging.labels import import_labels, read_labels

    renames = settings_of("--map", renamed)
    labels = read_labels(file, settings_of("--columns", columns))
    engine = open_database(db)
    imported = import_labels(
        engine, labels, annotator=annotator, renamed=renames, task=task, language=language, role=role
    )
    with engine.connect() as connection:
        disputes = open_disputes(connection)
    document = asdict(imported) | {"waiting": waiting_of(engine)[0]["waiting"]}
    return Reply(document, None, ("app" if disputes else "report", "--db", db))


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
    cells = cells_at_work(cells_of_report(evidence(engine, answers, study)))
    return Reply(progress_document(overview(engine), cells), printed(progress_sections))


# Control questions.

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
    "make texts of a file known",
    "audit known add training.csv --purpose training --db mine.db",
)
def known_add(
    purpose: Purpose,
    file: Annotated[Read, Told("the CSV", "FILE", argument=True)],
    task: Annotated[str, Told("of the file", "NAME")] = "sentiment",
    language: Annotated[str, Told("of rows without one", "CODE")] = "en",
    db: Database = DATABASE,
) -> Reply:
    """Makes the texts of a UTF-8 CSV known, with the columns `text`, `answer` (several with `|` between them) and
    perhaps `language` and `explanation`, and `text_b` where a task compares two texts.
    """
    from audit.judging.control_questions import add_known, read_known

    added = add_known(open_database(db), purpose, read_known(str(file), task, language), task=task)
    return Reply({"purpose": purpose, "added": added.added, "changed": added.changed}, None, _settings(purpose, db))


@command(
    "known pick",
    JUDGE,
    "make questions known that cost no sample anything, evenly by label",
    "audit known pick --purpose gold --count 40 --db mine.db",
)
def known_pick(
    purpose: Purpose,
    count: Annotated[int, Told("how many at most", "N")] = 20,
    seed: Annotated[int, Told("which of a label are taken", "S")] = 0,
    db: Database = DATABASE,
) -> Reply:
    """Makes questions known that cost no sample anything: texts of sources with a gold label, and questions that an
    adjudicator settled, of which no drawn group has any part; as many of each label as there are. `candidates` is
    how many there were.
    """
    from audit.judging.control_questions import pick_known

    picked = pick_known(open_database(db), purpose, count, seed)
    return Reply({"purpose": purpose, **picked._asdict()}, None, _settings(purpose, db))


def _settings(purpose: str, db: str) -> tuple[str, ...]:
    change = "pass_mark=0.8" if purpose == "training" else "gold_share=0.05"
    return ("settings", "--set", change, "--db", db)


@command(
    "settings",
    JUDGE,
    "how judging goes: pass mark, hidden questions, speed",
    "audit settings --set pass_mark=0.8 --set gold_share=0.05 --set repeat_share=0.05 --db mine.db",
)
def settings(
    changes: Annotated[list[str], Told("change one; may be given several times", "NAME=VALUE", "--set")] = [],  # noqa: B006
    db: Database = DATABASE,
) -> Reply:
    """How judging goes in a database; without `--set` it shows the settings. Each change is in the log."""
    from audit.files import parse_json
    from audit.judging.settings import change_settings, settings_of

    values: dict[str, Any] = {}
    for change in changes:
        name, _, value = (part.strip() for part in change.partition("="))
        try:
            values[name] = parse_json(value)
        except ValueError:
            raise AuditError(f"--set {change!r}: must be NAME=NUMBER, for example pass_mark=0.8") from None
    engine = open_database(db)
    if values:
        present = change_settings(engine, None, values)
    else:
        with engine.connect() as connection:
            present = settings_of(connection)
    document = asdict(present)
    return Reply(document, [f"{name} = {value}" for name, value in document.items()])


# Judges that are models.

group(
    "judge",
    JUDGE,
    "models that judge: ask them, and measure them against people",
    "Models (or functions) that answer the questions that people answer, under names of their own "
    "(docs/reference/judges.md). Their answers are never votes: they are measured against those of people, and are "
    "proxies that let people judge less (audit report --proxy judge:NAME).",
)


@command(
    "judge ask",
    JUDGE,
    "ask a judge what people are asked",
    "audit judge ask --with mine:judge",
    "audit judge ask --with chat:referee.toml --variants labels,wording,texts",
    "audit judge ask --with chat:referee.toml --everything --max-calls 5000",
)
def judge_ask(
    spec: Annotated[
        str, Told("chat:FILE.toml, or module:name of a function of a question that returns a label", "SPEC", "--with")
    ],
    db: Database = DATABASE,
    name: Annotated[str | None, Told("what the judge is called here (default: what it calls itself)", "NAME")] = None,
    variants: Annotated[
        Sequence[str],
        Told("ask in other ways, too, to see how consistent it is: labels (reversed), wording (other words), texts "
             "(in the opposite order)", "labels,wording,texts", commas=True),
    ] = (),
    everything: Annotated[
        bool, Told("all satisfied groups, too, so that it is a proxy for those that nobody judges")
    ] = False,
    max_calls: Annotated[int | None, Told("ask at most N questions now", "N")] = None,
    allow_own: Annotated[
        bool, Told("also a judge that is a system under test; it is said wherever it is shown")
    ] = False,
    study: Study = None,
) -> Reply:  # fmt: skip
    """Asks a judge the questions of what was drawn, open or answered, and stores what it says under its own name, apart
    from people. A refusal, or what cannot be read as an answer, is a stored error. Repeating the command asks what is
    left, and again what ended in an error.
    """
    from tqdm import tqdm

    from audit.judging.judges import JudgeRequest, ask_judge, variants_named
    from audit.systems.judge import load_judge

    request = JudgeRequest(variants_named(variants), everything, study, max_calls, allow_own)
    engine = open_database(db)
    judge = load_judge(spec, name)
    with tqdm(desc=judge.name, unit="question", total=0, mininterval=0.5) as bar:

        def watch(done: int, total: int) -> None:
            bar.total = total
            bar.update(done - bar.n)

        asked = ask_judge(engine, judge, request, watch)
    return Reply(asdict(asked) | {"own": list(asked.own)}, None, ("judge", "agreement", "--db", db))


@command(
    "judge agreement",
    JUDGE,
    "how far judges agree with people, with gold, with themselves",
    "audit judge agreement --db mine.db",
    "audit judge agreement --judge referee --json",
)
def judge_agreement(
    judge: Annotated[str | None, Told("only this one: NAME, NAME@VERSION or #NUMBER (default: all)", "NAME")] = None,
    db: Database = DATABASE,
) -> Reply:
    """How each judge does against the settled answers of people, and of gold, kept apart: accuracy, kappa, sensitivity
    and specificity of each label, which labels it takes for which, and how often it answers the same when it is asked
    in another way, with 95 % intervals.
    """
    from audit.reports.judges import judges_report, judges_sections
    from audit.reports.tables import printed

    return Reply(judges_report(open_database(db), judge), printed(judges_sections))


# The validity study.

group(
    "validity",
    JUDGE,
    "people say whether follow-ups are sound",
    "The validity study (docs/reference/validity.md): people rate sources and follow-ups, mixed and blind, from 1 "
    "to 5 for plausibility and grammaticality, and say of groups whether their relation holds. The report says which "
    "relations make texts that nobody would write, or expect what is wrong, and what violations are then worth.",
)


@command(
    "validity draw",
    JUDGE,
    "draw pairs of each relation whose texts people rate",
    "audit validity draw --db mine.db",
    "audit validity draw --per-relation 40 --relations MR1.1,MR2.1 --ask both --first",
)
def validity_draw(
    db: Database = DATABASE,
    per_relation: Annotated[int, Told("pairs of a source and a follow-up of each relation", "N")] = 25,
    relations: Annotated[
        Sequence[str], Told("of these relations alone (default: all)", "MR1.1,MR2.1", commas=True)
    ] = (),
    annotators: Annotated[int, Told("how many people answer each question", "N")] = 3,
    seed: Annotated[int | None, Told("of the order of sources (default: the study's)", "S")] = None,
    ask: Annotated[
        Literal["texts", "groups", "both"],
        Told("rate the texts, say of the groups whether the relation holds there, or both"),
    ] = "texts",
    first: Annotated[bool, Told("ask before all other questions; else ratings come after them")] = False,
    study: Study = None,
) -> Reply:
    """Draws pairs of each relation at random, from all of its groups that some system satisfies or violates, and asks
    people to rate their texts, or whether the relation holds there. Drawing more later keeps what was drawn. A relation
    without enough pairs gives all that there are.
    """
    from audit.judging.samples import draw_validity
    from audit.sampling.validity import ValidityRequest

    request = ValidityRequest(per_relation, tuple(relations), annotators, seed, first, ask)
    drawn = [asdict(part) for part in draw_validity(open_database(db), request, study)]
    document = {
        "pairs": sum(part["pairs"] for part in drawn),
        "added": sum(part["added"] for part in drawn),
        "without_pairs": [name for name in relations if name not in {part["relation"] for part in drawn}],
        "relations": drawn,
    }
    return Reply(document, None, ("app", "--db", db))


@command("validity end", JUDGE, "ask for no more ratings", "audit validity end --db mine.db")
def validity_end(db: Database = DATABASE, study: Study = None) -> Reply:
    """Takes the texts that wait for ratings out of the queue. Ratings stay; drawing again goes on."""
    from audit.judging.samples import end_validity

    return Reply({"ended": end_validity(open_database(db), study)})


@command(
    "validity report",
    JUDGE,
    "how plausible and grammatical follow-ups are, by relation",
    "audit validity report --db mine.db",
    "audit validity report --json",
)
def validity_report(
    db: Database = DATABASE,
    study: Study = None,
) -> Reply:
    """Mean ratings of originals and follow-ups by relation, the difference and the share of valid follow-ups with 95 %
    intervals, what violations are worth, and how far raters agree (docs/reference/validity.md).
    """
    from audit.reports.tables import printed
    from audit.reports.validity import validity_report, validity_sections

    return Reply(validity_report(open_database(db), study), printed(validity_sections))
