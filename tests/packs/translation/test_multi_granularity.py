"""MGMT at the levels of phrases and words: what is replaced, what stays, how translations are compared, whole runs."""

import pytest
import small_parsers
from nltk import Tree

from audit.errors import AuditError, NotInstalled, UnknownName
from audit.packs.translation import tools
from audit.packs.translation.trees import structure_similarity
from audit.relations import Outcome, Source, get_relation
from audit.relations.registry import configured
from audit.tasks import Input, Output
from audit.text import Analysis

NEW = {"old": "young", "small": "amazing", "big": "tiny", "quickly": "slowly", "dog": "wolf", "cat": "otter"}
NEW |= {"garden": "attic", "sleeps": "dreams", "sees": "hears", "young": "green", "said": "wrote", "news": "rumours"}


class Listed:
    """A proposer for tests: the words of a list, in the order in which they are asked for."""

    name, version, languages = "listed", "listed 1", ("en",)

    def __init__(self):
        self.asked = []

    def needs(self):
        return None

    def propose(self, masked_sentences, language):
        self.asked.append(list(masked_sentences))
        return [NEW.get(words[at].lower()) for words, at in masked_sentences]


@pytest.fixture
def parser(monkeypatch):
    return small_parsers.register(monkeypatch)


@pytest.fixture
def proposer(monkeypatch):
    listed = Listed()
    monkeypatch.setitem(tools.PROPOSERS, "listed", (lambda: listed, ""))
    tools.get_tool.cache_clear()
    yield listed
    tools.get_tool.cache_clear()


def relation(level, **changes):
    params = {"parser": "small-parser", "proposer": "listed", "k": 1, **changes}
    return configured(get_relation("translation", f"MGMT-{level}"), params)


def source(text, target="es", language="en", seed="0:1"):
    return Source(Input.of(text, language=language, target=target), Analysis(text, language), seed)


def follow_up(level, text, **changes):
    follow_ups, note = relation(level, **changes).make_group(source(text))
    return (follow_ups[0].text if follow_ups else None), note


def test_all_modifiers_of_one_phrase_are_replaced(parser, proposer):
    text, note = follow_up("phrase", "The big old dog sleeps.")
    assert text == "The tiny young dog sleeps."
    assert note == (("to", "es"), ("big", "tiny"), ("old", "young"))
    # The second word was asked for with the first one in its place.
    assert proposer.asked == [
        [(("The", "big", "old", "dog", "sleeps", "."), 1)],
        [(("The", "tiny", "old", "dog", "sleeps", "."), 2)],
    ]


@pytest.mark.parametrize(
    ("given", "why"),
    [
        (Source(Input.of("The big dog sleeps."), Analysis("The big dog sleeps.")), "no target language"),
        (source("Le grand chien dort.", language="nl"), "no parser"),
        (source("El perro grande duerme.", target="en", language="es"), "no proposer for Spanish"),
        (source("The unparsable big dog sleeps."), "no tree"),
        (source("Yes!"), "no modifier and no noun"),
    ],
    ids=lambda one: one if isinstance(one, str) else "",
)
def test_no_group(given, why, parser, proposer):
    assert relation("phrase").make_group(given) == ([], ())
    if "noun" not in why:
        assert relation("word").make_group(given) == ([], ())


def test_the_value_is_the_similarity_of_the_translations(parser, proposer):
    replacing = relation("word")
    first, second = "El perro grande ve la casa.", "El perro ve la casa."
    same = replacing.verdict(
        [Output(text=first), Output(text="El gato viejo ve el jardín.")], (("to", "es"), ("a", "b"))
    )
    assert (same.outcome, same.value) == (Outcome.SATISFIED, 1.0)
    other = replacing.verdict([Output(text=first), Output(text=second)], (("to", "es"), ("a", "b")))
    trees = parser.parse([first, second], "es")
    assert other.outcome is Outcome.VIOLATED
    assert other.value == structure_similarity(*trees)
    assert 0 < other.value < 1
    loose = relation("word", bound=0.5).verdict([Output(text=first), Output(text=second)], (("to", "es"),))
    assert (loose.outcome, loose.value) == (Outcome.SATISFIED, other.value)


def test_a_similarity_by_hand(monkeypatch, parser, proposer):
    # Paths of one: S-NP-NN, S-VP-VBZ; of the other: S-NP-JJ beside them. Nothing lost, 1 of 3 added: 1 - 1/3/2 = 5/6.
    trees = {
        "uno": Tree.fromstring("(S (NP (NN a)) (VP (VBZ b)))"),
        "dos": Tree.fromstring("(S (NP (JJ c) (NN a)) (VP (VBZ b)))"),
    }
    monkeypatch.setattr(parser, "parse", lambda texts, language: [trees[text] for text in texts])
    for bound, outcome in ((0.84, Outcome.VIOLATED), (5 / 6, Outcome.SATISFIED)):
        verdict = relation("phrase", bound=bound).verdict([Output(text="uno"), Output(text="dos")], (("to", "es"),))
        assert verdict.outcome is outcome
        assert verdict.value == pytest.approx(5 / 6)


def test_translations_that_cannot_be_compared_are_inapplicable_with_a_reason(parser, proposer):
    outputs = [Output(text="El perro ve."), Output(text="unparsable")]
    first, second = relation("word").verdicts([(outputs, (("to", "es"),)), (outputs, (("to", "fi"),))])
    assert (first.outcome, first.value, first.reason) == (Outcome.INAPPLICABLE, None, "a translation cannot be parsed")
    assert (second.outcome, second.reason) == (Outcome.INAPPLICABLE, "there is no parser for fi")
    # All translations into one language in one call.
    assert parser.asked == [("es", ["El perro ve.", "unparsable"])]


def test_a_parser_that_is_absent_is_said_before_anything_is_translated(parser, proposer):
    replacing = relation("word", parser="small-parser,absent-parser")
    with pytest.raises(NotInstalled, match=r"relation MGMT-word parses fr with absent-parser.*apt-get install nothing"):
        replacing.make_group(source("The big dog sleeps.", target="fr"))
    assert replacing.make_group(source("The big dog sleeps.", target="es"))[0]


def test_the_version_names_parsers_and_proposer(parser, proposer):
    replacing = relation("word")
    assert replacing.full_version == f"{replacing.version}; small-parser 1; listed 1"
    parser.version = "small-parser 2"
    assert replacing.full_version == f"{replacing.version}; small-parser 2; listed 1"
    for name in ("parser", "proposer"):
        with pytest.raises(UnknownName):
            _ = relation("word", **{name: "nobody"}).full_version


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"k": 0}, "and k from 1"),
        ({"bound": 1.5}, r"bound is 1\.5; allowed are numbers from 0, for structures to 1"),
        ({"bound": "all"}, "it must be of type float"),
        ({"words": 3}, "has no parameter 'words'; it has parser, proposer, k, bound"),
    ],
)
def test_bad_parameters_are_refused(changes, message):
    with pytest.raises(AuditError, match=message):
        configured(get_relation("translation", "MGMT-word"), changes)
