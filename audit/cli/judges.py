"""Judges that are models: asking them, and how far they agree with people, with gold and with themselves."""

from dataclasses import asdict
from typing import Annotated

from audit.cli.console import Reply
from audit.cli.options import DATABASE as USUAL
from audit.cli.options import (
    JUDGE,
    NONE,
    Database,
    Names,
    Study,
    command,
    flag,
    group,
    listed,
    open_database,
    text,
    whole_number,
)
from audit.messages import counted

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
def ask(
    spec: Annotated[
        str, text("chat:FILE.toml, or module:name of a function of a question that returns a label", "SPEC", "--with")
    ],
    db: Database = USUAL,
    name: Annotated[str | None, text("what the judge is called here (default: what it calls itself)", "NAME")] = None,
    variants: Annotated[
        Names,
        listed(
            "ask in other ways, too, to see how consistent it is: labels (reversed), wording (other words), texts "
            "(in the opposite order)",
            "labels,wording,texts",
        ),
    ] = NONE,
    everything: Annotated[
        bool, flag("--everything", "all satisfied groups, too, so that it is a proxy for those that nobody judges")
    ] = False,
    max_calls: Annotated[int | None, whole_number("ask at most N questions now", "N")] = None,
    allow_own: Annotated[
        bool, flag("--allow-own", "also a judge that is a system under test; it is said wherever it is shown")
    ] = False,
    study: Study = None,
) -> Reply:
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
    lines = [
        f"{counted(asked.asked, 'question')} asked: {asked.answered:,} answered, {asked.unsure:,} unsure, "
        f"{asked.errors:,} without an answer."
    ]
    if asked.questions_made:
        lines.append(f"{asked.questions_made:,} questions were made for it, which wait for nobody.")
    if asked.last_error:
        lines.append(f"The last one without an answer: {asked.last_error}. Repeat the command to ask again.")
    if asked.left:
        lines.append(f"{asked.left:,} questions or more are left; repeat the command to go on.")
    if asked.own:
        lines.append(f"Note: this judge is the same model as the system under test {', '.join(asked.own)}.")
    proxy = "" if not everything else f" or: audit report --proxy judge:{asked.name} --db {db}"
    lines.append(f"Next: audit judge agreement --db {db}{proxy}")
    return Reply(asdict(asked) | {"own": list(asked.own)}, lines)


@command(
    "judge agreement",
    JUDGE,
    "how far judges agree with people, with gold, with themselves",
    "audit judge agreement --db mine.db",
    "audit judge agreement --judge referee --json",
)
def agreement(
    judge: Annotated[str | None, text("only this one: NAME, NAME@VERSION or #NUMBER (default: all)", "NAME")] = None,
    db: Database = USUAL,
) -> Reply:
    """How each judge does against the settled answers of people, and of gold, kept apart: accuracy, kappa, sensitivity
    and specificity of each label, which labels it takes for which, and how often it answers the same when it is asked
    in another way, with 95 % intervals.
    """
    from audit.reports.judges import judges_report, judges_sections
    from audit.reports.tables import printed

    return Reply(judges_report(open_database(db), judge), printed(judges_sections))
