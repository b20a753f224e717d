"""The user's own files for tasks other than sentiment: pairs, texts to summarize, classification."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.corpora import get_corpus
from audit.corpora.files import gold_of
from audit.errors import BadFile
from audit.tasks.similarity import level_of


def _file(folder: Path, text: str, name: str = "own.csv") -> Path:
    path = folder / name
    path.write_text(text, "utf-8")
    return path


def test_a_pair_has_two_columns(tmp_path: Path) -> None:
    text = "id,text,TEXT_B,gold,source\np1, 他来了。,她来了。 ,0.75,web\np2,甲,乙,Zero,\np3,甲,丙,,\n"
    corpus = get_corpus(_file(tmp_path, text), "similarity", language="zh")
    first, second, third = corpus.rows()
    assert (first.input.texts, first.input.languages) == (("他来了。", "她来了。"), ("zh", "zh"))
    # 0.75 lies in [.6, .8).
    assert [row.gold for row in (first, second, third)] == ["strong", "zero", None]
    assert dict(first.attributes) == {"source": "web"}
    assert corpus.has_gold


@given(st.floats(0, 1))
def test_a_number_is_the_level_it_lies_in(score: float) -> None:
    assert gold_of("similarity")(repr(score)) == level_of(score)


def test_a_file_brings_its_own_labels(tmp_path: Path) -> None:
    text = "text,gold\na,Sports\nb,finance\nc,\nd,sports\ne, FINANCE \n"
    corpus = get_corpus(_file(tmp_path, text), "classification")
    # Sorted as they are written first: capitals come before small letters.
    assert corpus.task == "classification/Sports,finance"
    assert [row.gold for row in corpus.rows()] == ["Sports", "finance", None, "Sports", "finance"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("text\na\n", "no gold labels, or one alone, so the label scheme is unknown; .*classification/finance,sports"),
        ('text,gold\na,sports\nb,"a,b"\n', "'a,b' has a comma"),
        ("text,gold\n" + "".join(f"a,{number}\n" for number in range(101)), "101 different labels, at most 100"),
    ],
)
def test_a_file_without_a_scheme_says_what_to_write(tmp_path: Path, text: str, reason: str) -> None:
    with pytest.raises(BadFile, match=reason):
        get_corpus(_file(tmp_path, text), "classification")
