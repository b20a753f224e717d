"""The user's files: what is taken, for each kind of task, how columns and labels are read, and what is refused."""

import json
from pathlib import Path

import pytest

from audit.corpora import get_corpus
from audit.corpora.files import FileCorpus, Reading, offered_labels
from audit.errors import AuditError, BadFile, BadRow
from audit.tasks import Input


def _file(folder: Path, content: str | bytes, name: str = "mine.csv") -> Path:
    path = folder / name
    path.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)
    return path


def test_all_columns(tmp_path):
    path = _file(
        tmp_path,
        "ID,Text,gold,language,document,year,Place\r\n"
        'a,"Good, really ""good"".",POSITIVE,,d1,1999,Rome\r\n'
        "b,Nicht gut.,,de,,,\r\n",
    )
    corpus = get_corpus(path)
    first, second = corpus.rows()
    assert (first.key, first.input) == ("a", Input.of('Good, really "good".'))
    assert (first.gold, first.cluster, dict(first.attributes)) == ("positive", "d1", {"year": "1999", "Place": "Rome"})
    assert (second.gold, second.cluster, second.input.languages) == (None, None, ("de",))
    assert (corpus.name, corpus.unit, corpus.has_gold, corpus.size()) == ("mine.csv", "sentence", True, 2)
    documents = _file(tmp_path, "text\nIt is good. I like it.\nBad. Very bad.\nShort.\n")
    assert (FileCorpus(documents).unit, FileCorpus(documents, unit="sentence").unit) == ("document", "sentence")


@pytest.mark.parametrize(
    ("name", "content", "place", "reason"),
    [
        ("mine.csv", "", "", "the file is empty"),
        ("mine.csv", "review,gold\nA.,positive\n", "", "no column 'text'; it has 'review', 'gold'"),
        ("mine.csv", "text,Text\nA.,B.\n", "", "has the column 'text' twice"),
        ("mine.csv", b"\xef\xbb\xbftext\nCaf\xe9.\n", ", line 2", "the byte 0xe9 is not UTF-8; as WINDOWS-1252"),
        ("mine.csv", "text\n很好。\n".encode("gb18030"), ", line 2", "if that is right, run iconv -f GB18030 -t UTF-8"),
        ("mine.csv", "id,text\na,A.\na,B.\n", ", line 3", "the id 'a' is already that of line 2; ids must differ"),
        ("mine.csv", 'text\nA.\n"B.\nC.\n', ", line 3", "is a quotation mark not closed"),
        ("mine.csv", "text\n" + "a" * 1_000_001 + "\n", ", line 2", "1,000,001 bytes, at most 1,000,000"),
        ("mine.csv", "text,gold\nA.,1\n", ", line 2", "'1' is unknown; allowed are positive, neutral, negative"),
        ("mine.jsonl", '{"text": 1}\n{"text": ["A."]}\n', ", line 2", 'the text is ["A."]; it must be a string'),
    ],
)
def test_each_mistake_is_one_sentence(tmp_path: Path, name: str, content: str | bytes, place: str, reason: str) -> None:
    path = _file(tmp_path, content, name)
    with pytest.raises(AuditError) as raised:
        get_corpus(path)
    assert str(raised.value).startswith(f"{path}{place}")
    assert reason in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_large_file_is_read_in_pieces(tmp_path, monkeypatch):
    lines = [{"text": f"Text {n}.", "gold": "positive" if n % 3 else ""} for n in range(50)]
    lines = [line | ({"late": n} if n > 30 else {}) for n, line in enumerate(lines)]
    path = _file(tmp_path, "\n".join(map(json.dumps, lines)), "mine.jsonl")
    whole = FileCorpus(path)
    monkeypatch.setattr("audit.files.PIECE", 7)
    monkeypatch.setattr("audit.corpora.files.LARGE", 0)
    pieces = FileCorpus(path)
    assert list(pieces.rows()) == list(pieces.rows()) == list(whole.rows())
    assert pieces.fingerprint() == whole.fingerprint()
    assert (pieces.size(), pieces.labelled, pieces.attributes) == (50, 33, ("late",))
    path.write_text(path.read_text() + "\n" + json.dumps(lines[3] | {"text": ""}))
    with pytest.raises(BadRow, match="line 51: the column text is empty"):
        FileCorpus(path)


def test_gold_that_says_missing_is_offered_as_none(tmp_path: Path) -> None:
    path = _file(tmp_path, "text,gold\nNA,a\nnull,b\nIt is.,NA\n")
    with pytest.raises(BadFile, match="labels=NA= reads them so"):
        FileCorpus(path, "classification")
    corpus = FileCorpus(path, "classification", reading=Reading(labels={"NA": ""}))
    assert [(row.input.text, row.gold) for row in corpus.rows()] == [("NA", "a"), ("null", "b"), ("It is.", None)]


