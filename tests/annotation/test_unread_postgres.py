"""Questions in languages that too few people read, on a real PostgreSQL: as on SQLite."""

import pytest
import translations

from audit.annotation.accounts import add_account
from audit.annotation.activity import unread_questions
from audit.annotation.queue import next_question, queue_of
from audit.judging.judgements import judge

pytestmark = pytest.mark.postgres


def test_counts_are_those_of_sqlite(postgres_url, tmp_path):
    told = []
    for where in (None, postgres_url):
        engine = translations.study(tmp_path, where=where, groups=20)
        ann = add_account(engine, "ann", "annotator", "long enough", languages=["en", "es"]).id
        fra = add_account(engine, "fra", "annotator", "long enough", languages=["fr", "en", "es"]).id
        judge(engine, fra, next_question(engine, fra).id, "accurate")
        left = [(entry.left_for_me, entry.in_other_languages) for entry in (queue_of(engine, id) for id in (ann, fra))]
        told.append((unread_questions(engine), left))
    assert told[0] == told[1]
    assert {entry.languages for entry in told[0][0]} == {("en", "fr"), ("fr", "es"), ("en", "es", "fr")}
