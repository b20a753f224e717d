"""`audit doctor`: is this database sound, and what to do where it is not. Looks, and changes nothing."""

import os
import shlex
import shutil
import stat
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Select, and_, exists, func, select, text
from sqlmodel import SQLModel

from audit.annotation.accounts import GOLD, MODEL, ROLES
from audit.annotation.answers import is_counted, settled_answers, wrongly_filled
from audit.annotation.questions import question_key
from audit.errors import AuditError, first_line
from audit.false_satisfaction.questions import queue_difference
from audit.keys import uniform
from audit.relations import COUNTED, Outcome
from audit.sampling.designs import INFORMATIVE
from audit.store import group_id, open_store, pieces, table_of, tables
from audit.store.bulk import BATCH
from audit.store.engine import file_of
from audit.store.soundness import changed_values, foreign_objects, page_faults
from audit.tasks import Input

LEAST_SPACE = 1 << 30
"""Bytes that should be free: a backup of a large study, or a day of judging, and room to spare."""
_LARGE_LOG = 1 << 30
_OF_OTHERS = stat.S_IRWXO
_IDS = 10
"""Numbers of questions that a finding names."""
_STRANGE = "take out what is not audit's, if you know where it comes from; else restore a backup with `audit restore`"
_RESTORE = "restore a backup with `audit restore`, or ask on the project's page with what `audit doctor` prints as JSON"


@dataclass(frozen=True)
class Check:
    """One thing that was looked at. `advice` says what to do where it is not `ok`."""

    check: str
    ok: bool
    found: str
    advice: str | None = None


def doctor(where: str) -> list[Check]:
    """Every check of a database, in the order in which to mend things; the first ones are about its file.

    A check that cannot read what it needs is a finding, and the others go on.
    """
    file = file_of(where)
    checks = _file_checks(file) if file is not None and file.is_file() else []
    try:
        engine = open_store(where)
    except AuditError as problem:
        advice = "name another, or restore a backup with `audit restore`"
        return [*checks, Check("opens", False, str(problem), advice)]
    except Exception as problem:  # a damaged file may end in anything, and must not end the doctor
        return [*checks, Check("opens", False, _unreadable_text(problem), _RESTORE)]
    checks.append(Check("opens", True, f"tables of version {tables.SCHEMA_VERSION}"))
    try:
        for name, check in CHECKS.items():
            try:
                with engine.connect() as connection:
                    checks += check(connection, name)
            except Exception as problem:  # as above
                checks.append(Check(name, False, _unreadable_text(problem), _RESTORE))
    finally:
        engine.dispose()
    return checks


def _unreadable_text(problem: Exception) -> str:
    return f"cannot be read ({type(problem).__name__}: {first_line(problem)})"


def _file_checks(file: Path) -> list[Check]:
    """Checks that apply to a file only; they run before anything else opens it."""
    checks = [_check("file", page_faults(file), "whole", _RESTORE)]
    objects, values = foreign_objects(file), changed_values(file)
    checks.append(_check("tables", objects, "what audit makes, and nothing else", _STRANGE))
    checks.append(_check("values", values, "as audit wrote them", _RESTORE))
    log = file.with_name(file.name + "-wal")
    size = log.stat().st_size if log.exists() else 0
    if size > _LARGE_LOG:
        advice = (
            "stop all that has the database open, then run `audit doctor` again: the last one to close empties the log"
        )
        checks.append(Check("size of the log", False, f"{size / 2**30:.1f} GiB", advice))
    free, needed = shutil.disk_usage(file.absolute().parent).free, max(LEAST_SPACE, file.stat().st_size)
    checks.append(
        Check(
            "disk",
            free >= needed,
            f"{free / 2**30:.1f} GiB free",
            None
            if free >= needed
            else f"free space until {needed / 2**30:.1f} GiB are left: a full disk stops judging",
        )
    )
    if os.name == "posix":
        checks.append(_permissions(file))
    return checks


