"""Reports: rates and rankings, comparisons, agreement, annotators, quality, plans, recorded chains, values."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Any, Literal

from audit.cli import options as cli
from audit.cli.console import Reply, following, say
from audit.cli.options import DATABASE, INSPECT, START, STUDY, Columns, Database, Db, Html, Read, Study, Task, command
from audit.errors import AuditError
from audit.options import Told
from audit.reports.options import CoefficientOptions, CompareOptions, FollowUpOptions, ReportOptions, StandingOptions
from audit.runner.options import pairs_of
from audit.sampling.options import FRONT, WINNER, PlanOptions

Full = Annotated[bool, Told("all tables, notes and the signature, not the first lines alone")]
Independent = Annotated[bool, Told("as if scores of one sentence were independent, as in the study")]
OwnDatabase = Annotated[Db | None, Told("the database (default: audit.db)", "PATH|URL")]
OfRelations = Annotated[Sequence[str], Told("only these, named as in the report (default: all)", "A,B", commas=True)]
Ratings = Annotated[Read | None, Told("a table item,annotator,label in place of a database", "FILE")]


@command(
    "report",
    START,
    "audit report",
    "audit report --answers people --slice gold --slice length --html report.html",
    "audit report --proxy disagreement,low_confidence --target corpus --json",
)
def report(
    db: Database = DATABASE,
    options: ReportOptions = ReportOptions(),
    html: Html = None,
    language: Annotated[Literal["en", "zh"], Told("of the files")] = "en",
    full: Full = False,
) -> Reply:
    """Which system is best, how sure that is, and what is false.

    See the report (docs/reference/report.md). Where nothing is judged yet, the corrected rates are `null`."""
    from audit.reports.examples import EXAMPLES
    from audit.reports.study import study_report

    if options.examples is None:
        options = replace(options, examples=EXAMPLES if html else 0)
    return reported(study_report(db.engine, **vars(options)), html, language, full)


def reported(report: Any, html: str | None = None, language: str = "en", full: bool = False) -> Reply:
    """Return the report, or write it as HTML where a file was named; then the terminal does not show it, too."""
    from audit.new_files import write_file
    from audit.reports.html import to_html
    from audit.reports.sections import to_terminal

    if html:
        write_file(html, to_html(report, language))
        say(f"report: {html}")
    return Reply(report, [] if html else [to_terminal(report, full)])


@command("rerank", INSPECT, "audit rerank totals.csv --weights weights.csv --html corrected.html")
def rerank(
    file: Annotated[Read, Told("the CSV", "FILE", argument=True)],
    options: StandingOptions = StandingOptions(),
    html: Html = None,
    full: Full = False,
) -> Reply:
    """Correct and rank totals of a CSV, measured elsewhere.

    Its columns are `relation,system` and either `sr_observed,fs_rate` or `groups,satisfied,judged,false`, where
    `groups` is satisfied plus violated.
    """
    from audit.exchange.rerank import rerank

    return reported(rerank(file, **vars(options)), html, full=full)


@command(
    "compare",
    INSPECT,
    'audit compare mine:classify@b498 mine:classify@5d95 --fail-if "genuine rise > 2 points" --json',
)
def compare(
    old: Annotated[str, Told("a system as NAME@VERSION, or the beginning of a version", "OLD", argument=True)],
    new: Annotated[str, Told("another one", "NEW", argument=True)],
    db: Database = DATABASE,
    options: CompareOptions = CompareOptions(),
    fail_if: Annotated[
        list[str], Told('exit with 1 if this holds, such as "genuine rise > 2 points"; repeatable', "CONDITION")
    ] = [],  # noqa: B006
    undecided: Annotated[
        Literal["pass", "fail"] | None, Told("instead of status 4 where answers cannot decide a condition")
    ] = None,
) -> Reply:
    """Two versions of a system: how much worse, what broke.

    See comparing versions (docs/how-to/ci.md). The exit status is 1 where a condition of `--fail-if` holds, and 4
    where answers cannot decide one."""
    from audit.reports.compare import compare as compared
    from audit.reports.compare import compare_sections, status_of
    from audit.reports.tables import printed

    document = compared(old, new, db.engine, fail_if, **vars(options))
    after = ("sample", "--db", db) if document["all"]["genuine"]["estimate"] is None else ()
    return Reply(document, printed(compare_sections), after, status_of(document, undecided))


@command("plan", STUDY, "audit plan", "audit plan --decide relations --pace 6 --price 20")
def plan(db: Database = DATABASE, study: Study = None, options: PlanOptions = PlanOptions(decide=WINNER)) -> Reply:
    """How many texts and answers a decision will likely take."""
    from audit.reports.progress import plan, plan_sections
    from audit.reports.tables import printed

    document = plan(db.engine, options, study)
    words = cli.options_in_words(options, FRONT, "base", "share", "decide", "eps", "annotators")
    words += ["--study", str(study)] if study is not None else []
    document["command"] = following("sample", "--db", db, *words)
    return Reply(document, printed(plan_sections))


# Agreement and quality.


@command(
    "agreement",
    INSPECT,
    "audit agreement --db mine.db --by relation",
    "audit agreement --ratings ours.csv --order negative,neutral,positive --json",
)
def agreement(
    db: OwnDatabase = None,
    ratings: Ratings = None,
    columns: Columns = (),
    about: Annotated[
        Literal["labels", "false", "groups", "names", "words"],
        Told("labels, whether drawn groups are false, whether relations hold in groups, or names or words of entities"),
    ] = "labels",
    by: Annotated[Literal["relation", "system", "language", "pair"] | None, Told("for each of these, too")] = None,
    options: CoefficientOptions = CoefficientOptions(),
    repeats: Annotated[
        Literal["first", "last", "majority"] | None, Told("of an item that somebody rated twice (default: refuse)")
    ] = None,
    task: Task = None,
) -> Reply:
    """How far annotators agree: percent, kappa, alpha, AC1.

    See agreement (docs/reference/agreement.md). From the judgements of a database, or from a table of ratings."""
    from audit.reports.agreement import agreement_report, agreement_sections
    from audit.reports.ratings import attributed, of_spans, once, opinions, read_ratings, stored_ratings
    from audit.reports.tables import printed

    column = None if by == "pair" else by
    parts = None
    if ratings is not None:
        if db is not None or task is not None or about != "labels":
            raise AuditError("--db, --task and --about are for a database; leave them or --ratings out")
        read = read_ratings(ratings, [column] if column else [], pairs_of([*columns]))
        rated = once(read, repeats, ratings)
    else:
        engine = (db or DATABASE).engine
        kind: Any = "group" if about == "groups" else None
        rated = opinions(engine, task) if about == "false" else stored_ratings(engine, task, kind)
        if about in ("names", "words"):
            rated = of_spans(rated, engine, "name" if about == "names" else "word")
        parts = attributed(engine, column) if column is not None and about != "false" else None
    if column is not None and parts is None:
        parts = rated.frame[["item", column]].set_axis(["item", "value"], axis=1).drop_duplicates()
    return Reply(agreement_report(rated, by=by, parts=parts, **vars(options)), printed(agreement_sections))


@command("annotators", INSPECT, "audit annotators --ratings ours.csv --draws 4000")
def annotators(
    db: OwnDatabase = None,
    ratings: Ratings = None,
    columns: Columns = (),
    task: Task = None,
    draws: Annotated[int, Told("draws of the posterior for the intervals, 0 for none", "N")] = 1000,
) -> Reply:
    """What annotators get wrong: confusion matrices.

    By the model of Dawid and Skene (1979), from the judgements alone (docs/reference/agreement.md)."""
    from audit.reports.quality import annotators_report, annotators_sections
    from audit.reports.ratings import read_ratings, stored_ratings
    from audit.reports.tables import printed

    if not 0 <= draws <= 100_000:
        raise AuditError(f"--draws {draws}: must be from 0 to 100000")
    if ratings is not None:
        if db is not None or task is not None:
            raise AuditError("--db and --task are for a database; leave them or --ratings out")
        rated = read_ratings(ratings, columns=pairs_of([*columns]))
    else:
        rated = stored_ratings((db or DATABASE).engine, task)
    return Reply(annotators_report(rated, draws), printed(annotators_sections))


@command("quality", INSPECT, "audit quality --about groups --json")
def quality(
    task: Task = None,
    about: Annotated[
        Literal["inputs", "pairs", "groups"] | None,
        Told("what its questions are about (default: as the task asks)"),
    ] = None,
    db: Database = DATABASE,
) -> Reply:
    """How well each annotator judges (docs/how-to/quality.md)."""
    from audit.reports.quality import judging_record, quality_report, quality_sections
    from audit.reports.tables import printed

    kind: Any = about and about.removesuffix("s")
    return Reply(quality_report(judging_record(db.engine), task, kind), printed(quality_sections))


@command(
    "follow-ups",
    INSPECT,
    "audit follow-ups typos --corpus rotten-tomatoes --show 20",
    'audit follow-ups --valid "replaced<=0.2" --measures replaced',
)
def follow_ups(
    name: Annotated[
        str | None, Told("show what this relation makes of --corpus, without a run", "NAME", argument=True)
    ] = None,
    corpus: Annotated[str | None, Told("whose sources, taken at random", "NAME|FILE")] = None,
    task: Annotated[str | None, Told("the task (default: the corpus's)", "TASK")] = None,
    show: Annotated[int, Told("groups that are shown of it", "N")] = 20,
    db: Database = DATABASE,
    study: Study = None,
    options: FollowUpOptions = FollowUpOptions(),
) -> Reply:
    """How far follow-ups are from their sources, by relation.

    And how many groups limits (`audit run --valid`) have rejected, and how many others would. No system is asked. See
    validity (docs/reference/validity.md)."""
    from audit.corpora import get_corpus
    from audit.exchange.follow_ups import follow_ups_report, made_lines, made_of
    from audit.relations import get_relation

    if (name is None) != (corpus is None):
        raise AuditError("give a relation and --corpus together: audit follow-ups NAME --corpus NAME|FILE")
    if name is not None and corpus is not None:
        source = get_corpus(corpus, task)
        groups, tried = made_of(get_relation(task or source.task, name), source, show)
        return Reply(groups, made_lines(name, groups, tried))
    return _tabled(follow_ups_report(db.engine, study, **vars(options)))


# Translation: recorded chains, and what relations compared.


@command("pivots", INSPECT, "audit pivots pivot_runs.csv --targets zh,ja --systems google,bing --independent --json")
def pivots(
    file: Annotated[Read, Told("the CSV", "FILE", argument=True)],
    score: Annotated[
        Literal["consistency", "levenshtein", "bleu", "cosine"],
        Told("what is analysed; consistency is the mean of the others"),
    ] = "consistency",
    threshold: Annotated[float, Told("a pair whose score is at least this is satisfied", "S")] = 0.8,
    systems: Annotated[Sequence[str] | None, Told("only these systems (default: all)", "A,B", commas=True)] = None,
    targets: Annotated[
        Sequence[str] | None, Told("only these target languages (default: all)", "zh,ja", commas=True)
    ] = None,
    source_language: Annotated[str, Told("of the sources: pairs toward it are round trips, apart", "CODE")] = "en",
    independent: Independent = False,
) -> Reply:
    """Recorded pivot chains of translation: scores, means, tests.

    As in the MCMT study (docs/reference/translation-relations.md)."""
    from audit.packs.translation.analysis import choose, pivots_tables, read_chains

    chains = choose(read_chains(file), system=systems, target=targets)
    own: dict[str, Any] = {"threshold": threshold, "source_language": source_language, "independent": independent}
    return _tabled(pivots_tables(chains, score=score, **own))


def _tabled(tables: Any) -> Reply:
    return Reply(tables.document(), tables.lines())


cli.group(
    "values",
    INSPECT,
    """What relations compared: bounds, means, references, levels.

    A verdict keeps the value that was compared with the relation's bound (docs/reference/translation-relations.md).
    """,
)


@command("values bounds", INSPECT, "audit values bounds --relations MCMT,RTT --at 0.5,0.6,0.7")
def values_bounds(
    db: Database = DATABASE,
    study: Study = None,
    relations: OfRelations = (),
    at: Annotated[Sequence[float] | None, Told("the bounds (default: 0, 0.1, ... 1)", "0.5,0.6", commas=True)] = None,
) -> Reply:
    """Observed rates at other bounds, without running again."""
    from audit.packs.translation.analysis import STEPS, bounds_tables

    return _tabled(bounds_tables(db.engine, study, relations, at or STEPS))


@command("values means", INSPECT, "audit values means --relation MCMT --db mine.db")
def values_means(
    relation: Annotated[str, Told("whose values", "MCMT")],
    db: Database = DATABASE,
    study: Study = None,
    independent: Independent = False,
) -> Reply:
    """Least-squares means by language and system; which differ."""
    from audit.packs.translation.analysis import means_tables

    return _tabled(means_tables(db.engine, relation, study, independent=independent))


@command("values correlate", INSPECT, "audit values correlate --reference parallel.csv --db mine.db")
def values_correlate(
    reference: Annotated[Read, Told("a CSV of reference translations: source,reference,target_language", "FILE")],
    db: Database = DATABASE,
    study: Study = None,
    relations: OfRelations = (),
) -> Reply:
    """Do values go with BLEU, METEOR and WER against references?

    1 - WER, so that more is better in all. Over sentences for each system, and over systems from five on."""
    from audit.packs.translation.analysis import correlation_tables, read_references

    return _tabled(correlation_tables(db.engine, read_references(reference), study, relations))


@command("values contribute", INSPECT, "audit values contribute --reference parallel.csv --relations RTT,MCMT")
def values_contribute(
    db: Database = DATABASE,
    study: Study = None,
    reference: Annotated[Read | None, Told("as of audit values correlate; else there are no scores", "FILE")] = None,
    relations: Annotated[Sequence[str], Told("these (default: the levels of MGMT)", "A,B", commas=True)] = (),
) -> Reply:
    """What each relation adds to the others: tables 2, 5 and 6 of the MGMT study."""
    from audit.packs.translation.analysis import contribution_tables, read_references

    references = read_references(reference) if reference else None
    return _tabled(contribution_tables(db.engine, study, relations, references))


@command("values levels", INSPECT, "audit values levels --domain topic --db mine.db")
def values_levels(
    db: Database = DATABASE,
    study: Study = None,
    domain: Annotated[str | None, Told("a column of the corpus (default: each corpus is one)", "ATTRIBUTE")] = None,
    relations: Annotated[Sequence[str], Told("the levels, two at least (default: of MGMT)", "A,B", commas=True)] = (),
) -> Reply:
    """The MGMT score of each system: the mean share of satisfied levels, by domain."""
    from audit.packs.translation.analysis import levels_tables

    return _tabled(levels_tables(db.engine, study, relations, domain))
