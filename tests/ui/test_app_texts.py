"""The app's texts: every key of its code there, the words of tasks and relations, and texts shown literally."""

import re
from pathlib import Path

from hypothesis import given, strategies

from audit.ui.language import difference_html, html, plain


def test_no_unsafe_html() -> None:
    for path in (Path(__file__).parents[2] / "audit" / "ui").glob("*.py"):
        assert "unsafe_allow" not in path.read_text(encoding="utf-8"), path


@given(strategies.text())
def test_html_of_any_text_has_no_tags_and_can_be_sent(text: str) -> None:
    shown = html(text)
    assert "<" not in shown
    assert ">" not in shown
    shown.encode("utf-8")


@given(
    strategies.text(alphabet=strategies.characters(codec="utf-8")),
    strategies.text(alphabet=strategies.characters(codec="utf-8")),
)
def test_compared_shows_the_whole_text_and_only_marks(before: str, after: str) -> None:
    for side, text in (("after", after), ("before", before)):
        inside = difference_html(before, after, "en", side).partition(">")[2].removesuffix("</div>")
        assert re.sub('</?(ins|del|mark)( class="audit-moved")?>', "", inside) == html(text)
    inside = difference_html(before, after, "en", "both").partition(">")[2].removesuffix("</div>")
    assert re.sub('<del>.*?</del>|</?(ins|mark)( class="audit-moved")?>', "", inside, flags=re.DOTALL) == html(after)


@given(strategies.text(alphabet="\\`*_{}[]()#+-.!|~$:<>a \n"))
def test_plain_escapes_every_mark(text: str) -> None:
    assert re.sub(r"\\(.)", r"\1", plain(text)) == text