def _permissions(file: Path) -> Check:
    """Whether every user of the machine can read the file; sharing it with a group may be on purpose."""
    beside = (file.with_name(file.name + end) for end in ("", "-wal", "-shm"))
    open_ = [str(path) for path in beside if path.exists() and path.stat().st_mode & _OF_OTHERS]
    return Check(
        "permissions",
        not open_,
        "every user of this machine can read it, with the hashes of passwords" if open_ else "no other user's",
        shlex.join(["chmod", "o=", *open_]) if open_ else None,
    )


def _log(connection: Connection, name: str) -> list[Check]:
    """Whether a file has a write-ahead log, or a server's pages have checksums."""
    if connection.dialect.name == "postgresql":
        on = str(connection.execute(text("SHOW data_checksums")).scalar()) == "on"
        # No fault of the database: whoever runs the server decides.
        return [Check("checksums of the server", True, "on" if on else "off, so that it does not see flipped bits")]
    mode = str(connection.execute(text("PRAGMA journal_mode")).scalar())
    faults = [] if mode == "wal" else [f"journal mode is {mode}, so that readers block writers"]
    return [_check(name, faults, "on", "put the file on a local disk: network file systems have no write-ahead log")]


def _keys(connection: Connection, name: str) -> list[Check]:
    """Inputs, questions and groups are named by their content, and sources' random numbers come from theirs."""
    input_, source, study = (table_of(model) for model in (tables.Input, tables.Source, tables.Study))
    group, question = table_of(tables.Group), table_of(tables.Question)
    misfits = Counter[str]()
    keys: dict[int, bytes] = {}
    columns = (input_.c.id, input_.c.key, input_.c.texts, input_.c.languages)
    for id, key, texts, languages in _rows(connection, select(*columns)):
        keys[id] = bytes(key)
        misfits["inputs"] += Input.stored(texts, languages).key != keys[id]
    about = (question.c.task, question.c.kind, question.c.input_id, question.c.output, question.c.key)
    for task, kind, input_id, output, key in _rows(connection, select(*about).where(question.c.kind != "group")):
        misfits["questions"] += question_key(task, kind, keys.get(input_id, b""), output) != bytes(key)
    query = select(
        group.c.id, group.c.source_id, group.c.relation_id, group.c.system_id, group.c.study_id, source.c.study_id
    )
    for id, *parts, study_id, theirs in _rows(connection, query.join(source, source.c.id == group.c.source_id)):
        misfits["groups"] += group_id(*parts) != id or study_id != theirs
    drawn = select(study.c.seed, source.c.row, source.c.u).join(study, study.c.id == source.c.study_id)
    for seed, row, u in _rows(connection, drawn):
        misfits["random numbers of sources"] += uniform(seed, row) != u
    faults = [f"{number:,} {what} do not fit their content" for what, number in misfits.items() if number]
    return [_check(name, faults, "inputs, questions, groups and random numbers fit their content", _RESTORE)]


def _rows(connection: Connection, query: Any) -> Iterator[Any]:
    """The rows of a query, read in batches."""
    yield from connection.execution_options(stream_results=True, yield_per=BATCH).execute(query)


def _queue(connection: Connection, name: str) -> list[Check]:
    """People are asked what drawn groups wait for, in the order in which these want it, and nothing else."""
    queue = queue_difference(connection)
    faults = []
    if queue.absent:
        faults.append(f"{queue.absent:,} questions that drawn groups wait for were never made")
    if queue.misplaced:
        faults.append(
            f"{_question_numbers(queue.misplaced)} that drawn groups wait for: not asked, or not in their place"
        )
    if queue.idle:
        faults.append(f"{_question_numbers(queue.idle)} asked that no drawn group waits for")
    if queue.checks:
        faults.append(f"{_question_numbers(queue.checks)} wrong about whether their agreed answer waits for a check")
    advice = "run `audit doctor --rebuild`, which brings the queue up to date"
    return [_check(name, faults, "people are asked what drawn groups wait for", advice)]


