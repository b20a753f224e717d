"""The adjudicator's page: what hangs on a dispute, names in the log, reasons, changes, causes; the manager's log."""

from app_driver import Prepared, blocks, go, in_both, open_app, rows

from audit.judging.judgements import judge
from audit.judging.queue import next_question
from audit.judging.words import guideline_of
from audit.store import tables
from audit.ui.language import text_in


def dispute(prepared: Prepared, number: int = 1) -> list[int]:
    """Questions on which ann and ben disagree."""
    ids = []
    for _ in range(number):
        for account, answer in ((prepared.ann, "positive"), (prepared.ben, "negative")):
            shown = next_question(prepared.engine, account.id)
            judge(prepared.engine, account.id, shown.id, answer, comment=f"**{answer}** <b>")
        ids.append(shown.id)
    return ids


@in_both
def test_a_dispute_says_how_much_waits_for_it_and_is_settled_by_a_code(prepared: Prepared, language: str) -> None:
    (id,) = dispute(prepared)
    app = go(open_app(prepared.judge, language), "adjudicate")
    page = blocks(app)
    assert text_in(language, "dispute.why", count=2) in page
    assert text_in(language, "dispute.waits", count=2) in page
    # Whoever decides is told neither relations nor systems.
    assert not [name for name in ("MR1.4", "MR3.1", "vader", "textblob") if name in page]
    assert text_in(language, "dispute.annotator", number=2) in page
    assert "**positive** &lt;b&gt;" in page
    app.button(key=f"allow-{id}-neutral").click().run()
    app.button(key=f"code-allow-{id}-mixed_opinion").click().run()
    app.button(key=f"settle-{id}").click().run()
    assert not app.exception
    (stored,) = rows(prepared, tables.Adjudication)
    assert (stored["code"], stored["reason"], stored["guideline"], stored["allowed"]) == (
        "mixed_opinion", "", guideline_of("sentiment", "input").version, ["neutral"],
    )  # fmt: skip
