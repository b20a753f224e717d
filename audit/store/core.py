"""The tables for statements of SQLAlchemy's Core: `select(judgement.c.answer).where(judgement.c.round == 1)`.

Each has the name of its model in `audit.store.tables`; `input_table` leaves Python's own name alone.
"""

from sqlalchemy import ColumnElement, Connection, FromClause, func, select

from audit.store import tables
from audit.store.bulk import table_of

adjudication = table_of(tables.Adjudication)
annotator = table_of(tables.Annotator)
answer = table_of(tables.Answer)
aside = table_of(tables.Aside)
cause = table_of(tables.Cause)
draw = table_of(tables.Draw)
group = table_of(tables.Group)
input_table = table_of(tables.Input)
invitation = table_of(tables.Invitation)
judge = table_of(tables.Judge)
judge_answer = table_of(tables.JudgeAnswer)
judgement = table_of(tables.Judgement)
known = table_of(tables.Known)
lease = table_of(tables.Lease)
log = table_of(tables.Log)
member = table_of(tables.Member)
output = table_of(tables.Output)
plan = table_of(tables.Plan)
progress = table_of(tables.Progress)
question = table_of(tables.Question)
relation = table_of(tables.Relation)
repeat = table_of(tables.Repeat)
round_table = table_of(tables.Round)
sample = table_of(tables.Sample)
secret = table_of(tables.Secret)
setting = table_of(tables.Setting)
source = table_of(tables.Source)
study = table_of(tables.Study)
study_run = table_of(tables.StudyRun)
system = table_of(tables.System)
validity_draw = table_of(tables.ValidityDraw)
validity_study = table_of(tables.ValidityStudy)
verdict = table_of(tables.Verdict)


def count_rows(connection: Connection, rows: FromClause, *conditions: ColumnElement[bool]) -> int:
    """The number of rows of a table or of a subquery that meet these conditions."""
    return int(connection.execute(select(func.count()).select_from(rows).where(*conditions)).scalar_one())
