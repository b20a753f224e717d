"""Reports: rates and rankings, agreement, annotators, quality, plans of work, recorded chains, values."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from audit.cli.console import Reply, say
from audit.cli.options import (
    DATABASE,
    INSPECT,
    NONE,
    START,
    STUDY,
    Database,
    Html,
    Names,
    Pdf,
    Study,
    Task,
    chosen,
    command,
    decimal,
    decimals,
    exclusive,
    flag,
    group,
    listed,
    name_of,
    open_database,
    place,
    read_from,
    settings_of,
    text,
    whole_number,
    written_to,
)

if TYPE_CHECKING:
    from audit.reports.document import ReportDocument
    from audit.reports.frames import Tables
from audit.errors import AuditError
from audit.messages import ENGLISH
from audit.reports.options import CoefficientOptions, FollowUpOptions, ReportOptions, StandingOptions
from audit.sampling.options import WINNER, PlanOptions

By = Literal["relation", "system", "language", "pair"] | None
Repeats = Literal["first", "last", "majority"] | None
Independent = Annotated[bool, flag("--independent", "as if scores of one sentence were independent, as in the study")]
NoSynonyms = Annotated[
    bool, flag("--no-synonyms", "METEOR by the same words and the same stems alone: English needs no WordNet then")
]
Full = Annotated[bool, flag("--full", "all tables, notes and the signature, not the first lines alone")]


@command(
    "report",
    START,
    "observed and genuine rates, and the ranking before and after",
    "audit report",
    "audit report --db mine.db --answers people --html report.html --pdf report.pdf",
    "audit report --slice gold --slice length --slice negation --html report.html",
    "audit report --target corpus --delta 0.02 --weights weights.csv",
    "audit report --proxy disagreement,low_confidence --json",
)
def report(
    db: Database = DATABASE,
    options: ReportOptions = ReportOptions(),
    html: Html = None,
    pdf: Pdf = None,
    language: Annotated[Literal["en", "zh"], chosen("of the files")] = "en",
    full: Full = False,
) -> Reply:
    """Which system is best, how sure that is, and what is false of what was reported; `--full` shows the rates of every
    cell with their intervals, and for each relation who is best before and after. See the report
    (docs/reference/report.md). It may be asked for at any time: where nothing is judged yet, the corrected rates are
    `null`.
    """
    from audit.reports.examples import EXAMPLES
    from audit.reports.study import study_report

    if options.examples is None:
        options = replace(options, examples=EXAMPLES if html or pdf else 0)
    return reported(study_report(open_database(db), **vars(options)), html, language, pdf, full)


def reported(
    report: "ReportDocument",
    html: str | None = None,
    language: str = ENGLISH,
    pdf: str | None = None,
    full: bool = False,
) -> Reply:
    """Return the report, or write it as HTML or PDF where a file was named; then the terminal does not show it, too."""
    from audit.reports.sections import to_terminal

    if html:
        write_html(report, Path(html), language)
    if pdf:
        write_pdf(report, Path(pdf), language)
    return Reply(report, None if html or pdf else lambda document: [to_terminal(document, full)])


def write_html(report: "ReportDocument", path: Path, language: str = ENGLISH) -> None:
    """Write the HTML file. Raises BadFile where it cannot be written."""
    from audit.new_files import write_file
    from audit.reports.html import to_html

    write_file(path, to_html(report, language))
    say(f"report: {path}")


def write_pdf(report: "ReportDocument", path: Path, language: str = ENGLISH) -> None:
    """Write the PDF. Raises BadFile where it cannot be written, and NotInstalled."""
    from audit.new_files import write_file
    from audit.reports.pdf import to_pdf

    write_file(path, to_pdf(report, language))
    say(f"report: {path}")


@command(
    "rerank",
    INSPECT,
    "correct and rank totals of a CSV, measured elsewhere",
    "audit rerank totals.csv --html corrected.html",
    "audit rerank totals.csv --weights weights.csv",
)
def rerank(
    file: Annotated[str, place("FILE", "the CSV")],
    options: StandingOptions = StandingOptions(),
    html: Html = None,
    full: Full = False,
) -> Reply:
    """Corrects and ranks totals that were measured elsewhere. The file is a CSV with the columns `relation,system` and
    either `sr_observed,fs_rate` or `groups,satisfied,judged,false`, where `groups` is satisfied plus violated.
    """
    from audit.exchange.rerank import rerank

    return reported(rerank(file, **vars(options)), html, full=full)


@command(
    "plan",
    STUDY,
    "how many texts and answers a decision will likely take",
    "audit plan",
    "audit plan --decide relations --pace 6 --price 20",
    "audit plan --db mine.db --eps 0.01 --json",
)
def plan(
    db: Database = DATABASE,
    study: Study = None,
    options: PlanOptions = PlanOptions(decide=WINNER),
) -> Reply:
    """How many texts and answers it will likely take until the rounds of `audit sample` have decided which system is
    best, before the work and during it.
    """
    from audit.reports.plan import lines, plan

    named = None if db == DATABASE else db
    return Reply(plan(open_database(db), options, study, named=named), lines)


@command(
    "agreement",
    INSPECT,
    "how far annotators agree: percent, kappa, alpha, AC1, intervals",
    "audit agreement --db mine.db --by relation",
    "audit agreement --ratings ours.csv --order negative,neutral,positive --json",
)
def agreement(
    db: Annotated[str | None, text("the database (default: audit.db)", "PATH|URL")] = None,
    ratings: Annotated[str | None, read_from("a table in place of a database", "FILE")] = None,
    columns: Annotated[
        Names,
        listed(
            "of ratings with other names: ours=theirs; label=A+B are several columns, one an annotator", "ours=theirs"
        ),
    ] = NONE,
    about: Annotated[
        Literal["labels", "false", "groups"],
        chosen("labels, whether drawn groups are false, or whether relations hold in groups"),
    ] = "labels",
    by: Annotated[By, chosen("for each of these, too")] = None,
    options: CoefficientOptions = CoefficientOptions(),
    repeats: Annotated[
        Repeats, chosen("of an item that somebody rated twice: first, last or majority (default: refuse)")
    ] = None,
    task: Task = None,
) -> Reply:
    """How far annotators agree: percent, one kappa, alpha and AC1, with 95 % intervals; see agreement
    (docs/reference/agreement.md). From the judgements of a database, or from a table with the columns
    `item,annotator,label` and one row a judgement, or a column for each annotator.
    """
    from audit.reports.agreement import agreement_report, agreement_sections
    from audit.reports.ratings import need_numbers
    from audit.reports.tables import printed

    exclusive(("--db", db), ("--ratings", ratings))
    rated, parts = (
        _from_file(ratings, about, by, repeats, task, settings_of("--columns", columns))
        if ratings
        else _from_store(db or DATABASE, about, by, repeats, task)
    )
    if ratings and options.level not in (None, "nominal") and not options.order:
        need_numbers(rated, ratings, options.level)
    report = agreement_report(rated, by=by, parts=parts, **vars(options))
    return Reply(report, printed(agreement_sections))


def _from_file(ratings: str, about: str, by: By, repeats: Repeats, task: str | None, columns: dict[str, str]) -> Any:
    from audit.reports.ratings import need_two, once, read_ratings

    if about != "labels":
        raise AuditError(
            f"--about {about} needs the drawn groups of a database; name it with --db in place of --ratings"
        )
    if task is not None:
        raise AuditError("--task is for a database; a file of ratings has no task")
    column = None if by == "pair" else by
    rated = once(read_ratings(ratings, [column] if column else [], columns), repeats, ratings)
    need_two(rated, ratings)
    parts = _parts(rated, column)
    return rated, parts


def _parts(rated: Any, column: str | None) -> Any:
    """Which items have which values of a column of the ratings."""
    return rated.frame[["item", column]].set_axis(["item", "value"], axis=1).drop_duplicates() if column else None


def _from_store(db: str, about: str, by: By, repeats: Repeats, task: str | None) -> Any:
    from audit.false_satisfaction.questions import attributed_groups
    from audit.reports.opinions import attributed_outputs, opinions
    from audit.reports.ratings import attributed, stored_ratings

    if repeats is not None:
        raise AuditError("--repeats is for --ratings; in a database nobody's answer to a question counts twice")
    engine = open_database(db)
    column = None if by == "pair" else by
    if about == "false":
        rated = opinions(engine, task)
        parts = _parts(rated, column)
    elif about == "groups":
        rated = stored_ratings(engine, task, "group")
        parts = attributed_groups(engine, column) if column == "relation" or column == "system" else None
        parts = attributed(engine, column) if column == "language" else parts
    else:
        rated = stored_ratings(engine, task)
        if rated.origin.get("about") == "pairs" and (column == "relation" or column == "system"):
            parts = attributed_outputs(engine, column)
        else:
            parts = attributed(engine, column) if column else None
    return rated, parts


@command(
    "annotators",
    INSPECT,
    "what annotators get wrong: confusion matrices (Dawid-Skene)",
    "audit annotators --ratings ours.csv",
    "audit annotators --db mine.db --draws 4000 --json",
)
def annotators(
    db: Annotated[str | None, text("the database (default: audit.db)", "PATH|URL")] = None,
    ratings: Annotated[
        str | None, read_from("a table with the columns item,annotator,label in place of a database", "FILE")
    ] = None,
    columns: Annotated[Names, listed("of ratings with other names", "ours=theirs")] = NONE,
    task: Task = None,
    draws: Annotated[int, whole_number("draws of the posterior for the intervals", "N")] = 1000,
    seed: Annotated[int, whole_number("of these draws", "S")] = 0,
) -> Reply:
    """What each annotator gets wrong, by the model of Dawid and Skene (1979), from the judgements alone; see agreement
    (docs/reference/agreement.md). Repeated ratings count as they are.
    """
    from audit.reports.quality import annotators_report, annotators_sections
    from audit.reports.ratings import need_two, read_ratings, stored_ratings
    from audit.reports.tables import printed

    exclusive(("--db", db), ("--ratings", ratings))
    if not 0 <= draws <= 100_000:
        raise AuditError(f"--draws {draws}: must be from 0 (no intervals) to 100000")
    if seed < 0:
        raise AuditError(f"--seed {seed}: must be at least 0")
    if ratings and task is not None:
        raise AuditError("--task is for a database; a file of ratings has no task")
    if ratings:
        rated = read_ratings(ratings, columns=settings_of("--columns", columns))
        need_two(rated, ratings)
    else:
        rated = stored_ratings(open_database(db or DATABASE), task)
    return Reply(annotators_report(rated, draws, seed), printed(annotators_sections))


KINDS: dict[str, Literal["input", "pair", "group"]] = {"inputs": "input", "pairs": "pair", "groups": "group"}


@command(
    "quality",
    INSPECT,
    "how well each annotator judges",
    "audit quality --db mine.db",
    "audit quality --about groups --json",
)
def quality(
    task: Task = None,
    about: Annotated[
        Literal["inputs", "pairs", "groups"] | None,
        chosen(
            "what its questions are about: inputs, outputs with their inputs, or groups (default: as the task asks)"
        ),
    ] = None,
    db: Database = DATABASE,
) -> Reply:
    """How well each annotator judges: accuracy, confusion and bias on hidden questions, repeats answered as before,
    agreement with settled answers and with the others, speed, and the first half against the second.
    """
    from audit.reports.quality import quality_report, quality_sections
    from audit.reports.record import judging_record
    from audit.reports.tables import printed

    record = judging_record(open_database(db))
    report = quality_report(record, task, KINDS.get(about or ""))
    return Reply(report, printed(quality_sections))


@command(
    "follow-ups",
    INSPECT,
    "how far follow-ups are from their sources, by relation; or what one makes of a corpus",
    "audit follow-ups --db mine.db",
    "audit follow-ups typos --corpus rotten-tomatoes --show 20",
    'audit follow-ups --valid "replaced<=0.2" --measures replaced --most 200',
    "audit follow-ups --db mine.db --rejected rejected.csv",
)
def follow_ups(
    name: Annotated[str | None, name_of("NAME", "show what this relation makes of --corpus, without a run")] = None,
    corpus: Annotated[str | None, text("whose sources, taken at random", "NAME|FILE")] = None,
    task: Annotated[str | None, text("the task (default: the corpus's)", "TASK")] = None,
    show: Annotated[int, whole_number("groups that are shown of it", "N")] = 20,
    db: Database = DATABASE,
    study: Study = None,
    options: FollowUpOptions = FollowUpOptions(),
    rejected: Annotated[
        str | None, written_to("the groups that limits rejected, with their texts, as CSV or JSONL", "FILE")
    ] = None,
) -> Reply:
    """What each measure says of each relation's follow-ups: edit distance, share of words replaced, BLEU, perplexity
    ratio, and on request the similarity of embeddings; how many groups limits (`audit run --valid`) have rejected, and
    how many others would. Nothing is changed, and no system is asked.
    """
    from audit.exchange.follow_ups import follow_ups_report, rejected_follow_ups
    from audit.messages import counted
    from audit.new_files import kind_of_rows, write_rows
    from audit.reports.frames import Table

    if (name is None) != (corpus is None):
        raise AuditError("give a relation and --corpus together: audit follow-ups NAME --corpus NAME|FILE")
    if name is not None and corpus is not None:
        return _made(name, corpus, task, show)
    if rejected is not None:
        kind_of_rows(rejected, "rejected")
    engine = open_database(db)
    tables = follow_ups_report(engine, study, **vars(options))
    if rejected is not None:
        frame = rejected_follow_ups(engine, study, options.relations)
        write_rows(rejected, lambda: frame, Table("", frame).rows())
        say(f"{counted(len(frame), 'rejected follow-up')} in {rejected}.")
    return _tabled(tables)


def _made(name: str, corpus: str, task: str | None, show: int) -> Reply:
    from audit.corpora import get_corpus
    from audit.exchange.follow_ups import made_lines, made_of
    from audit.relations import get_relation

    found = get_corpus(corpus, task)
    groups, tried = made_of(get_relation(task or found.task, name), found, show)
    return Reply(groups, lambda shown: made_lines(name, shown, tried))


@command(
    "pivots",
    INSPECT,
    "recorded pivot chains of translation: scores, means, tests",
    "audit pivots pivot_runs.csv --targets zh,ja",
    "audit pivots pivot_runs.csv --targets zh,ja,ko,fr --systems google,bing --independent --json",
)
def pivots(
    file: Annotated[str, place("FILE", "the CSV")],
    score: Annotated[
        Literal["consistency", "levenshtein", "bleu", "cosine"],
        chosen("what is analysed: consistency (default, the mean of the others), levenshtein, bleu or cosine"),
    ] = "consistency",
    threshold: Annotated[float, decimal("a pair whose score is at least this is satisfied", "S")] = 0.8,
    systems: Annotated[Names | None, listed("only these systems (default: all)", "A,B")] = None,
    targets: Annotated[Names | None, listed("only these target languages (default: all)", "zh,ja")] = None,
    source_language: Annotated[
        str, text("the language of the sources: pairs toward it are round trips, and stand apart", "CODE")
    ] = "en",
    independent: Independent = False,
) -> Reply:
    """Recorded machine translations beside those that went over another language, as in the MCMT study: scores,
    least-squares means by language and system, F tests of type III and Tukey-Kramer's pairs.
    """
    from audit.packs.translation.analysis import choose, pivots_tables
    from audit.packs.translation.chains import read_chains

    chains = choose(read_chains(file), system=systems, target=targets)
    return _tabled(
        pivots_tables(
            chains,
            score=score,
            threshold=threshold,
            source_language=source_language,
            independent=independent,
        )
    )


def _tabled(tables: "Tables") -> Reply:
    return Reply(tables.document(), tables.lines())


group(
    "values",
    INSPECT,
    "what relations compared: bounds, means, references, levels",
    "What relations compared, beyond satisfied and violated: a verdict keeps the value that was compared with the "
    "relation's bound (docs/reference/translation-relations.md).",
)


@command(
    "values bounds",
    INSPECT,
    "observed rates at other bounds, without running again",
    "audit values bounds --relations MCMT,RTT --at 0.5,0.6,0.7",
)
def values_bounds(
    db: Database = DATABASE,
    study: Study = None,
    relations: Annotated[Names, listed("only these, named as in the report (default: all with a bound)", "A,B")] = NONE,
    at: Annotated[Names | None, decimals("the bounds (default: 0, 0.1, ... 1)", "0.5,0.6")] = None,
) -> Reply:
    """SR_o at other bounds than those that were run, without running anything again. A relation is shown where it has
    a bound: a parameter `threshold` or `bound`, at or above which it is satisfied.
    """
    from audit.packs.translation.analysis import STEPS, bounds_tables

    return _tabled(bounds_tables(open_database(db), study, relations, at or STEPS))


@command(
    "values means",
    INSPECT,
    "least-squares means by language and system; which differ",
    "audit values means --relation MCMT --db mine.db",
)
def values_means(
    relation: Annotated[str, text("whose values", "MCMT")],
    db: Database = DATABASE,
    study: Study = None,
    independent: Independent = False,
) -> Reply:
    """Which target languages and systems are consistent: the linear model of the MCMT study on the values of one
    relation, with least-squares means, F tests of type III, all pairs by Tukey and Kramer, and the subsets that are
    not told apart.
    """
    from audit.packs.translation.analysis import means_tables

    return _tabled(means_tables(open_database(db), relation, study, independent=independent))


@command(
    "values correlate",
    INSPECT,
    "do values go with BLEU, METEOR and WER against references?",
    "audit values correlate --reference parallel.csv --db mine.db",
)
def values_correlate(
    reference: Annotated[str, read_from("a CSV of reference translations: source,reference,target_language", "FILE")],
    db: Database = DATABASE,
    study: Study = None,
    no_synonyms: NoSynonyms = False,
    relations: Annotated[Names, listed("only these (default: all with values, and MGMT)", "A,B")] = NONE,
) -> Reply:
    """Whether values go with scores of the same translations against references: BLEU, METEOR (English needs WordNet)
    and 1 - WER, so that more is better in all. Over sentences for each system, and over systems from five on.
    """
    from audit.packs.translation.analysis import correlation_tables, read_references

    references = read_references(reference, synonyms=not no_synonyms)
    return _tabled(correlation_tables(open_database(db), references, study, relations))


@command(
    "values contribute",
    INSPECT,
    "what each relation adds to the others",
    "audit values contribute --reference parallel.csv --db mine.db",
    "audit values contribute --relations RTT,MCMT,MGMT-sentence",
)
def values_contribute(
    db: Database = DATABASE,
    study: Study = None,
    reference: Annotated[
        str | None, read_from("as of audit values correlate; without it there are no scores", "FILE")
    ] = None,
    no_synonyms: NoSynonyms = False,
    relations: Annotated[Names, listed("these (default: the levels of MGMT)", "A,B")] = NONE,
) -> Reply:
    """What each relation adds to the others, after tables 2, 5 and 6 of the MGMT study: whether two relations see the
    same (Spearman's correlation of their outcomes), how many translations satisfy each combination of them, and,
    with references, the mean scores of each combination and what a relation adds to it.
    """
    from audit.packs.translation.analysis import contribution_tables, read_references

    references = read_references(reference, synonyms=not no_synonyms) if reference else None
    return _tabled(contribution_tables(open_database(db), study, relations, references))


@command(
    "values levels",
    INSPECT,
    "the MGMT score of each system: the mean share of satisfied levels",
    "audit values levels --domain topic --db mine.db",
)
def values_levels(
    db: Database = DATABASE,
    study: Study = None,
    domain: Annotated[
        str | None, text("a column of the corpus (default: each corpus is one domain)", "ATTRIBUTE")
    ] = None,
    relations: Annotated[
        Names,
        listed(
            "the levels (default: MGMT-sentence, MGMT-phrase and MGMT-word, two of which must have been run)", "A,B"
        ),
    ] = NONE,
) -> Reply:
    """The MGMT score of each system: the mean share of satisfied groups over the levels of granularity, by domain
    (table 1 of the MGMT study).
    """
    from audit.packs.translation.analysis import levels_tables

    return _tabled(levels_tables(open_database(db), study, relations, domain))
