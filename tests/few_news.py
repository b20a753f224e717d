"""News of two words, on which the Chinese classifiers are trained in no time."""

from audit.corpora.base import Row
from audit.packs import linear
from audit.packs.chinese import systems as chinese_systems
from audit.tasks import Input

WORDS = {"positive": "高兴 美丽 成功", "neutral": "桌子 道路 房屋", "negative": "失败 死亡 事故"}
TEXTS = [(f"{word}第{one}条", gold) for gold, words in WORDS.items() for word in words.split() for one in range(4)]


class FewNews:
    """What `inews` looks like to a classifier, with 36 texts of two or three words."""

    task, needs = "classification/inews", staticmethod(lambda: None)

    def fingerprint(self):
        return "few"

    def rows(self):
        for number, (text, gold) in enumerate(TEXTS):
            yield Row(str(number), Input.of(text + "。", language="zh"), gold)


def trained_on_few(folder, monkeypatch):
    """For a fixture to yield from: a cache of its own, and few texts, so that training takes no time."""
    monkeypatch.setenv("AUDIT_CACHE", str(folder))
    monkeypatch.setattr(chinese_systems.corpora, "inews_training_rows", lambda: iter(TEXTS))
    monkeypatch.setattr(chinese_systems, "get_corpus", lambda name, task: FewNews())
    linear._model.cache_clear()
    yield folder
    linear._model.cache_clear()
