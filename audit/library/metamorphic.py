"""Tests of relations for pytest: each fails where a system violates its relation too often.

After GeMTest (Speth and Pretschner 2025), whose tests are systems with a decorator, with two differences: a test is a
relation and not a case, since texts are many and a few violations are no reason to stop a build; and outputs are kept,
so that a second run asks for new ones alone.
"""

import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from audit.errors import AuditError, NotInstalled, UnderWay
from audit.keys import canonical
from audit.relations.registry import configured, get_relation, with_lines
from audit.reports.compare import RelationCheck, check_relation, group_section
from audit.reports.tables import Section, to_text
from audit.reports.words import percent

if TYPE_CHECKING:
    import pytest

    from audit.library.study import Study


def metamorphic(
    corpus: Any,
    relations: Sequence[str],
    system: Any = None,
    *,
    version: str | None = None,
    max_violations: float = 0.0,
    **options: Any,
) -> Callable[[Callable[..., Any]], Callable[..., None]]:
    """Make a test of each relation: it fails where more than a share `max_violations` of the groups violates it.

    A name that stands for several relations (`all`, `default`, `family:NAME`) is one test. `version` is that of the
    decorated function as a system (default: a fingerprint of its code). `corpus` and `options` are those of
    `audit.run`; a file is looked for beside the test, too. With a `system` the decorated function is called when the
    relation has passed, with the `audit.reports.compare.RelationCheck` where it takes an argument. A failure shows the
    rate, and the genuine one where people have judged, and three groups. A relation that makes no group skips it.

    >>> @metamorphic(["A good film.", "A bad film."], ["MR3.1"], max_violations=0.05)
    ... def test_films(text):
    ...     return "negative" if "bad" in text else "positive"
    >>> test_films.__name__, test_films.pytestmark[0].args
    ('test_films', ('audit_relation', ['MR3.1']))
    """
    try:
        import pytest
    except ModuleNotFoundError:
        raise NotInstalled("tests of relations are for pytest, which is absent; pip install pytest") from None
    if isinstance(relations, str) or not list(relations):
        raise AuditError(f"relations={relations!r}: name one or more in a list; each is a test")
    if not 0 <= max_violations <= 1:
        raise AuditError(f"max_violations={max_violations!r}: must be a share from 0 to 1")
    if version is not None and system is not None:
        raise AuditError("version is that of the decorated function; a system of its own has its own")

    def decorate(function: Callable[..., Any]) -> Callable[..., None]:
        if version is not None:
            function.version = version  # type: ignore[attr-defined]
        tested, compared = function if system is None else system, set[str]()

        @pytest.mark.parametrize("audit_relation", list(relations))
        def test(audit_relation: str, request: "pytest.FixtureRequest") -> None:
            for check in _passed(request, corpus, tested, audit_relation, max_violations, options, compared):
                if system is not None:
                    function(*[check][: function.__code__.co_argcount])

        test.metamorphic = True  # type: ignore[attr-defined]
        test.__name__, test.__qualname__ = function.__name__, function.__qualname__
        test.__doc__, test.__module__ = function.__doc__, function.__module__
        return test

    return decorate


def _passed(
    request: "pytest.FixtureRequest",
    corpus: Any,
    system: Any,
    relation: str,
    most: float,
    options: dict[str, Any],
    compared: set[str],
) -> list[RelationCheck]:
    """Return the checks of a relation where all are passed; else the test fails, or is skipped. `compared` are the
    systems that were asked stored inputs again."""
    import pytest

    from audit.library.pytest_plugin import ACTIVE
    from audit.library.study import ASKED

    if not request.config.stash.get(ACTIVE, False):
        pytest.skip("the plug-in of audit is switched off (-p no:audit)")
    beside = request.path.parent / corpus if isinstance(corpus, str | Path) else None
    texts = beside if beside is not None and beside.is_file() else corpus
    mistake, checks, token = "", list[RelationCheck](), ASKED.set(compared)
    try:
        checks = _checks(texts, system, relation, {"store": request.getfixturevalue("audit_store")} | options)
    except AuditError as problem:
        mistake = str(problem)  # failing here would show the problem twice
    finally:
        ASKED.reset(token)
    over = [check for check in checks if (check.observed.value or 0) > most]
    if mistake or over:
        pytest.fail(mistake or "\n\n".join(_failure(check, most) for check in over), pytrace=False)
    if not checks:
        pytest.skip(f"{relation} makes no group of this corpus")
    return checks


def run_in_turn(*arguments: Any, **options: Any) -> "Study":
    """Return what `audit.run` returns, once no other process runs this study: workers of pytest share a database."""
    import audit

    while True:
        try:
            return audit.run(*arguments, **options)
        except UnderWay:
            time.sleep(0.2)


def _checks(corpus: Any, system: Any, relation: str, options: dict[str, Any]) -> list[RelationCheck]:
    """Return the check of a relation, or of each of those that a name stands for."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*no groups.*")  # which skips the test
        ran = (study := run_in_turn(corpus, system, [relation], **{"progress": False, **options})).ran
    assert ran is not None
    if ran.counts.first_error is not None:
        raise AuditError(f"{relation}: the system failed, first with: {ran.counts.first_error}")
    if len(ran.systems) != 1:
        raise AuditError(f"system has {len(ran.systems)} systems; a test has one")
    named = f"{ran.systems[0]}@{ran.versions[0]}"
    keys = [_key(ran.study.task, relation_name, options.get("parameters") or {}) for relation_name in ran.relations]
    checks = (check_relation(study.engine, ran.study.id, named, key) for key in keys)
    return [check for check in checks if check is not None]


def _key(task: str, relation: str, parameters: Mapping[str, Mapping[str, object]]) -> dict[str, str]:
    """The relation as it was run: a database that is kept may have other versions of it."""
    run, own = get_relation(task, relation), with_lines(task, parameters)
    run = configured(run, own[relation]) if relation in own else run
    return {"task": run.task, "name": run.name, "version": run.full_version, "params": canonical(dict(run.params))}


def _failure(check: RelationCheck, most: float) -> str:
    """What a failing test says: rates, and groups with texts and outputs."""
    lines = [
        f"{check.violated:,} of {check.groups:,} groups are violated, {check.observed.text(sign=' %')}; "
        f"at most {percent(most)} % is allowed"
    ]
    if check.genuine.low is not None:
        lines.append(f"genuine, by {check.judged:,} judged groups: {check.genuine.text(sign=' %')}")
    return to_text([Section(check.relation, [*lines, *map(group_section, check.worst)])])
