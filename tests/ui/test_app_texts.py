"""The app's texts: every key of its code there, the words of tasks and relations, and texts shown literally."""

import re
from pathlib import Path

from hypothesis import given, strategies

from audit.messages import LANGUAGES
from audit.packs.chinese.relations import TASKS as CHINESE
from audit.relations import all_relations
from audit.resources import data_file
from audit.tasks import TASKS, wording
from audit.ui.language import difference_html, html, plain, texts
from audit.ui.settings import FLAGS, arguments

ROOT = Path(__file__).parents[2]
CODE = {path: path.read_text(encoding="utf-8") for path in (ROOT / "audit" / "ui").glob("*.py")}
KEY = re.compile(
    r"""\bt\(\s*(?:f(?P<quote>["'])(?P<formatted>.+?)(?P=quote)[,)]|"(?P<plain>[^"]+)")|\bt\('(?P<single>[^']+)'"""
)


def test_summaries_are_of_relations_that_there_are() -> None:
    registered = {f"relation.{relation.task}.{relation.name}" for relation in all_relations()}
    # The study of Chinese systems has seven relations of each of its tasks.
    registered |= {
        f"relation.{task}.MR{number}.{place}" for task, (place, _) in CHINESE.items() for number in range(1, 8)
    }
    for code in LANGUAGES:
        translated = {key for key in texts(code) if key.startswith("relation.")}
        assert translated <= registered
        assert not translated or translated == registered


def test_every_key_in_the_code_exists() -> None:
    keys = [(path.name, match.groupdict()) for path, code in CODE.items() for match in KEY.finditer(code)]
    assert len(keys) > 80
    for name, match in keys:
        if match["formatted"]:
            pattern = re.compile(re.sub(r"\{.*?\}", ".+", match["formatted"].replace(".", r"\.", 1)))
            assert any(pattern.fullmatch(key) for key in texts("en")), (name, match)
        else:
            assert (match["plain"] or match["single"]) in texts("en"), (name, match)


def test_every_label_question_and_guideline_exists() -> None:
    for task in TASKS.values():
        for code in LANGUAGES:
            words = wording(task.name, code)
            assert all(words.labels[label] not in (label, "") for label in task.labels), task.name
            assert all((words.name, words.question, words.output, *words.texts)), task.name
            assert len(words.texts) == task.texts
            assert data_file(f"guidelines/{task.name}.{code}.md").stat().st_size > 500
        assert wording(task.name).question == task.question


def test_no_unsafe_html() -> None:
    for path, code in CODE.items():
        assert "unsafe_allow" not in code, path


def test_flags_are_options_of_the_installed_streamlit() -> None:
    from streamlit import config

    options = config.get_config_options()
    for name in FLAGS:
        assert name in options, name
    assert arguments(1234)[:2] == ["--server.port", "1234"]


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


def test_compared_marks_words_and_chinese_signs() -> None:
    assert "<ins>" not in difference_html("It is good.", "It is good.", "en")
    assert "<ins>wonderful</ins>." in difference_html("It is good.", "It is wonderful.", "en")
    assert "很<ins>坏</ins>" in difference_html("很好", "很坏", "zh")
    assert "很<del>好</del>" in difference_html("很好", "很坏", "zh", "before")
    assert "很<del>好</del><ins>坏</ins>" in difference_html("很好", "很坏", "zh", "both")
    moved = '<mark class="audit-moved">天黑了。</mark>'
    for side in ("before", "after"):
        assert moved in difference_html("天黑了。我们都回家了。", "我们都回家了。天黑了。", "zh", side)


@given(strategies.text(alphabet="\\`*_{}[]()#+-.!|~$:<>a \n"))
def test_plain_escapes_every_mark(text: str) -> None:
    assert re.sub(r"\\(.)", r"\1", plain(text)) == text


def test_compared_marks_one_word_of_a_long_review() -> None:
    long = " ".join(f"The scene {number} is, in a way, the best of the film." for number in range(300))
    shown = difference_html(long, long.replace("scene 150", "moment 150"), "en")
    assert re.findall("<ins>(.*?)</ins>", shown) == ["moment"]
