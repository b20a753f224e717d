"""Two versions of a system compared, and when that fails a build."""

from typing import Annotated, Literal

from audit.cli.console import Reply
from audit.cli.options import (
    DATABASE,
    INSPECT,
    Database,
    chosen,
    command,
    name_of,
    open_database,
    text,
)
from audit.reports.options import CompareOptions


@command(
    "compare",
    INSPECT,
    "two versions of a system: how much worse, what broke",
    "audit compare mine:classify@b498 mine:classify@5d95 --db mine.db",
    'audit compare mine:classify@b498 mine:classify@5d95 --fail-if "genuine rise > 2 points" --json',
)
def compare(
    old: Annotated[str, name_of("OLD", "a system as NAME@VERSION, or the beginning of a version")],
    new: Annotated[str, name_of("NEW", "another one")],
    db: Database = DATABASE,
    options: CompareOptions = CompareOptions(),
    fail_if: Annotated[
        list[str] | None,
        text('exit with 1 if this holds, such as "genuine rise > 2 points"; repeatable', "CONDITION"),
    ] = None,
    undecided: Annotated[
        Literal["pass", "fail"] | None, chosen("instead of status 4 where answers cannot decide a condition")
    ] = None,
) -> Reply:
    """Compares two versions of a system on the groups that apply to both. See comparing versions
    (docs/how-to/ci.md).

    The exit status is 1 where a condition of `--fail-if` holds, and 4 where answers cannot decide one.
    """
    from audit.reports.compare import Condition, compare_sections, status_of
    from audit.reports.compare import compare as compared
    from audit.reports.tables import printed

    conditions = tuple(Condition.read(condition) for condition in fail_if or ())
    document = compared(old, new, open_database(db), conditions, **vars(options))
    hint = ["", f"Next: audit sample --db {db}, which asks people about texts that tell systems apart"]
    waits = document["all"]["genuine"]["estimate"] is None
    return Reply(
        document, lambda shown: printed(compare_sections)(shown) + hint * bool(waits), status_of(document, undecided)
    )
