"""Which relations a run has on a corpus, and what is refused or remarked on before it begins."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib.util import find_spec

from audit.corpora.base import Corpus, languages_of
from audit.errors import EXTRAS, AuditError, NotInstalled, install_line
from audit.messages import counted, with_commas
from audit.relations import ANY, Relation, get_relation, relations_named
from audit.relations.composition import spread
from audit.relations.registry import configured, stands_for_several
from audit.relations.validity import Fitted, fitted_for, limited, limits_by_relation, measure_named
from audit.runner.options import ONCE, TIME_LIMIT, CommonOptions, RunOptions
from audit.runner.studies import Sampled
from audit.systems import get_system, systems_of
from audit.systems.base import System
from audit.tasks import Input, base_of, matches

Lacks = Callable[[Input], bool]  # Whether a system has no output for an input, which it knows without being run


def loaded(names: Iterable[str], limit: float | None = TIME_LIMIT, task: str | None = None) -> dict[str, System]:
    """Return the systems that these names mean, by spec. `limit` is the seconds that each of the user's own may take.
    Raises AuditError, which names the system and what it did; UnknownName, and what is wrong with a service's file."""
    return {spec: get_system(spec, limit, task) for name in names for spec in systems_of(name)}


def fitting(corpus: Corpus, options: CommonOptions = ONCE, alone: bool = True) -> list[Relation]:
    """Return the relations to run on a corpus: the named ones, or those of its task and unit that are default. `all`
    and `family:NAME` among the names mean those of several relations that fit the corpus. Raises AuditError for a
    relation that does not fit the corpus' unit or language, a parameter that it does not have, and what is no limit. A
    corpus that is not `alone` runs those of the names that are for its unit."""
    share = options.document_share if isinstance(options, RunOptions) and corpus.unit == "document" else None
    if alone and share is None and getattr(options, "document_share", None) is not None:
        raise AuditError(
            f"document_share is for documents, corpus {corpus.name} has {corpus.unit}s; leave it out",
            parameter="document_share",
        )
    task, names, languages = corpus.task, options.relations, languages_of(corpus)
    by_name = {get_relation(task, name).name for name in names or () if not stands_for_several(name)}
    changes = {get_relation(task, name).name: own for name, own in options.parameters.items()}
    limits, fit = limits_by_relation(options.valid), dict[str, Relation]()
    for relation in relations_named(task, names):
        if relation.name in changes:
            relation = configured(relation, changes[relation.name])
        relation = limited(relation, [*limits.get("", ()), *limits.get(relation.name, ())])
        of_unit = relation.unit in (corpus.unit, "any")
        if not of_unit and share is not None and (other := spread(relation, share)):
            relation, of_unit = other, True
        reads_it = any(map(relation.speaks, languages))
        if reads_it and of_unit:
            fit[relation.name] = relation
        elif relation.name in by_name and (alone or of_unit):
            problem = (
                f"relation {relation.name} reads {', '.join(relation.languages)}, corpus {corpus.name} is in "
                f"{corpus.language}; choose another relation, or say the language of your file with language=CODE"
            )
            if reads_it:
                half = "; document_share=0.5 makes it perturb half of a document's sentences"
                problem = (
                    f"relation {relation.name} is about a {relation.unit}, corpus {corpus.name} has {corpus.unit}s"
                )
                problem += half * (relation.unit == "sentence")
            raise AuditError(problem, parameter="document_share" if reads_it else "language")
    if not fit:
        named = f" in {', '.join(names)}" if names else ""
        raise AuditError(
            f"no relation of task {task}{named} fits corpus {corpus.name}, which has {corpus.unit}s in "
            f"{corpus.language}; language=CODE says which language your file is in, and a relation of your own is one "
            "function (audit.relation)",
            parameter="language",
        )
    return list(fit.values())


def fitting_all(corpora: Sequence[Corpus], options: CommonOptions = ONCE) -> list[list[Relation]]:
    """Return what is `fitting` for each of several corpora, sentences and documents among them. Raises what `fitting`
    raises, where a name, the document share, parameters or limits fit none of the corpora."""
    several = len({corpus.unit for corpus in corpora}) > 1
    relations = [fitting(corpus, options, not several) for corpus in corpora]
    ran = list(dict.fromkeys(relation.name for fitted in relations for relation in fitted))
    for name in options.parameters:
        _refuse_unused("parameters", get_relation(corpora[0].task, name).name, ran)
    check_limits_used(options.valid, ran)
    return relations