def _question_numbers(ids: Sequence[int]) -> str:
    """The number of questions, with the ids of the first ones.

    >>> _question_numbers([4, 7]), _question_numbers(range(1, 13))
    ('2 questions (4, 7)', '12 questions (1, 2, 3, 4, 5, 6, 7, 8, 9, 10 ...)')
    """
    more = " ..." if len(ids) > _IDS else ""
    return f"{len(ids):,} questions ({', '.join(map(str, ids[:_IDS]))}{more})"


def _references(connection: Connection, name: str) -> list[Check]:
    """Rows that refer to nothing: declared foreign keys, and the group ids that have none."""
    faults = []
    for table in SQLModel.metadata.sorted_tables:
        for column in table.columns:
            targets = [foreign.column for foreign in column.foreign_keys]
            if column.name == "group_id" and not targets:
                targets = [table_of(tables.Group).c.id]
            for target in targets:
                other = target.table.alias("referred")
                missing = and_(column.is_not(None), ~exists().where(other.c[target.name] == column))
                place = f"{{number:,}} in {table.name}.{column.name}"
                faults += _faults(connection, select(column).where(missing), place)
    return [_check(name, faults, "every row refers to something that is there", _RESTORE)]


def _outputs(connection: Connection, name: str) -> list[Check]:
    """Counted members of drawn groups whose system has no output for them: such a group cannot be settled."""
    draw, member, output = table_of(tables.Draw), table_of(tables.Member), table_of(tables.Output)
    has_output = exists().where(output.c.system_id == draw.c.system_id, output.c.input_id == member.c.input_id)
    drawn = draw.join(member, member.c.group_id == draw.c.group_id)
    query = select(member.c.group_id).select_from(drawn).where(member.c.role.in_(COUNTED), ~has_output)
    faults = _faults(connection, query, "{number:,} members of drawn groups have none")
    return [_check(name, faults, "every member of a drawn group has one", "repeat `audit run`, which makes them")]


def _draws(connection: Connection, name: str) -> list[Check]:
    """Drawn groups are satisfied, and ranks are 1, 2, 3 ... without a gap: a cell's, or those of a relation where its
    systems share one list."""
    draw, verdict, sample = table_of(tables.Draw), table_of(tables.Verdict), table_of(tables.Sample)
    satisfied = exists().where(
        verdict.c.group_id == draw.c.group_id,
        verdict.c.system_id == draw.c.system_id,
        verdict.c.outcome == int(Outcome.SATISFIED),
    )
    shares_lists = exists().where(sample.c.id == draw.c.sample_id, sample.c.design == INFORMATIVE)
    relation = (draw.c.sample_id, draw.c.relation_id)
    gap = (func.min(draw.c.rank) != 1) | (func.max(draw.c.rank) != func.count(draw.c.rank.distinct()))
    own = select(*relation, draw.c.system_id).where(~shares_lists).group_by(*relation, draw.c.system_id).having(gap)
    shared = select(*relation).where(shares_lists).group_by(*relation).having(gap)
    faults = [
        *_faults(connection, select(draw.c.rank).where(~satisfied), "{number:,} drawn groups are not satisfied"),
        *_faults(connection, own, "{number:,} cells have gaps in their ranks"),
        *_faults(connection, shared, "{number:,} lists of relations have gaps in their ranks"),
    ]
    return [_check(name, faults, "drawn groups are satisfied and ranked without gaps", "repeat `audit sample`")]


def _chains(connection: Connection, name: str) -> list[Check]:
    """A judgement supersedes an earlier one of the same annotator on the same question, and no two the same one."""
    judgement = table_of(tables.Judgement)
    earlier = judgement.alias("earlier")
    mismatched = (earlier.c.question_id != judgement.c.question_id) | (
        earlier.c.annotator_id != judgement.c.annotator_id
    )
    late = (earlier.c.id >= judgement.c.id) | (earlier.c.round != judgement.c.round)
    joined = judgement.join(earlier, earlier.c.id == judgement.c.supersedes)
    superseding = select(judgement.c.id).select_from(joined).where(mismatched | late)
    column = judgement.c.supersedes
    twice = select(column).where(column.is_not(None)).group_by(column).having(func.count() > 1)
    faults = [
        *_faults(connection, superseding, "{number:,} judgements supersede what they cannot"),
        *_faults(connection, twice, "{number:,} judgements are superseded twice"),
    ]
    return [_check(name, faults, "judgements supersede their own annotator's", _RESTORE)]


