"""The training round and hidden questions through the app, in both languages."""

import re

import pytest
from app_driver import Prepared, blocks, in_both, open_app, rows, said
from streamlit.testing.v1 import AppTest

from audit.judging import control_questions
from audit.judging.control_questions import KnownText, add_known
from audit.judging.settings import change_settings
from audit.judging.words import guideline_of
from audit.keys import uniform
from audit.store import tables
from audit.tasks import Input, wording
from audit.ui.language import text_in

pytestmark = pytest.mark.usefixtures("no_waiting")

RIGHT = {"Known good.": "positive", "Known bad.": "negative"}


def train_by(prepared: Prepared, mark: float) -> None:
    items = [KnownText(Input.of(text), (label,), f"*{text}* & <b>") for text, label in RIGHT.items()]
    add_known(prepared.engine, "training", items)
    change_settings(prepared.engine, prepared.boss.id, {"pass_mark": mark})


def button(app: AppTest, begin: str, end: str = "") -> None:
    """Press the first button whose key begins and ends so."""
    next(
        button for button in app.button if str(button.key).startswith(begin) and str(button.key).endswith(end)
    ).click().run()
    assert not app.exception


def on_screen(app: AppTest) -> str:
    return next(text for text in RIGHT if text in blocks(app))


def attempt(app: AppTest, language: str, right: bool) -> None:
    for place in range(len(RIGHT)):
        progress = text_in(language, "training.progress", number=place + 1, of=2, right=place if right else 0)
        assert progress in said(app)
        label = RIGHT[on_screen(app)]
        other = "positive" if label == "negative" else "negative"
        button(app, "judge-training", label if right else other)
        names = {name: wording("sentiment", language).labels[name] for name in (label, other)}
        if right:
            assert text_in(language, "training.right", answer=names[label]) in said(app)
        else:
            assert text_in(language, "training.wrong", answer=names[other], right=names[label]) in said(app)
        # The explanation is shown as it was written, never as Markdown or HTML.
        assert r"\& \<b\>" in said(app)
        assert not [button for button in app.button if str(button.key).startswith("judge-")]
        button(app, "training-seen")


@pytest.mark.slow
@in_both
def test_training_from_failing_to_judging(prepared: Prepared, language: str) -> None:
    train_by(prepared, 0.8)
    app = open_app(prepared.ann, language)
    assert text_in(language, "training.what", questions=2, mark="80") in said(app)
    button(app, "training-begin")
    attempt(app, language, right=False)
    assert text_in(language, "training.failed", right=0, of=2) in said(app)
    # A reload does not let anybody in.
    app = open_app(prepared.ann, language)
    assert text_in(language, "training.failed", right=0, of=2) in said(app)
    button(app, "training-begin-2")
    attempt(app, language, right=True)
    assert text_in(language, "training.passed", right=2, of=2) in said(app)
    assert text_in(language, "annotate.guideline_version", version=guideline_of("sentiment", "input").version) in said(
        app
    )
    assert text_in(language, "annotate.progress", today=0, mine=0, left=12) in said(app)
    button(app, "judge-", "neutral")
    assert [row["round"] for row in rows(prepared, tables.Judgement)] == [0, 0, 0, 0, 1]


def test_hidden_questions_cannot_be_told_by_what_the_browser_gets(
    prepared: Prepared, monkeypatch: pytest.MonkeyPatch
) -> None:
    items = [KnownText(Input.of(text), (label,)) for text, label in RIGHT.items()]
    add_known(prepared.engine, "gold", items)
    change_settings(prepared.engine, prepared.boss.id, {"gold_share": 0.1})
    now = [0.99]
    monkeypatch.setattr(
        control_questions, "uniform", lambda name, *of: now[0] if name == "hidden" else uniform(name, *of)
    )
    app = open_app(prepared.ann)
    pages = []
    for chance in (0.0, 0.99, 0.99):  # an ordinary one is on the screen; a hidden one comes, and two ordinary ones
        now[0] = chance
        pages.append(seen(app))
        button(app, "judge-", "neutral")
    pages.append(seen(app))
    assert [row["round"] for row in rows(prepared, tables.Judgement)] == [1, 3, 1]
    ordinary, secret, *others = pages
    for page in (secret, *others):
        assert page == {**ordinary, "said": page["said"]}
    # Twelve are left, then eleven, eleven and ten: in tens, as they are shown, the hidden one cannot be counted out.
    left = [re.search(r"about (\d+) left", page["said"]) for page in pages]
    assert [text and text[1] for text in left] == ["20", "20", "20", "10"]
    counted = [re.search(r"(\d+) today · (\d+) in all", page["said"]) for page in pages]
    assert [text and text.groups() for text in counted] == [(str(n), str(n)) for n in range(4)]


def seen(app: AppTest) -> dict[str, object]:
    """What the page is made of, but for the text that is asked about and the names of questions."""
    keys = [re.sub(r"-[0-9a-f]{12}", "-NAME", str(button.key)) for button in app.button]
    assert all("NAME" in key for key in keys)
    html = re.sub(r'(<div class="audit-text[^>]*>).*?</div>', r"\1", blocks(app), flags=re.DOTALL)
    return {"keys": keys, "labels": [button.label for button in app.button], "html": html, "said": said(app)}
