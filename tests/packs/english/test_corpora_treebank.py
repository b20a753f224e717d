"""The treebank as text that people write: on small trees, and on the sample itself where it is."""

import re
import zipfile
from collections import Counter
from pathlib import Path

import nltk.data
import pytest

from audit.corpora import get_corpus
from audit.errors import BadFile, NotInstalled
from audit.packs.english.corpora import sentences
from audit.tasks import Input

REAL = Path(__file__).parents[3].parent / "shared" / "data" / "nltk_data"
TREES = """
( (S (NP-SBJ (NNP Sony) (NNP Corp.) (POS 's) (NN rule) ) (VP (VBZ is) (VP (-NONE- *T*-1) (`` ``) (JJ old)
  (-LRB- -LRB-) (NP (CD 1\\/2) ) (-RRB- -RRB-) ('' '') )) (. .) ))
( (S (NP (PRP It) ) (VP (VBD did) (RB n't) (VP (VB sell) (PP (IN in) (NP (DT the) (NNP U.S.) )))) (. .) ))
( (S (NN @) ))
( (S (NP (PRP It) ) (VP (VBD did) (RB n't) (VP (VB sell) (PP (IN in) (NP (DT the) (NNP U.S.) )))) (. .) ))
"""
RAW = ".START \n\nSony Corp. 's rule\nis \"old (1/2)\". It didn't sell in the U.S.\n@\n\nIt didn't sell in the U.S.\n"


@pytest.fixture
def nltk_data(tmp_path, monkeypatch):
    """An empty NLTK data path."""
    monkeypatch.setattr(nltk.data, "path", [str(tmp_path)])
    (tmp_path / "corpora").mkdir()
    return tmp_path / "corpora"


def packed(folder, files):
    with zipfile.ZipFile(folder / "treebank.zip", "w") as archive:
        archive.writestr("treebank/", "")
        for name, text in files.items():
            archive.writestr(f"treebank/{name}", text)


def test_a_sentence_is_the_piece_of_the_raw_text_with_its_letters():
    assert sentences(TREES, RAW) == [
        'Sony Corp.\'s rule is "old (1/2)".',
        "It didn't sell in the U.S.",
        "@",
        "It didn't sell in the U.S.",
    ]


def test_rows_have_their_article_and_no_copies(nltk_data):
    packed(nltk_data, {"combined/wsj_0001.mrg": TREES, "raw/wsj_0001": RAW, "combined/README": "(x y)"})
    corpus = get_corpus("treebank@es", "translation").corpus
    assert [(row.key, row.cluster, row.input) for row in corpus.rows()] == [
        ("wsj_0001.1", "wsj_0001", Input.of('Sony Corp.\'s rule is "old (1/2)".')),
        ("wsj_0001.2", "wsj_0001", Input.of("It didn't sell in the U.S.")),
    ]
    assert (corpus.size(), corpus.needs(), corpus.has_gold, corpus.unit) == (2, None, False, "sentence")


def test_what_is_absent_or_damaged_names_the_command(nltk_data):
    corpus = get_corpus("treebank@es", "translation")
    assert (corpus.needs(), corpus.size()) == ("python -m nltk.downloader treebank", None)
    with pytest.raises(NotInstalled, match=r"python -m nltk\.downloader treebank"):
        list(corpus.rows())
    packed(nltk_data, {"README": "no trees"})
    with pytest.raises(BadFile, match="holds no trees"):
        list(corpus.rows())
    (nltk_data / "treebank.zip").write_bytes(b"no zip")
    with pytest.raises(BadFile, match=r"treebank\.zip cannot be read"):
        corpus.size()


@pytest.mark.skipif(not (REAL / "corpora" / "treebank.zip").exists(), reason="NLTK's treebank is not there")
def test_the_real_sample(monkeypatch):
    from nltk.corpus import LazyCorpusLoader
    from nltk.corpus.reader import BracketParseCorpusReader

    monkeypatch.setattr(nltk.data, "path", [str(REAL)])
    corpus = get_corpus("treebank@es,ca", "translation")
    rows = list(corpus.corpus.rows())
    assert (len(rows), corpus.size(), len({row.cluster for row in rows})) == (3_902, 7_804, 199)
    texts = {row.key: row.input.text for row in rows}
    # wsj_0001, wsj_0003 and wsj_0118 as the newspaper printed them.
    assert texts["wsj_0001.1"].startswith("Pierre Vinken, 61 years old, will join the board as a nonexecutive director")
    assert (
        '"We have no useful information on whether users are at risk," said James A. Talcott of Boston\'s'
        in (texts["wsj_0003.9"])
    )
    assert texts["wsj_0118.1"].endswith("aimed at quashing the country's second-largest program trader.")
    assert "Kidder, Peabody & Co.'s 1,400 stockbrokers" in texts["wsj_0118.1"]
    assert [text for text in texts.values() if re.search(r" [,;:!?%)\]]|[`{}#@*]|\s\s|-LRB-| n't|\.\.", text)] == []
    # NLTK's own reader has the same words: no letter is lost, but those that stand for another.
    reader = LazyCorpusLoader("treebank/combined", BracketParseCorpusReader, r"wsj_.*\.mrg")
    theirs = [[word for word, tag in words if tag != "-NONE-"] for words in reader.tagged_sents(["wsj_0003.mrg"])]
    letters = Counter("".join("".join(words) for words in theirs))
    counts = Counter("".join(text for key, text in texts.items() if key.startswith("wsj_0003.")))
    assert {letter: letters[letter] for letter in letters if letter.isalnum() and letter not in "LRB"} == {
        letter: counts[letter] for letter in letters if letter.isalnum() and letter not in "LRB"
    }
