import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.errors import AuditError
from audit.packs.english.synonyms import lexicon, read, replacements
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
    ],
)
def test_names_and_fixed_phrases_stay(text):
    assert replaced(text) == text


def test_the_lexicon_is_sound():
    entries = lexicon()
    assert len(entries) > 200
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
