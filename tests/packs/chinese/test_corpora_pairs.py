"""Pairs for similarity, from small articles of ours."""

import pytest

from audit.corpora import get_corpus
from audit.packs.chinese import corpora as chinese
from audit.packs.chinese.corpora import Article

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
