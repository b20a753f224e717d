"""Exports of a study of translations: both languages, the same database again, and answers that come back."""

import pytest
import translations

from audit.exchange.export import export
from audit.exchange.replay import import_export, replay
from audit.judging.accounts import add_account
from audit.judging.adjudications import adjudicate
from audit.judging.judgements import judge
from audit.judging.queue import next_question
from audit.judging.unit import rebuild
from audit.reports.study import study_report
from audit.store import open_store

PAIRS = {("en", "es"), ("es", "en"), ("en", "fr"), ("fr", "es")}


def grade(shown) -> str:
    """The Spanish of the second text is called wrong, all else is right."""
    return "mistranslated" if shown.output == translations.SPANISH[1] else "accurate"


@pytest.fixture
def judged(tmp_path):
    """Two people have answered everything, but for one question on which they differ, which ada settles."""
    engine = translations.study(tmp_path)
    people = [add_account(engine, name, "annotator", "long enough").id for name in ("anna", "ben")]
    ada = add_account(engine, "ada", "adjudicator", "long enough").id
    for person in people:
        while (shown := next_question(engine, person)) is not None:
            said = grade(shown)
            if person == people[1] and shown.output == translations.SPANISH[0] and shown.languages[0] == "fr":
                said = "not_fluent"
                odd = shown.id
            judge(engine, person, shown.id, said)
    adjudicate(engine, ada, odd, ["accurate", "not_fluent"], "Either may stand.")
    rebuild(engine)
    return engine


@pytest.mark.slow
def test_an_export_is_the_same_study_again_and_replays(judged, tmp_path):
    export(judged, tmp_path / "out")
    import_export(tmp_path / "out", str(tmp_path / "b.db"))
    again = open_store(str(tmp_path / "b.db"))
    assert study_report(again) == study_report(judged)
    assert translations.questions(again) == translations.questions(judged)
    assert replay(tmp_path / "out").equal