def _votes(connection: Connection, name: str) -> list[Check]:
    """Nobody's answer to a question counts twice."""
    judgement, annotator = table_of(tables.Judgement), table_of(tables.Annotator)
    twice = (
        select(judgement.c.question_id)
        .join(annotator, annotator.c.id == judgement.c.annotator_id)
        .where(is_counted(judgement), annotator.c.role.in_((*ROLES, GOLD, MODEL)))
        .group_by(judgement.c.question_id, judgement.c.annotator_id, judgement.c.round)
        .having(func.count() > 1)
    )
    faults = _faults(connection, twice, "{number:,} questions have two answers of the same annotator that count")
    return [_check(name, faults, "nobody's answer to a question counts twice", _RESTORE)]


def _answers(connection: Connection, name: str) -> list[Check]:
    """The stored answers are those that follow from the history."""
    question, answer = table_of(tables.Question), table_of(tables.Answer)
    ids = [int(row[0]) for row in connection.execute(select(question.c.id).order_by(question.c.id))]
    differing = 0
    for piece in pieces(ids):
        query = select(answer.c.question_id, answer.c.origin, answer.c.allowed).where(answer.c.question_id.in_(piece))
        stored = {(int(row[0]), str(row[1])): sorted(row[2]) for row in connection.execute(query)}
        rebuilt = {key: sorted(allowed) for key, allowed in settled_answers(connection, piece).items()}
        differing += len({key[0] for key in stored.keys() | rebuilt.keys() if stored.get(key) != rebuilt.get(key)})
    faults = [f"{differing:,} of {len(ids):,} questions have another answer than their history"] if differing else []
    if misfiled := wrongly_filled(connection):
        faults.append(f"{misfiled:,} questions are wrong about whether they have all their votes")
    return [_check(name, faults, "as the history has them", "run `audit doctor --rebuild`, which writes them anew")]


def _leases(connection: Connection, name: str) -> list[Check]:
    """Expired leases do no harm: the next annotator who asks for a question takes them back."""
    lease, annotator = table_of(tables.Lease), table_of(tables.Annotator)
    total = connection.execute(select(func.count()).select_from(lease)).scalar() or 0
    query = select(func.count()).select_from(lease).where(lease.c.expires_at < tables.now())
    expired = connection.execute(query).scalar() or 0
    gone = select(func.count()).select_from(lease.join(annotator, annotator.c.id == lease.c.annotator_id))
    disabled = connection.execute(gone.where(annotator.c.disabled.is_(True))).scalar() or 0
    summary = f"{total:,} held, {expired:,} of them expired, which the next annotator takes back"
    if disabled:
        summary += f"; {disabled:,} of disabled accounts, until they expire"
    return [Check(name, True, summary)]


def _faults(connection: Connection, rows: Select[Any], sentence: str) -> list[str]:
    """The sentence with the number of these rows, if there are any."""
    number = connection.execute(select(func.count()).select_from(rows.subquery())).scalar_one()
    return [sentence.format(number=number)] if number else []


def _check(name: str, faults: Iterable[str], good: str, advice: str) -> Check:
    summary = "; ".join(faults)
    return Check(name, not summary, summary or good, advice if summary else None)


CHECKS: dict[str, Callable[[Connection, str], list[Check]]] = {
    "write-ahead log": _log,
    "references": _references,
    "keys": _keys,
    "outputs": _outputs,
    "draws": _draws,
    "history": _chains,
    "votes": _votes,
    "answers": _answers,
    "queue": _queue,
    "leases": _leases,
}
