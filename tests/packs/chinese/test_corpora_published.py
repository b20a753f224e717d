"""Loaders of PAWS-X, LCSTS and THUCNews: on small files of ours in the published formats."""

from collections.abc import Iterable
from pathlib import Path

from audit.corpora import get_corpus
from audit.corpora.base import Row

HEADER = "id\tsentence1\tsentence2\tlabel"
DOC = (
    "<doc id={}>\n{}    <summary>\n        {}\n    </summary>\n    <short_text>\n        {}\n    </short_text>\n"
    "</doc>\n"
)


def _rows(name: str, task: str) -> list[Row]:
    return list(get_corpus(name, task).rows())


def _write(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)
    return path


def test_paws_x(tmp_path: Path) -> None:
    lines = [
        HEADER,
        '1\t他说 "好"。\t她说 "好"。\t0',
        "2\tNS\t他来了。\t1",
        "3\t\t他来了。\t0",
        "4\t甲去。\t去的是甲。\t1",
    ]
    file = _write(tmp_path / "test_2k.tsv", "\ufeff" + "\r\n".join([*lines, "5\t甲。\t乙。\t-1", ""]))
    corpus = get_corpus(f"paws-x:{file}", "similarity")
    assert (corpus.name, corpus.language, corpus.has_gold, corpus.size()) == ("paws-x:test_2k.tsv", "zh", False, 3)
    first, second, third = corpus.rows()
    assert (first.key, first.input.texts) == ("1", ('他说 "好"。', '她说 "好"。'))
    # The label does not settle one of five levels, so it is no gold.
    assert (first.gold, dict(first.attributes), dict(third.attributes)) == (None, {"paraphrase": "0"}, {})
    assert (second.key, third.key) == ("4", "5")


def test_lcsts(tmp_path: Path) -> None:
    rated = DOC.format(7, "    <human_label>4</human_label>\n", "立法法公布", "新华社今日全文播发立法法。")
    file = _write(
        tmp_path / "PART_II.txt", DOC.format(0, "", "暴雨来袭", "北京&quot;暴雨&quot;。\n        多处积水。") + rated
    )
    corpus = get_corpus(f"lcsts:{file}", "summarization")
    assert (corpus.name, corpus.unit, corpus.has_gold, corpus.size()) == ("lcsts:PART_II.txt", "document", False, 2)
    first, second = corpus.rows()
    assert (first.key, first.input.text, first.gold) == ("0", '北京"暴雨"。\n多处积水。', None)
    assert dict(first.attributes) == {"reference": "暴雨来袭"}
    assert (second.key, dict(second.attributes)) == ("7", {"reference": "立法法公布", "human_label": "4"})


def _thucnews(folder: Path, files: Iterable[tuple[str, str]]) -> Path:
    for name, text in files:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        _write(folder / name, text)
    return folder


def test_a_folder_of_thucnews(tmp_path: Path) -> None:
    folder = _thucnews(
        tmp_path / "THUCNews",
        [("财经/798977.txt", "上证指数收高\n　　今日两市上涨。\n"), ("体育/0.txt", "比赛结束"), (".cache/x.txt", "")],
    )
    _write(folder / "readme.txt", "about")
    corpus = get_corpus(f"thucnews:{folder}", "classification")
    assert (corpus.task, corpus.has_gold, corpus.size()) == ("classification/thucnews", True, 2)
    assert [(row.key, row.input.text, row.gold) for row in corpus.rows()] == [
        ("体育/0", "比赛结束", "体育"),
        ("财经/798977", "上证指数收高\n今日两市上涨。", "财经"),
    ]


def test_a_file_of_thucnews(tmp_path: Path) -> None:
    file = _write(tmp_path / "cnews.train.txt", "体育\t马晓旭意外受伤　　国奥警惕\n\n娱乐\t新片\t上映\n")
    assert [(row.key, row.input.text, row.gold) for row in _rows(f"thucnews:{file}", "classification/thucnews")] == [
        ("1", "马晓旭意外受伤\n国奥警惕", "体育"),
        ("3", "新片 上映", "娱乐"),
    ]