def check_limits_used(valid: Iterable[str], names: Sequence[str]) -> None:
    """Raise AuditError where a limit is of a relation that is not among those that are run."""
    for name in filter(None, limits_by_relation(valid)):
        _refuse_unused("valid", name, names)


def _refuse_unused(parameter: str, name: str, ran: Sequence[str]) -> None:
    if name not in ran:
        raise AuditError(
            f"{parameter}: {name} is not among the relations that are run: {with_commas(ran)}", parameter=parameter
        )


def refuse_misfits(corpus: Corpus, systems: Mapping[str, System], relations: Sequence[Relation]) -> None:
    """Raise AuditError for a system that does not fit the corpus, NotInstalled where something that is needed lacks."""
    languages = languages_of(corpus)
    for spec, system in systems.items():
        if not any(matches(corpus.task, task) for task in system.tasks):
            raise AuditError(
                f"system {spec} does {', '.join(system.tasks)}, not {corpus.task}; choose another system or task, or "
                f"say in one of your own what it does, as in classify.tasks = ({base_of(corpus.task)!r},) below it"
            )
        if not any(reads(system, language) for language in languages):
            raise AuditError(
                f"system {spec} reads {', '.join(system.languages)}, corpus {corpus.name} is in "
                f"{', '.join(languages)}; choose another system; one of your own says what it reads with `languages`"
            )
        if needs := system.needs():
            raise NotInstalled(f"system {spec} cannot run here; {needs}")
    for relation in relations:
        if absent := next((module for module in relation.needs if find_spec(module) is None), None):
            line = install_line(EXTRAS[absent]) if absent in EXTRAS else f"pip install {absent}"
            raise NotInstalled(f"relation {relation.name} needs {absent}, which is not installed; run: {line}")
        for limit in relation.limits:
            if lacking := measure_named(limit.measure).lacks():
                raise NotInstalled(
                    f"the limit on {limit.measure} cannot be looked at here; run: {lacking}, or leave the limit out",
                    parameter="valid",
                )
        relation.full_version  # noqa: B018  (asks its tagger or parser who it is: one that there is not is refused here)
    if needs := corpus.needs():
        raise NotInstalled(f"corpus {corpus.name} is not available; {needs}")
    for spec, system in systems.items():
        trained_on: Callable[[Input], bool] | None = getattr(system, "trained_on", None)
        if seen := [row.key for row in corpus.rows() if trained_on(row.input)] if trained_on else []:
            raise AuditError(
                f"system {spec} was trained on {counted(len(seen), 'text')} of corpus {corpus.name}, row {seen[0]} "
                "first: it would look better than it is; take them out of the corpus, or train it on others"
            )


def reads(system: System, language: str) -> bool:
    """Return whether a system reads texts in a language."""
    return system.languages == ANY or language in system.languages


def asked_once(system: System) -> bool:
    """Return whether a system says of itself that it always gives the same output for an input."""
    return getattr(system, "deterministic", False) is True


def lacks_of(system: System, languages: Sequence[str]) -> Lacks | None:
    """Return what a system has no output for, of a corpus in these languages: what it says itself, and texts in a
    language that it does not read. None where it has outputs for all."""
    own: Lacks | None = getattr(system, "lacks", None)
    if all(reads(system, language) for language in languages):
        return own
    return lambda item: (
        not all(reads(system, language) for language in item.languages[: len(item.texts)])
        or (own is not None and own(item))
    )


def remarks(
    corpus: Corpus, systems: Mapping[str, System], relations: Sequence[Relation], options: RunOptions
) -> Iterator[str]:
    """Yield what is to be known before a run: what systems and relations leave out, what systems say of themselves."""
    languages = languages_of(corpus)
    if options.repeats > 1 and (sure := [spec for spec, system in systems.items() if asked_once(system)]):
        yield f"asked once, since they say that they always give the same output: {', '.join(sure)}"
    for spec, system in systems.items():
        if unread := [language for language in languages if not reads(system, language)]:
            yield f"system {spec} reads {', '.join(system.languages)}; it is not run on texts in {', '.join(unread)}"
    yield from filter(None, dict.fromkeys(getattr(system, "remark", None) for system in systems.values()))
    for relation in relations:
        for language in languages:
            if lacking := relation.lacks(language):
                yield f"relation {relation.name} makes no groups of texts in {language}: {lacking}"


def fitted_to(sampled: Sampled, relations: Iterable[Relation]) -> Fitted:
    """Return what the measures of these relations' limits learn from the study's sources."""
    names = {limit.measure for relation in relations for limit in relation.limits}
    return fitted_for(names, lambda: [row.input for _, row in sampled.sources])
