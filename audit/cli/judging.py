"""Judging: rounds of questions, gold, labels and known answers from elsewhere, judges that are models, validity."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Annotated, Any, Literal

from audit.cli.console import Reply
from audit.cli.options import DATABASE, JUDGE, START, Columns, Database, Read, Study, Task, command, group
from audit.cli.running import waiting_of
from audit.errors import AuditError
from audit.judging.options import JudgeRequest
from audit.messages import counted
from audit.options import Told
from audit.runner.options import pairs_of
from audit.sampling.options import FRONT, SampleOptions, ValidityRequest


@command("sample", START, "audit sample", "audit sample --base 60 --decide none", "audit sample --decide MR1.1")
def sample(
    db: Database = DATABASE,
    options: SampleOptions = FRONT,
    give_up: Annotated[bool, Told("let the rounds count with what is open in them: rates have bounds then")] = False,
    study: Study = None,
) -> Reply:
    """Ask the next round of questions.

    See planning (docs/how-to/planning.md). A round is asked when all before it are answered. What was asked stays."""
    from audit.judging.samples import ask_next, give_up_rounds

    if give_up:
        if study is None:
            raise AuditError("say with --study of which study the rounds are given up")
        return Reply({"given_up": give_up_rounds(db.engine, study)}, None, ("report", "--db", db))
    rounds = ask_next(db.engine, options, study)
    waiting, sentence = waiting_of(db.engine)
    lines = [line for of_study in rounds for line in _round_lines(of_study)]
    after = "app" if waiting["waiting"] else "report"
    return Reply(
        waiting | {"studies": [of_study.as_json() for of_study in rounds]}, [*lines, sentence], (after, "--db", db)
    )


def _round_lines(of_study: Any) -> list[str]:
    """Say what a round asks, and how far its decisions are."""
    name = f"Study {of_study.study}"
    if of_study.unfinished:
        name += " (whose run is not finished: repeat `audit run`, then this)"
    if of_study.waiting:
        return [
            f"{name}: {counted(of_study.waiting, 'text')} of the rounds before still wait, so nothing new is asked."
        ]
    lines = [f"{name}: nothing is left to ask; {counted(of_study.asked, 'text')} were asked."]
    if of_study.rounds:
        rounds = " to ".join(map(str, sorted({of_study.rounds[0], of_study.rounds[-1]})))
        lines = [f"{name}, round {rounds}: {counted(of_study.texts, 'new text')}, {of_study.asked:,} in all."]
    if of_study.contests:
        ends = {"best": "one system is best", "within": "the best are within eps", "all asked": "all texts were asked"}
        how = [
            f"{of}: {ends[contest.ended]}"
            for of, contest in zip(of_study.names, of_study.contests, strict=True)
            if contest.ended
        ]
        lines.append(
            f"{of_study.decided} of {counted(len(of_study.contests), 'decision')} made. {'; '.join(how)}".rstrip()
        )
    return lines


@command("gold", JUDGE, "audit gold --db mine.db")
def gold(db: Database = DATABASE, study: Study = None) -> Reply:
    """Answer questions with the gold labels of the corpora.

    Gold answers under the name `gold`, apart from people, whose answers go before. It says nothing about a text with
    different gold labels in different rows (`contradictory`), nor about whether an output is right."""
    from audit.judging.labels import answer_with_gold

    gold = answer_with_gold(db.engine, study)
    waiting, sentence = waiting_of(db.engine)
    lines = [f"Gold answers {gold.answered:,} of {gold.questions:,} questions ({gold.added:,} new)."]
    if gold.contradictory:
        lines.append(f"It says nothing about {counted(gold.contradictory, 'contradictory text')}.")
    return Reply(asdict(gold) | waiting, [*lines, sentence], ("report", "--db", db))


@command("import-labels", JUDGE, "audit import-labels crowd.csv --annotator crowd --map good=positive,bad=negative")
def import_labels(
    file: Annotated[Read, Told("a table, or Label Studio's JSON", "FILE", argument=True)],
    db: Database = DATABASE,
    annotator: Annotated[str | None, Told("who gave the labels, where the file names nobody", "NAME")] = None,
    renamed: Annotated[Sequence[str], Told("the file's labels", "good=positive", "--map", commas=True)] = (),
    task: Task = None,
    language: Annotated[str, Told("of the texts, where the file has no such column", "CODE")] = "en",
    role: Annotated[Literal["annotator", "adjudicator"], Told("votes, or decisions", spelled="--as")] = "annotator",
    columns: Columns = (),
) -> Reply:
    """Labels from elsewhere (tables, Label Studio) as votes.

    See exports (docs/how-to/exports.md). Labels of questions that fewer people answered than are asked (`too_few`)
    count once others have answered, too."""
    from audit.judging.adjudications import open_disputes
    from audit.judging.labels import import_labels, read_labels

    labels, own = read_labels(file, pairs_of([*columns])), {"annotator": annotator, "task": task, "language": language}
    imported = import_labels(db.engine, labels, renamed=pairs_of([*renamed]), role=role, **own)  # type: ignore[arg-type]
    with db.engine.connect() as connection:
        disputes = open_disputes(connection)
    document = asdict(imported) | {"waiting": waiting_of(db.engine)[0]["waiting"]}
    return Reply(document, None, ("app" if disputes else "report", "--db", db))


@command("progress", JUDGE, "audit progress --db mine.db --json")
def progress(db: Database = DATABASE, study: Study = None) -> Reply:
    """How far the judging is: questions, pace, cells, people.

    Questions and people are those of the whole database; `--study` is about cells."""
    from audit.judging.activity import overview
    from audit.reports.progress import cells_at_work, progress_document, progress_sections
    from audit.reports.study import cells_of_report, evidence

    cells = cells_at_work(cells_of_report(evidence(db.engine, "both", study)))
    return Reply(progress_document(overview(db.engine), cells), sections=progress_sections)


@command("known", JUDGE, "audit known training.csv --purpose training", "audit known --purpose gold --count 40")
def known(
    purpose: Annotated[Literal["training", "gold"], Told("before judging, with feedback; or hidden among the others")],
    file: Annotated[Read | None, Told("a CSV: text, answer (docs/formats.md)", "FILE", argument=True)] = None,
    task: Annotated[str, Told("of the file", "NAME")] = "sentiment",
    language: Annotated[str, Told("of rows without one", "CODE")] = "en",
    count: Annotated[int, Told("without a file: how many at most", "N")] = 20,
    db: Database = DATABASE,
) -> Reply:
    """Questions with known answers: for training, and hidden ones.

    The texts of a FILE, or else questions that cost no sample anything, evenly by label (docs/how-to/quality.md)."""
    from audit.judging.control_questions import add_known, pick_known, read_known

    if file is not None:
        added = add_known(db.engine, purpose, read_known(file, task, language), task=task)
        document = {"added": added.added, "changed": added.changed}
    else:
        document = pick_known(db.engine, purpose, count)._asdict()
    setting = "pass_mark=0.8" if purpose == "training" else "gold_share=0.05"
    return Reply({"purpose": purpose, **document}, None, ("settings", "--set", setting, "--db", db))


@command("settings", JUDGE, "audit settings --set pass_mark=0.8 --set gold_share=0.05 --db mine.db")
def settings(
    changes: Annotated[Sequence[str], Told("change one; may be given several times", "NAME=VALUE", "--set")] = (),
    db: Database = DATABASE,
) -> Reply:
    """How judging goes: pass mark, hidden questions, speed. Without `--set` it shows the settings."""
    from audit.files import parse_json
    from audit.judging.settings import change_settings

    values: dict[str, Any] = {}
    for name, value in pairs_of([*changes]).items():
        try:
            values[name] = parse_json(value)
        except ValueError:
            raise AuditError(f"--set {name}={value}: must be NAME=NUMBER, for example pass_mark=0.8") from None
    present = asdict(change_settings(db.engine, None, values))
    return Reply(present, [f"{name} = {value}" for name, value in present.items()])


group("judge", JUDGE, "Models that judge: ask them, and measure them against people.\n\nSee docs/reference/judges.md.")


@command("judge ask", JUDGE, "audit judge ask --with chat:referee.toml --variants labels,wording --everything")
def judge_ask(
    spec: Annotated[str, Told("chat:FILE.toml, or module:name of a function of a question", "SPEC", "--with")],
    db: Database = DATABASE,
    name: Annotated[str | None, Told("what the judge is called here (default: as it calls itself)", "NAME")] = None,
    request: JudgeRequest = JudgeRequest(),
) -> Reply:
    """Ask a judge what people are asked.

    What it says is stored under its own name. Repeating the command asks what is left, and what ended in an error."""
    from tqdm import tqdm

    from audit.judging.judges import ask_judge
    from audit.systems.judge import load_judge

    judge = load_judge(spec, name)
    with tqdm(desc=judge.name, unit="question", total=0, mininterval=0.5) as bar:

        def watch(done: int, total: int) -> None:
            bar.total = total
            bar.update(done - bar.n)

        result = ask_judge(db.engine, judge, request, watch)
    return Reply(asdict(result) | {"own": list(result.own)}, None, ("judge", "agreement", "--db", db))


@command("judge agreement", JUDGE, "audit judge agreement --json")
def judge_agreement(db: Database = DATABASE) -> Reply:
    """How far judges agree with people, with gold, with themselves (docs/reference/judges.md)."""
    from audit.reports.judges import judges_report, judges_sections

    return Reply(judges_report(db.engine), sections=judges_sections)


group("validity", JUDGE, "People say whether follow-ups are sound.\n\nSee docs/reference/validity.md.")


@command("validity draw", JUDGE, "audit validity draw --per-relation 40 --relations MR1.1,MR2.1 --ask both --first")
def validity_draw(db: Database = DATABASE, request: ValidityRequest = ValidityRequest(), study: Study = None) -> Reply:
    """Draw pairs of each relation at random, whose texts people rate.

    Drawing more later keeps what was drawn."""
    from audit.judging.samples import draw_validity

    drawn = [asdict(part) for part in draw_validity(db.engine, request, study)]
    document: dict[str, Any] = {name: sum(part[name] for part in drawn) for name in ("pairs", "added")}
    document["without_pairs"] = sorted({*request.relations} - {part["relation"] for part in drawn})
    return Reply(document | {"relations": drawn}, None, ("app", "--db", db))


@command("validity end", JUDGE, "audit validity end --db mine.db")
def validity_end(db: Database = DATABASE, study: Study = None) -> Reply:
    """Ask for no more ratings. Ratings stay; drawing again goes on."""
    from audit.judging.samples import end_validity

    return Reply({"ended": end_validity(db.engine, study)})


@command("validity report", JUDGE, "audit validity report --db mine.db")
def validity_report(db: Database = DATABASE, study: Study = None) -> Reply:
    """How plausible and grammatical follow-ups are, by relation (docs/reference/validity.md)."""
    from audit.reports.validity import validity_report, validity_sections

    return Reply(validity_report(db.engine, study), sections=validity_sections)
