"""Reports: rates and rankings, comparisons, plans, agreement, quality, follow-ups, recorded chains, values."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Any, Literal

from audit.cli.console import Reply, following, say
from audit.cli.options import DATABASE, INSPECT, START, STUDY, Columns, Database, Db, Html, Read, Study, Task, command
from audit.cli.options import options_in_words as typed
from audit.errors import AuditError
from audit.options import Told
from audit.reports.options import CoefficientOptions, CompareOptions, FollowUpOptions, ReportOptions, StandingOptions
from audit.runner.options import pairs_of
from audit.sampling.options import FRONT, WINNER, PlanOptions

Full = Annotated[bool, Told("all tables, notes and the signature, not the first lines alone")]
Independent = Annotated[bool, Told("as if scores of one sentence were independent, as in the study")]
OwnDatabase = Annotated[Db | None, Told("the database (default: audit.db)", "PATH|URL")]
Ratings = Annotated[Read | None, Told("a table item,annotator,label in place of a database", "FILE")]
Chosen = Annotated[Sequence[str], Told("only these (default: all)", "A,B", commas=True)]


@command("report", START, "audit report", "audit report --answers people --slice length --html report.html")
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
    return _reported(study_report(db.engine, **vars(options)), html, language, full)


def _reported(report: Any, html: str | None = None, language: str = "en", full: bool = False) -> Reply:
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

    return _reported(rerank(file, **vars(options)), html, full=full)


@command("compare", INSPECT, 'audit compare mine:classify@b498 mine:classify@5d95 --fail-if "genuine rise > 2 points"')
def compare(
    old: Annotated[str, Told("a system as NAME@VERSION, or the beginning of a version", "OLD", argument=True)],
    new: Annotated[str, Told("another one", "NEW", argument=True)],
    db: Database = DATABASE,
    options: CompareOptions = CompareOptions(),
    fail_if: Annotated[Sequence[str], Told("exit with 1 if this holds; repeatable", "CONDITION")] = (),
    undecided: Annotated[Literal["pass", "fail"] | None, Told("in place of status 4")] = None,
) -> Reply:
    """Two versions of a system: how much worse, what broke.

    See comparing versions (docs/how-to/ci.md). The exit status is 1 where a condition of `--fail-if` holds, and 4
    where answers cannot decide one."""
    from audit.reports.compare import compare as compared
    from audit.reports.compare import compare_sections, status_of

    document = compared(old, new, db.engine, fail_if, **vars(options))
    after = ("sample", "--db", db) if document["all"]["genuine"]["estimate"] is None else ()
    return Reply(document, None, after, status_of(document, undecided), compare_sections)


@command("plan", STUDY, "audit plan", "audit plan --decide relations --pace 6 --price 20")
def plan(db: Database = DATABASE, study: Study = None, options: PlanOptions = PlanOptions(decide=WINNER)) -> Reply:
    """How many texts and answers a decision will likely take."""
    from audit.reports.progress import plan, plan_sections

    document = plan(db.engine, options, study)
    words = typed(options, FRONT, "base", "share", "decide", "eps", "annotators")
    words += ["--study", str(study)] if study is not None else []
    document["command"] = following("sample", "--db", db, *words)
    return Reply(document, sections=plan_sections)


# Agreement and quality.


@command("agreement", INSPECT, "audit agreement --by relation", "audit agreement --ratings ours.csv --order bad,good")
def agreement(
    db: OwnDatabase = None,
    ratings: Ratings = None,
    columns: Columns = (),
    about: Annotated[Literal["labels", "false", "groups", "names", "words"], Told("what people agree on")] = "labels",
    by: Annotated[Literal["relation", "system", "language", "pair"] | None, Told("for each of these, too")] = None,
    options: CoefficientOptions = CoefficientOptions(),
    repeats: Annotated[Literal["first", "last", "majority"] | None, Told("of an item rated twice, which")] = None,
    task: Task = None,
) -> Reply:
    """How far annotators agree: percent, kappa, alpha, AC1.

    See agreement (docs/reference/agreement.md). From the judgements of a database, or from a table of ratings. About
    labels; whether drawn groups are false; whether relations hold in groups; or names or words of entities."""
    from audit.reports.agreement import agreement_report, agreement_sections
    from audit.reports.ratings import attributed, of_spans, once, opinions, read_ratings, stored_ratings

    column = None if by == "pair" else by
    parts = None
    if ratings is not None:
        _refuse_both(db, task, about != "labels")
        rated = once(read_ratings(ratings, [column] if column else [], pairs_of([*columns])), repeats, ratings)
    else:
        engine = (db or DATABASE).engine
        kind: Any = "group" if about == "groups" else None
        rated = opinions(engine, task) if about == "false" else stored_ratings(engine, task, kind)
        if about in ("names", "words"):
            rated = of_spans(rated, engine, "name" if about == "names" else "word")
        parts = attributed(engine, column) if column is not None and about != "false" else None
    if column is not None and parts is None:
        parts = rated.frame[["item", column]].set_axis(["item", "value"], axis=1).drop_duplicates()
    return Reply(agreement_report(rated, by=by, parts=parts, **vars(options)), sections=agreement_sections)


def _refuse_both(*of_database: object) -> None:
    if any(of_database):
        raise AuditError("--db, --task and --about are for a database; leave them or --ratings out")


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

    if not 0 <= draws <= 100_000:
        raise AuditError(f"--draws {draws}: must be from 0 to 100000")
    if ratings is not None:
        _refuse_both(db, task)
        rated = read_ratings(ratings, columns=pairs_of([*columns]))
    else:
        rated = stored_ratings((db or DATABASE).engine, task)
    return Reply(annotators_report(rated, draws), sections=annotators_sections)


@command("quality", INSPECT, "audit quality --about groups --json")
def quality(
    task: Task = None,
    about: Annotated[Literal["inputs", "pairs", "groups"] | None, Told("of these questions alone")] = None,
    db: Database = DATABASE,
) -> Reply:
    """How well each annotator judges (docs/how-to/quality.md)."""
    from audit.reports.quality import judging_record, quality_report, quality_sections

    kind: Any = about and about.removesuffix("s")
    return Reply(quality_report(judging_record(db.engine), task, kind), sections=quality_sections)


@command("follow-ups", INSPECT, "audit follow-ups MR1.4 --corpus imdb", 'audit follow-ups --valid "replaced<=0.2"')
def follow_ups(
    name: Annotated[str | None, Told("show what this relation makes", "NAME", argument=True)] = None,
    corpus: Annotated[str | None, Told("of these texts (default: the database's)", "NAME|FILE")] = None,
    task: Annotated[str | None, Told("the task (default: the corpus's)", "TASK")] = None,
    show: Annotated[int, Told("groups that are shown of it", "N")] = 20,
    db: Database = DATABASE,
    study: Study = None,
    options: FollowUpOptions = FollowUpOptions(),
) -> Reply:
    """How far follow-ups are from their sources, by relation.

    And how many groups limits (`audit run --valid`) have rejected, and how many others would. No system is asked:
    where a relation looks at outputs, gold labels stand for them, and labels at random for those of sentences. See
    validity (docs/reference/validity.md)."""
    from audit.corpora import get_corpus
    from audit.exchange.follow_ups import follow_ups_report, made_lines, made_of, stored_rows
    from audit.relations import get_relation

    if name is None:
        if corpus is not None:
            raise AuditError("name a relation beside --corpus: audit follow-ups NAME --corpus NAME|FILE")
        return _tabled(follow_ups_report(db.engine, study, **vars(options)))
    if corpus is not None:
        texts = get_corpus(corpus, task)
        task, rows = task or texts.task, list(texts.rows())
    else:
        task, rows = stored_rows(db.engine, study)
    groups, tried = made_of(get_relation(task, name), rows, show)
    return Reply(groups, made_lines(name, groups, tried))


# Translation: recorded chains, and what relations compared.


@command("pivots", INSPECT, "audit pivots pivot_runs.csv --targets zh,ja --systems google,bing --independent --json")
def pivots(
    file: Annotated[Read, Told("the CSV", "FILE", argument=True)],
    score: Annotated[
        Literal["consistency", "levenshtein", "bleu", "cosine"], Told("consistency is the mean of the others")
    ] = "consistency",
    threshold: Annotated[float, Told("a pair whose score is at least this is satisfied", "S")] = 0.8,
    systems: Chosen = (),
    targets: Chosen = (),
    source_language: Annotated[str, Told("of the sources: pairs toward it are round trips, apart", "CODE")] = "en",
    independent: Independent = False,
) -> Reply:
    """Recorded pivot chains of translation: scores, means, tests.

    As in the MCMT study (docs/reference/translation-relations.md)."""
    from audit.packs.translation.analysis import choose, pivots_tables, read_chains

    chains = choose(read_chains(file), system=systems or None, target=targets or None)
    own: dict[str, Any] = {"threshold": threshold, "source_language": source_language, "independent": independent}
    return _tabled(pivots_tables(chains, score=score, **own))


def _tabled(tables: Any) -> Reply:
    return Reply(tables.document(), tables.lines())


_USES = {"bounds": "at", "means": "independent", "levels": "domain"}
"""Which option of its own each way to look at values has; the others have `reference`."""


@command("values", INSPECT, "audit values bounds --at 0.5,0.6,0.7", "audit values correlate --reference parallel.csv")
def values(
    what: Annotated[Literal["bounds", "means", "correlate", "contribute", "levels"], Told("see above", argument=True)],
    db: Database = DATABASE,
    study: Study = None,
    relations: Annotated[Sequence[str], Told("these, named as in the report; of means one", "A,B", commas=True)] = (),
    at: Annotated[Sequence[float], Told("other bounds (default: 0, 0.1, ... 1)", "0.5,0.6", commas=True)] = (),
    reference: Annotated[Read | None, Told("references: source,reference,target_language", "FILE")] = None,
    domain: Annotated[str | None, Told("a column of the corpus (default: each corpus is one)", "ATTRIBUTE")] = None,
    independent: Independent = False,
) -> Reply:
    """What relations compared: bounds, means, references, levels.

    A verdict keeps the value that was compared with the relation's bound (docs/reference/translation-relations.md).
    `bounds`: observed rates at other bounds, without running again. `means`: least-squares means by language and
    system, and which differ. `correlate`: do values go with BLEU, METEOR and 1 - WER against references, over
    sentences, and over systems from five on. `contribute`: what each relation adds to the others (tables 2, 5 and 6 of
    the MGMT study). `levels`: the MGMT score of each system, the mean share of satisfied levels, by domain."""
    from audit.packs.translation import analysis

    settings = {"at": at, "reference": reference, "domain": domain, "independent": independent}
    if unused := [name for name, value in settings.items() if value and name != _USES.get(what, "reference")]:
        raise AuditError(f"--{unused[0]} is not for {what}; leave it out")
    references = analysis.read_references(reference) if reference else None
    match what:
        case "bounds":
            return _tabled(analysis.bounds_tables(db.engine, study, relations, at or analysis.STEPS))
        case "means" if len(relations) == 1:
            return _tabled(analysis.means_tables(db.engine, relations[0], study, independent=independent))
        case "correlate" if references is not None:
            return _tabled(analysis.correlation_tables(db.engine, references, study, relations))
        case "contribute":
            return _tabled(analysis.contribution_tables(db.engine, study, relations, references))
        case "levels":
            return _tabled(analysis.levels_tables(db.engine, study, relations, domain))
    raise AuditError("values means is of one relation, --relations NAME, and values correlate needs --reference FILE")
