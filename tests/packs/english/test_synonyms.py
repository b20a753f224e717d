import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.corpora import get_corpus
from audit.errors import AuditError
from audit.packs.english.synonyms import has_synonyms, lexicon, read, replacements
from audit.text import Analysis


def replaced(text):
    analysis = Analysis(text)
    new = {}
    for change in replacements(analysis.tokens).values():
        new.update(change)
    return analysis.replace(new)


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("I want to buy a bike.", "I want to buy a bicycle."),
        ("The movies are good.", "The films are good."),
        ("Movies are fun.", "Films are fun."),
        ("THE MOVIE IS BAD.", "THE FILM IS BAD."),
        ("this is the kind of film i hate.", "this is the sort of movie i hate."),
        ("it pays an homage to them.", "it pays a tribute to them."),
        ("the film's look is odd.", "the movie's look is odd."),
        ("I am a fan of his.", "I am an admirer of his."),
        ("two gangster films", "two gangster movies"),
        # Words of products and news that a reader missed.
        ("He rode his bike to the park.", "He rode his bicycle to the park."),
        ("My headphones broke.", "My earphones broke."),
        ("The images from Mars are in.", "The pictures from Mars are in."),
        ("It takes great pics.", "It takes great pictures."),
        ("I wrote twice and got no response.", "I wrote twice and got no reply."),
        ("My PC is slow.", "My computer is slow."),
        ("The camera takes good pictures.", "The camera takes good photos."),
    ],
)
def test_synonyms_keep_number_case_and_article(text, other):
    assert replaced(text) == other


@pytest.mark.parametrize(
    "text",
    [
        "a film noir",
        "I saw Scary Movie twice.",
        'he made "the movie" again.',
        "the children's parents",  # "kids's"
        "a film-within-a-film",
        "film is a movie",  # the synonym is there already
        "she is kind and nice to film",
        "the movie theater",
        "the bad guy",
        "On the downside, it is heavy.",
        "The pictures on the wall were painted by film students.",  # no camera
        "The product is an ad 2600.",
        "Ask @store and #movie.",
        "He lost the plot.",
        "It kept him company.",
        "The critics say that the tax is too high.",  # of a policy: no reviewers
    ],
)
def test_names_and_fixed_phrases_stay(text):
    assert replaced(text) == text


def test_a_noun_after_another_noun_is_replaced_where_the_tree_has_no_compound():
    assert replaced("I gave my sister photos.") == "I gave my sister photographs."
    assert replaced("the company picnic") == "the company picnic"


def test_a_line_may_ask_for_other_words_of_the_text(tmp_path):
    file = tmp_path / "synonyms.tsv"
    file.write_text("shot\t>\tphoto\twith=camera,lens without=vodka\n", encoding="utf-8")
    (shot,) = read(file)["shot"]
    assert shot.lists == {"with": {"camera", "lens"}, "without": {"vodka"}}
    assert replaced("He liked the shots.") == "He liked the shots."
    assert replaced("My camera takes good shots.") == "My camera takes good photos."


def test_the_lexicon_is_sound():
    entries = lexicon()
    assert len(entries) > 900
    for form, synonyms in entries.items():
        assert form == form.lower()
        for synonym in synonyms:
            assert synonym.new != form
            assert (synonym.tag == "NNS") is (form != synonym.noun or form.endswith("people")), form


@pytest.mark.parametrize(
    "line", ["film movie", "film\t~\tmovie", "film\t=\tmovie\tsometimes", "film\t=\tmovie\tbeside=x"]
)
def test_a_bad_line_is_named(tmp_path, line):
    file = tmp_path / "synonyms.tsv"
    file.write_text(f"# head\n{line}\n", encoding="utf-8")
    with pytest.raises(AuditError, match="line 2"):
        read(file)


@given(st.text(max_size=60))
def test_any_text_is_taken(text):
    assert isinstance(replaced(text), str)


def test_every_word_of_the_list_is_seen_in_a_text():
    for form in lexicon():
        assert has_synonyms(f"It is ({form.capitalize()})!")
    assert not has_synonyms("It is long.")


def test_texts_without_words_of_the_list_are_not_tagged():
    from audit.packs.english.perturbations import contractions, synonyms

    text = Analysis("Anna walked.")
    assert not text.is_tagged
    assert (synonyms(text, None), contractions([text], None), text.is_tagged) == (None, None, False)
    assert text.tokens
    assert text.is_tagged


def test_words_alone_decide_most_texts(monkeypatch):
    from audit.packs.english import parser
    from audit.packs.english.perturbations import contractions, synonyms

    monkeypatch.setattr(parser, "parse", lambda texts: pytest.fail("it is tagged"))
    sure = ["It is a film that does not work.", "It's not mine.", "I can't say they've seen it.", "She's been there."]
    assert all(contractions([Analysis(text)], None) for text in sure)
    assert synonyms(Analysis("The movie is here."), random.Random(0)) == "The film is here."
    assert synonyms(Analysis("It is a film-like chick flick, part of a lost plot."), random.Random(0)) is None


def test_nothing_is_lost_by_looking_at_words_first():
    from audit.packs.english.contractions import contract, expand

    texts = {
        text
        for corpus in ("support-tickets", "inference-pairs", "question-pairs", "similarity-pairs")
        for row in get_corpus(corpus).rows()
        for text in row.input.texts
    }
    tagged = [Analysis(text) for text in sorted(texts)]
    Analysis.tag_all(tagged)
    made, spared = 0, 0
    for analysis in tagged:
        text = Analysis(analysis.text)
        for change in (expand, contract, replacements):
            assert change(text.split) == change(analysis.tokens), analysis.text
            made += bool(change(analysis.tokens))
        spared += not text.is_tagged
    assert made > 400
    assert spared > 0.7 * len(texts)