@pytest.mark.parametrize(
    ("texts", "language", "told"),
    [
        (["It was good.", "La pantalla es muy buena pero la batería no dura nada."], None, "1 of 2 texts look Spanish"),
        (["It was good.", "هذا الفيلم جميل جدا"], None, "1 of 2 texts look Arabic"),
        (["It was la dolce vita.", "No me gusta, I said."], None, ""),
        (["It was good."] * 30 + ["La pantalla es muy buena pero la batería no dura nada."], None, ""),
        (["La pantalla es muy buena pero la batería no dura nada."], "es", ""),
    ],
)
def test_texts_in_another_language_are_refused_where_a_file_says_none(tmp_path, texts, language, told):
    file = tmp_path / "own.csv"
    file.write_text("\n".join(["text", *(f'"{text}"' for text in texts)]), encoding="utf-8")
    if told:
        with pytest.raises(BadFile, match=f"{told}; say the language of each in a column `language`"):
            FileCorpus(file)
    else:
        assert FileCorpus(file, language=language).size() == len(texts)


def test_a_pair_has_two_columns(tmp_path: Path) -> None:
    text = "id,text,TEXT_B,gold,source\np1, 他来了。,她来了。 ,0.75,web\np2,甲,乙,Zero,\np3,甲,丙,,\n"
    corpus = get_corpus(_file(tmp_path, text, "own.csv"), "similarity", language="zh")
    first, second, third = corpus.rows()
    assert (first.input.texts, first.input.languages) == (("他来了。", "她来了。"), ("zh", "zh"))
    # 0.75 lies in [.6, .8).
    assert [row.gold for row in (first, second, third)] == ["strong", "zero", None]
    assert dict(first.attributes) == {"source": "web"}
    assert corpus.has_gold


def test_a_file_brings_its_own_labels(tmp_path):
    text = "text,gold\na,Sports\nb,finance\nc,\nd,sports\ne, FINANCE \n"
    corpus = get_corpus(_file(tmp_path, text, "own.csv"), "classification")
    # Sorted as they are written first: capitals come before small letters.
    assert corpus.task == "classification/Sports,finance"
    assert [row.gold for row in corpus.rows()] == ["Sports", "finance", None, "Sports", "finance"]
    for text, reason in (
        ("text\na\n", "no gold labels, or one alone, so the label scheme is unknown; .*classification/finance,sports"),
        ('text,gold\na,sports\nb,"a,b"\n', "'a,b' has a comma"),
        ("text,gold\n" + "".join(f"a,{number}\n" for number in range(101)), "101 different labels, at most 100"),
    ):
        with pytest.raises(BadFile, match=reason):
            get_corpus(_file(tmp_path, text, "own.csv"), "classification")


REVIEWS = "nr,review,label,author\n1,It is good.,pos,Ann\n2,It is bad.,NEG,Ben\n3,It is there.,meh,Ann\n"


@pytest.fixture
def reviews(tmp_path: Path) -> Path:
    path = tmp_path / "reviews.csv"
    path.write_text(REVIEWS, encoding="utf-8")
    return path


def test_columns_and_labels_are_read_as_they_are_told(reviews):
    reading = Reading(
        {"text": "review", "gold": "label", "cluster": "author", "id": "nr"},
        {"pos": "positive", "neg": "negative", "meh": ""},
    )
    rows = list(FileCorpus(reviews, reading=reading).rows())
    assert [(row.key, row.input.text, row.gold, row.cluster) for row in rows] == [
        ("1", "It is good.", "positive", "Ann"),
        ("2", "It is bad.", "negative", "Ben"),
        ("3", "It is there.", None, "Ann"),
    ]
    assert all(not row.attributes for row in rows)


def test_what_is_meant_is_offered_and_not_taken(reviews):
    with pytest.raises(AuditError, match=r"no column 'text'.*columns=text=review,gold=label reads these"):
        FileCorpus(reviews)
    with pytest.raises(AuditError, match=r"(?s)3 of 3 rows.*'pos' is unknown"):
        FileCorpus(reviews, reading=Reading({"text": "review", "gold": "label"}))
    offered = ["labels=1=negative,5=positive,NA= reads them as those of sentiment"]
    assert offered_labels({"5", "1", "NA"}, "sentiment") == offered
    assert "the task is classification" in offered_labels({"billing", "late"}, "sentiment")[0]
