"""Runs of the Chinese classifiers, from corpus to verdicts."""

import pytest
from few_news import TEXTS, FewNews, trained_on_few

from audit.corpora.base import Row
from audit.relations.registry import configured
from audit.reports.study import study_report
from audit.runner.executors import InProcess
from audit.runner.run import fitting, run
from audit.store import open_store
from audit.tasks import Input


@pytest.fixture
def small(tmp_path, monkeypatch):
    yield from trained_on_few(tmp_path / "cache", monkeypatch)


class News(FewNews):
    name, language, unit, has_gold, summary = "few", "zh", "document", True, "test"

    def rows(self):
        for number, (text, gold) in enumerate(TEXTS):
            yield Row(str(number), Input.of(f"今天{text}。老师们都知道了。学生非常喜欢！", language="zh"), gold)


def test_classifiers_run_from_corpus_to_verdicts(small, tmp_path):
    corpus, systems = News(), ["tfidf-svm-inews", "jieba-nb-inews"]
    engine = open_store(str(tmp_path / "a.db"), create=True)
    relations = [configured(one, {"coherent": False}) for one in fitting(corpus, ["MR7.3"])]
    ran = run(engine, corpus, systems, relations, InProcess())
    assert ran.counts.sources == len(TEXTS)
    assert ran.counts.outcomes["error"] == 0
    assert sum(ran.counts.outcomes.values()) == 2 * ran.counts.groups > 0
    assert {cell["system"] for cell in study_report(engine)["cells"]} == set(systems)
