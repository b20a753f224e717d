"""MGMT at the levels of phrases and words: what is replaced, what stays, how translations are compared."""

import pytest
from nltk import Tree

from audit.errors import NotInstalled
from audit.packs.translation import tools
from audit.packs.translation.parsers import Parser
from audit.relations import Outcome, Source, get_relation
from audit.relations.registry import configured
from audit.tasks import Input, Output
from audit.text import Analysis

NEW = {"old": "young", "big": "tiny", "dog": "wolf", "garden": "attic", "sleeps": "dreams", "young": "green"}
BIG, LONG = "The big old dog sleeps.", "The big cat sees a dog in the old garden."
TREES = {
    BIG: "(S (NP (DT The) (JJ big) (JJ old) (NN dog)) (VP (VBZ sleeps)) (. .))",
    LONG: "(S (NP (DT The) (JJ big) (NN cat)) (VP (VBZ sees) (NP (DT a) (NN dog)) "
    "(PP (IN in) (NP (DT the) (JJ old) (NN garden)))) (. .))",
    "Yes!": "(S (UH Yes) (. !))",
    "uno": "(S (NP (NN a)) (VP (VBZ b)))",
    "dos": "(S (NP (JJ c) (NN a)) (VP (VBZ b)))",
}


class Written(Parser):
    """A parser of the trees above."""

    name, version, languages = "written", "written 1", ("en", "es")

    def __init__(self):
        self.asked = []

    def trees(self, texts, language):
        self.asked.append((language, list(texts)))
        return [Tree.fromstring(TREES[text]) if text in TREES else None for text in texts]


class Absent(Written):
    name, version, languages = "absent", "1", ("fr",)

    def needs(self):
        return "apt-get install nothing"


class Listed:
    """A proposer of the words of a list, which keeps what it is asked."""

    name, version, languages = "listed", "listed 1", ("en",)

    def __init__(self):
        self.asked = []

    def needs(self):
        return None

    def propose(self, masked, language):
        self.asked += masked
        return [NEW.get(words[at].lower()) for words, at in masked]


@pytest.fixture(autouse=True)
def asked(monkeypatch):
    """The parser and the proposer."""
    parser, proposer = Written(), Listed()
    for makers, name, tool in (
        (tools.PARSERS, "written", parser),
        (tools.PARSERS, "absent", Absent()),
        (tools.PROPOSERS, "listed", proposer),
    ):
        monkeypatch.setitem(makers, name, (lambda tool=tool: tool, ""))
    tools.get_tool.cache_clear()
    yield parser, proposer
    tools.get_tool.cache_clear()


def relation(level, **changes):
    params = {"parser": "written", "proposer": "listed", "k": 1, **changes}
    return configured(get_relation("translation", f"MGMT-{level}"), params)


def source(text, target="es", language="en", seed="0:1"):
    return Source(Input.of(text, language=language, target=target), Analysis(text, language), seed)


def test_all_modifiers_of_the_deepest_phrase_are_replaced(asked):
    ((follow_up,), note) = relation("phrase").make_group(source(BIG))
    assert follow_up.text == "The tiny young dog sleeps."
    assert note == (("to", "es"), ("big", "tiny"), ("old", "young"))
    # The second word was asked for with the first one in its place.
    tokens = ("The", "big", "old", "dog", "sleeps", ".")
    assert asked[1].asked == [(tokens, 1), (("The", "tiny", *tokens[2:]), 2)]
    # (VP sees (NP a dog) (PP in (NP the old garden))): the noun phrase in the prepositional one is the deepest.
    ((follow_up,), note) = relation("phrase").make_group(source(LONG))
    assert (follow_up.text, note[1:]) == ("The big cat sees a dog in the young garden.", (("old", "young"),))


@pytest.mark.parametrize(
    "of",
    [
        Source(Input.of(BIG), Analysis(BIG)),
        source("Le grand chien dort.", language="nl"),
        source("El perro grande duerme.", target="en", language="es"),
        source("The unparsable big dog sleeps."),
        source("Yes!"),
    ],
    ids=["no target language", "no parser", "no proposer for Spanish", "no tree", "no modifier and no noun"],
)
def test_no_group(of):
    assert relation("phrase").make_group(of) == relation("word").make_group(of) == ([], ())


def test_a_similarity_by_hand():
    # Paths of one: S-NP-NN, S-VP-VBZ; of the other: S-NP-JJ beside them. Nothing lost, 1 of 3 added: 1 - 1/3/2 = 5/6.
    for bound, outcome in ((0.84, Outcome.VIOLATED), (5 / 6, Outcome.SATISFIED)):
        verdict = relation("phrase", bound=bound).verdict([Output(text="uno"), Output(text="dos")], (("to", "es"),))
        assert (verdict.outcome, verdict.value) == (outcome, pytest.approx(5 / 6))


def test_translations_that_cannot_be_compared_are_inapplicable_with_a_reason(asked):
    outputs = [Output(text="uno"), Output(text="unparsable")]
    first, second = relation("word").verdicts([(outputs, (("to", "es"),)), (outputs, (("to", "fi"),))])
    assert (first.outcome, first.value, first.reason) == (Outcome.INAPPLICABLE, None, "a translation cannot be parsed")
    assert (second.outcome, second.reason) == (Outcome.INAPPLICABLE, "there is no parser for fi")
    assert asked[0].asked == [("es", ["uno", "unparsable"])]  # all translations into one language in one call


def test_a_parser_that_is_absent_is_said_before_anything_is_translated():
    replacing = relation("word", parser="written,absent")
    with pytest.raises(NotInstalled, match=r"relation MGMT-word parses fr with absent.*apt-get install nothing"):
        replacing.make_group(source(BIG, target="fr"))
    assert replacing.make_group(source(BIG))[0]
