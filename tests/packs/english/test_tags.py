import pytest

import audit
from audit.errors import NotInstalled
from audit.packs.english import parser
from audit.relations import get_relation
from audit.text import Analysis


@pytest.mark.parametrize(
    ("text", "word", "mark"),
    [
        ("a film that deals with love", "deals", "VBZ"),
        ("the film's look", "'s", "POS"),
        ("THE FILM IS BAD.", "BAD", "JJ"),
        ("it has taken the prize", "taken", "VBN"),
    ],
)
def test_tags(text, word, mark):
    assert {token.text: token.tag for token in Analysis(text).tokens}[word] == mark


def test_many_texts_at_once_have_the_tokens_that_each_has_alone():
    texts = ["It is good.", "", "The reviews that I have read don't say so!", " "]
    together = [Analysis(text) for text in texts]
    Analysis.tag_all(together)
    assert [analysis.tokens for analysis in together] == [Analysis(text).tokens for text in texts]
    assert together[1].tokens == ()


def test_without_a_model_a_run_is_refused_with_the_line_that_installs_it(monkeypatch):
    monkeypatch.setattr(parser, "model_name", lambda: None)
    parser._model.cache_clear()
    with pytest.raises(NotInstalled, match=r"no model of spaCy for English is installed; run: pip install 'audit\[eng"):
        audit.run(["It's long, but I like it."], ["vader"], ["MR3.1", "MR4.3"], progress=False)
    assert get_relation("sentiment", "MR3.1").full_version == "1"
