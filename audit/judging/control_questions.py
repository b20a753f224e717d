"""Control questions, whose answers are known beforehand: for training, and hidden among others to measure annotators.
They settle nothing, and a question that still awaits answers cannot become one."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, Engine, Row, Select, case, exists, func, select

from audit.errors import AuditError, Refused
from audit.files import read_table, refuse_bad_rows, unstorable
from audit.judging.accounts import Account, note, reading_as_manager, writing_as_manager
from audit.judging.answers import WITHDRAWN, is_counted
from audit.judging.asides import BACK, COMMENT, readable
from audit.judging.asking import gold_labels, make_questions
from audit.judging.order import FIRST, Place
from audit.judging.settings import JudgingSettings
from audit.keys import normal_text, uniform
from audit.messages import message
from audit.store import input_ids, rows_among, tables, upsert
from audit.store.bulk import LIMIT
from audit.store.core import answer, aside, draw, input_table, judgement, known, member, question
from audit.tasks import Input, get_task, label_reader, lists_answers, takes_several, text_columns
from audit.tasks.questions import ABOUT_OUTPUTS, SCALES, UNSURE, Subject, asks_pairs, labels_of
from audit.text.languages import is_code

PASS, REPEAT, KNOWN = 0, 2, 3
"""Passes of judgements beside ordinary ones (`FIRST`): training, hidden repeats, hidden control questions."""
TRAINING, GOLD = "training", "gold"
PURPOSES = (TRAINING, GOLD)
MOST = 1_000  # Questions that one call picks at most
FILE_COLUMNS = ("text", "text_b", "language", "answer", "explanation")


@dataclass(frozen=True)
class KnownText:
    """A text (or two that are compared), its right answers, and what people read after they answered in training."""

    input: Input
    allowed: tuple[str, ...]
    explanation: str = ""


def read_known(
    path: str | Path, task: str = "sentiment", language: str = "en", content: bytes | None = None
) -> list[KnownText]:
    """Read texts with their answers from a table; several right answers of a text have `|` between them.

    `language` is that of rows without one; `content` is what the file holds, where it was read already. Raises BadFile
    or BadRow (file, line, reason) for what cannot be used.

    >>> read_known("own.csv", content=b"text,answer\\nA fine film.,positive|neutral")[0].allowed
    ('positive', 'neutral')
    """
    texts, bad = text_columns(get_task(task).texts), list[tuple[int, str]]()
    table = read_table(path, (*texts, "answer"), FILE_COLUMNS[2:], content=content, bad=bad)
    labels, spelled = labels_of(task, "input"), label_reader(get_task(task))
    several = takes_several([task]) or not lists_answers(get_task(task))
    by_text: dict[Input, tuple[int, KnownText]] = {}
    for line, row in zip(table.index, table.to_dict("records"), strict=True):
        code, explanation = row.get("language") or language, row.get("explanation", "")
        written = [label.strip() for label in row["answer"].split("|") if label.strip()]
        allowed = tuple(dict.fromkeys((spelled(label) if several else None) or label for label in written))
        unknown = [label for label in allowed if label not in labels]
        item = Input.of(*(normal_text(row[name]) for name in texts), language=code)
        if what := unstorable("".join(row.values())):
            bad.append((line, message("corpus_file.unstorable", column="text", what=what)))
        elif not allowed:
            bad.append((line, message("file.empty_column", column="answer")))
        elif unknown:
            bad.append((line, message("wrong.choice", what="answer", value=unknown[0], allowed=labels)))
        elif set(allowed) == set(labels):
            bad.append((line, message("known.every_label")))
        elif not is_code(code):
            bad.append((line, message("wrong.language", language=code)))
        elif len(explanation) > COMMENT:
            bad.append((line, message("known.explanation_long", most=COMMENT)))
        elif item in by_text:
            bad.append((line, message("known.text_again", line=by_text[item][0])))
        by_text[item] = line, KnownText(item, allowed, explanation)
    refuse_bad_rows(path, bad, len(table) + len(bad))
    return [text for _, text in by_text.values()]


# Managing them: for a manager (`by`, an account id; else NotAllowed) or the owner of the database (None).


class KnownQuestion(NamedTuple):
    """A control question with its known answer, and how many judgements were given to it in its pass."""

    id: int
    purpose: str
    explanation: str
    task: str
    kind: str
    output: str | None
    judged: int
    texts: tuple[str, ...]
    languages: tuple[str, ...]
    allowed: tuple[str, ...]


class Added(NamedTuple):
    """How many control questions a call added, and how many it changed; where they were picked, from how many
    candidates, and how many of each label."""

    added: int
    changed: int
    candidates: int = 0
    labels: Mapping[str, int] = MappingProxyType({})


def known_questions(engine: Engine, *, by: int | None = None) -> list[KnownQuestion]:
    """List the control questions by purpose, oldest first."""
    of_purpose = case((known.c.purpose == TRAINING, PASS), else_=KNOWN)
    answered = (judgement.c.question_id == known.c.question_id, judgement.c.round == of_purpose)
    judged = select(func.count()).where(*answered, judgement.c.answer != WITHDRAWN).correlate(known).scalar_subquery()
    same = (known.c.question_id, known.c.purpose, known.c.explanation, question.c.task, question.c.kind)
    query = (
        select(*same, question.c.output, judged, input_table.c.texts, input_table.c.languages, known.c.allowed)
        .join(question, question.c.id == known.c.question_id)
        .join(input_table, input_table.c.id == question.c.input_id)
        .order_by(known.c.purpose.desc(), known.c.at, known.c.question_id)
    )
    with reading_as_manager(engine, by) as connection:
        return [
            KnownQuestion(*row[:7], tuple(row.texts), tuple(row.languages.split(",")), tuple(row.allowed))
            for row in connection.execute(query)
        ]


def add_known(
    engine: Engine, purpose: str, items: Sequence[KnownText], *, task: str = "sentiment", by: int | None = None
) -> Added:
    """Make control questions of these texts; one that exists gets the new purpose, answer and explanation. Raises
    AuditError for an unknown purpose, label or task, and for a task that asks about outputs; Refused where a text still
    awaits answers."""
    with writing_as_manager(engine, by) as connection:
        if not items:
            raise AuditError(message("known.no_text"))
        name = get_task(task).name
        if asks_pairs(name):
            raise AuditError(message("known.asks_pairs", task=name))
        ids = input_ids(connection, [item.input for item in items])
        by_subject: dict[Subject, KnownText] = {(name, ids[item.input.key], None): item for item in items}
        questions, _ = make_questions(connection, by_subject)
        rows = {questions[subject]: (item.allowed, item.explanation) for subject, item in by_subject.items()}
        return _store(connection, purpose, rows, by)


def pick_known(engine: Engine, purpose: str, count: int, seed: int = 0, *, by: int | None = None) -> Added:
    """Pick up to `count` control questions that cost no sample anything, as many of each label as there are: texts of
    sources with one gold label, and questions that an adjudicator settled, if no drawn group has any part of them and
    no answer is awaited. Which depends on `seed` and the texts alone. Raises AuditError where there is none."""
    with writing_as_manager(engine, by) as connection:
        return pick(connection, purpose, count, seed, by)


def pick(connection: Connection, purpose: str, count: int, seed: int, by: int | None) -> Added:
    """`pick_known` as a part of a transaction that has asked for the role."""
    if not 1 <= count <= MOST:
        raise AuditError(message("known.bad_count", count=count, most=MOST))
    if not (candidates := _candidates(connection)):
        raise AuditError(message("known.nothing_to_pick"))
    keys = select(input_table.c.id, input_table.c.key)
    inputs = sorted({id for _, id, _ in candidates})
    key_of = {row.id: bytes(row.key).hex() for row in rows_among(connection, keys, input_table.c.id, inputs)}

    def place(subject: Subject) -> float:
        task, input_id, output = subject
        return uniform("known", seed, task, key_of[input_id], *(() if output is None else (output,)))

    strata: dict[str, list[Subject]] = {}
    for subject in sorted(candidates, key=place):
        strata.setdefault("|".join(sorted(candidates[subject])), []).append(subject)
    turns = zip_longest(*(strata[labels] for labels in sorted(strata)))
    chosen = [subject for turn in turns for subject in turn if subject is not None][:count]
    questions, _ = make_questions(connection, chosen)
    added = _store(connection, purpose, {questions[about]: (sorted(candidates[about]), "") for about in chosen}, by)
    labels = Counter("|".join(sorted(candidates[subject])) for subject in chosen)
    return added._replace(candidates=len(candidates), labels=dict(sorted(labels.items())))


def _candidates(connection: Connection) -> dict[Subject, frozenset[str]]:
    """What could be picked, with its allowed labels."""
    allowed: dict[Subject, frozenset[str]] = {}
    for (task, input_id), golds in gold_labels(connection).items():
        labels = {gold for gold in golds if gold in get_task(task).labels}
        if len(labels) == 1 and not asks_pairs(task):
            allowed[task, input_id, None] = frozenset(labels)
    subject = (question.c.task, question.c.input_id, question.c.output)
    adjudicated = select(*subject, answer.c.allowed).join(answer, answer.c.question_id == question.c.id)
    adjudicated = adjudicated.where(question.c.kind.in_(ABOUT_OUTPUTS), answer.c.origin == "adjudicated")
    allowed |= {(task, id, output): frozenset(labels) for task, id, output, labels in connection.execute(adjudicated)}
    drawn = select(member.c.input_id).join(draw, draw.c.source_id == member.c.group_id // LIMIT**2).distinct()
    drawn_inputs = set(connection.execute(drawn).scalars())
    wanted = question.c.priority.is_not(None) | question.c.id.in_(select(known.c.question_id))
    unavailable = {tuple(row) for row in connection.execute(select(*subject).where(wanted))}
    return {key: labels for key, labels in allowed.items() if key[1] not in drawn_inputs and key not in unavailable}


def _store(
    connection: Connection, purpose: str, rows: Mapping[int, tuple[Sequence[str], str]], by: int | None
) -> Added:
    """Store question id -> (allowed labels, explanation), if all can be."""
    if purpose not in PURPOSES:
        raise AuditError(message("wrong.choice", what="purpose", value=purpose, allowed=PURPOSES))
    changed, joined = 0, question.outerjoin(known, known.c.question_id == question.c.id)
    stored = select(question, known.c.purpose).select_from(joined)
    for row in rows_among(connection, stored, question.c.id, sorted(rows)):
        labels = labels_of(row.task, row.kind)
        if unknown := sorted(label for label in rows[row.id][0] if label not in labels):
            raise AuditError(message("wrong.choice", what="answer", value=unknown[0], allowed=labels))
        if row.priority is not None and not row.filled:
            raise Refused(message("known.waited_for", id=row.id))
        changed += row.purpose is not None
    columns = {"purpose": purpose, "annotator_id": by, "at": tables.now()}
    new = [
        {"question_id": id, "allowed": sorted(set(allowed)), "explanation": explanation.strip()} | columns
        for id, (allowed, explanation) in rows.items()
    ]
    upsert(connection, tables.Known, new)
    note(connection, by, "known added", purpose=purpose, added=len(rows) - changed, changed=changed)
    return Added(len(rows) - changed, changed)


# Hidden questions: control questions, and repeats of what the same person has answered before.
#
# They measure how well somebody judges while they judge, and cannot be told from the others: they are leased, shown and
# counted for the annotator as others are. They are never votes, for only pass 1 is part of an answer. Whether one comes
# next depends only on the annotator and on how much they have done, so that a reload changes nothing.


def hidden_question(
    connection: Connection, account: Account, settings: JudgingSettings, ordinary: Row[Any], place: Place
) -> tuple[Row[Any], int] | None:
    """Return the hidden question that comes in place of the `ordinary` one, of its task, kind and if possible language,
    and its pass; None: none does. None is asked for among the versions of a text: what chance had chosen there comes at
    their end."""
    if not settings.hides:
        return None
    # How often they answered, skipped or flagged, which only ever grows, and when they last skipped or flagged.
    own = (judgement.c.annotator_id == account.id, judgement.c.round >= FIRST, judgement.c.answer != WITHDRAWN)
    judged = select(func.count()).where(*own).scalar_subquery()
    deferred = (aside.c.annotator_id == account.id, aside.c.kind != BACK)
    done, put_aside = connection.execute(
        select(judged + func.count(aside.c.id), func.max(aside.c.at)).where(*deferred)
    ).one()
    run, hidden = place.run, place.hidden
    if place.answers and put_aside is not None and put_aside > place.answers[0].decided_at:
        run, hidden = 1, 0
    drawn = (_drawn_pass(account.id, number, settings) for number in range(max(done - run - hidden + 1, 0), done + 1))
    due = [kind for kind in drawn if kind is not None][hidden:]
    if not due:
        return None
    query = _gold(account.id) if due[0] == KNOWN else _repeats(account.id, settings.repeat_after)
    query = query.join(input_table, input_table.c.id == question.c.input_id).order_by(question.c.id)
    was_deferred = exists().where(aside.c.question_id == question.c.id, aside.c.annotator_id == account.id)
    # Not what they deferred: the page would remind them of it.
    alike = (question.c.task == ordinary.task, question.c.kind == ordinary.kind, ~was_deferred)
    rows = connection.execute(query.where(*alike, readable(question, account.languages))).all()
    rows = [row for row in rows if row.languages == ordinary.languages] or rows
    return (rows[int(uniform("which", account.id, done) * len(rows))], due[0]) if rows else None


def _drawn_pass(account_id: int, number: int, settings: JudgingSettings) -> int | None:
    """Draw the pass of the hidden question for the n-th time that an account is asked; None: an ordinary one comes."""
    chance = uniform("hidden", account_id, number)
    if chance < settings.gold_share:
        return KNOWN
    return REPEAT if chance < settings.gold_share + settings.repeat_share else None


def _some(*conditions: ColumnElement[bool]) -> Select[Any]:
    names = ("id", "task", "kind", "priority", "source_input_id")
    return select(*(question.c[name] for name in names), input_table.c.languages).where(*conditions)


def _gold(account_id: int) -> Select[Any]:
    """Hidden questions that this account never had in any pass, and that await no answers just now."""
    had = exists().where(judgement.c.question_id == question.c.id, judgement.c.annotator_id == account_id)
    waits_for_none = question.c.priority.is_(None) | question.c.filled.is_(True)
    return _some(known.c.purpose == GOLD, ~had, waits_for_none).join(known, known.c.question_id == question.c.id)


def _repeats(account_id: int, after: int) -> Select[Any]:
    """Questions that this account gave a label at least `after` answers ago, and was never asked again; no ratings."""
    again, newer = judgement.alias("again"), judgement.alias("newer")
    answers = (newer.c.annotator_id == account_id, newer.c.round >= FIRST, newer.c.answer != WITHDRAWN)
    recent = select(newer.c.id).where(*answers).order_by(newer.c.id.desc()).limit(1).offset(after - 1)
    same = (again.c.question_id == judgement.c.question_id, again.c.annotator_id == account_id)
    repeated = exists().where(*same, again.c.round != FIRST)
    own = (judgement.c.annotator_id == account_id, judgement.c.round == FIRST, judgement.c.answer != UNSURE)
    counts = (judgement.c.id < recent.scalar_subquery(), is_counted(judgement), ~repeated)
    query = _some(*own, *counts, question.c.kind.not_in(SCALES))
    return query.join(judgement, judgement.c.question_id == question.c.id)
