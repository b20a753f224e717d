"""MGMT at the levels of phrases and words: what is replaced, what stays, how translations are compared, whole runs."""

import pytest
import small_parsers
from interrupting import Interrupting
from nltk import Tree
from small_corpus import SmallCorpus
from sqlalchemy import select

from audit.corpora.base import Row
from audit.errors import AuditError, NotInstalled, UnknownName
from audit.keys import fingerprint
from audit.packs.translation import tools
from audit.packs.translation.trees import structure_similarity
from audit.relations import Outcome, Source, get_relation
from audit.relations.registry import configured
from audit.runner.executors import InProcess, Processes
from audit.runner.run import run
from audit.store import open_store, table_of, tables
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


def test_one_word_is_replaced(parser, proposer):
    assert follow_up("word", "The cat sees the big dog in the garden.") == (
        "The cat sees the big dog in the attic.",
        (("to", "es"), ("garden", "attic")),
    )


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


OWN = """
from audit.tasks import Output

SPANISH = dict(
    the="el", a="un", dog="perro", cat="gato", garden="jardín", old="viejo", big="grande", small="pequeño", sees="ve",
    sleeps="duerme", young="grande", tiny="pequeño", amazing="bueno", wolf="perro", otter="gato", attic="casa",
)


class Words:
    '''Word by word into Spanish; "tiny" puts the adjective last, as Spanish would.'''
    tasks, languages, name, version, settings, summary = ("translation",), ("*",), "words", "1", {}, "test"
    def needs(self): return None
    def prepare(self): pass
    def run(self, inputs):
        return [Output() if "snow" in one.text else Output(text=self.said(one.text)) for one in inputs]
    def said(self, text):
        words = [SPANISH.get(word, word) for word in text.lower().strip(".").split()]
        if "tiny" in text:
            words.append(words.pop(1))
        return " ".join(words).capitalize() + "."
"""


class Sentences(SmallCorpus):
    """Twelve short sentences, each to be translated into Spanish."""

    task = "translation"

    def __init__(self):
        texts = [
            f"The {adjective} dog {verb}."
            for adjective in ("big", "old", "small", "big snow")
            for verb in ("sleeps", "sees a cat")
        ]
        super().__init__("sentences", [*texts, "It was.", "The dog sees.", "The unparsable old dog.", "Yes!"])

    def rows(self):
        for row in super().rows():
            yield Row(row.key, Input.of(row.input.text, target="es"))


@pytest.fixture
def spec(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("audit.runner.studies.CHUNK", {"sentence": 5, "document": 2})
    name = f"words_{fingerprint([str(tmp_path)])}"
    (tmp_path / f"{name}.py").write_text(OWN, encoding="utf-8")
    return f"{name}:Words"


def stored(engine):
    """(relation, source, follow-up, outcome, value, reason) of every group."""
    group, member, verdict = table_of(tables.Group), table_of(tables.Member), table_of(tables.Verdict)
    relations, inputs, rows = table_of(tables.Relation), table_of(tables.Input), table_of(tables.Source)
    query = (
        select(relations.c.name, rows.c.row, inputs.c.texts, verdict.c.outcome, verdict.c.value, verdict.c.reason)
        .select_from(group)
        .join(relations, relations.c.id == group.c.relation_id)
        .join(rows, rows.c.id == group.c.source_id)
        .join(member, (member.c.group_id == group.c.id) & (member.c.role == "follow_up"))
        .join(inputs, inputs.c.id == member.c.input_id)
        .join(verdict, verdict.c.group_id == group.c.id)
    )
    with engine.connect() as connection:
        return sorted((row[0], int(row[1]), row[2][0], *row[3:]) for row in connection.execute(query))


@pytest.mark.slow
def test_a_run_in_processes_and_one_that_goes_on_find_the_same(spec, tmp_path, parser, proposer):
    relations = [relation("phrase"), relation("word", k=3)]
    engine = open_store(str(tmp_path / "one.db"), create=True)
    ran = run(engine, Sentences(), [spec], relations, InProcess())
    rows = stored(engine)
    by_row = {row: (text, outcome, reason) for name, row, text, outcome, _, reason in rows if name == "MGMT-phrase"}
    satisfied, violated, inapplicable = int(Outcome.SATISFIED), int(Outcome.VIOLATED), int(Outcome.INAPPLICABLE)
    # big -> tiny moves the adjective; old and small keep the structure; the system says nothing of snow.
    assert by_row[0] == ("The tiny dog sleeps.", violated, None)
    assert by_row[2] == ("The young dog sleeps.", satisfied, None)
    assert by_row[4] == ("The amazing dog sleeps.", satisfied, None)
    assert by_row[6][1:] == (inapplicable, "the system has no output for a member")
    assert not {8, 9, 10, 11} & set(by_row)  # nothing to replace, or no tree
    assert {value for *_, value, reason in rows if reason is None} >= {1.0}
    assert ran.counts.failed == 0

    other = open_store(str(tmp_path / "other.db"), create=True)
    with Processes(2) as executor:
        run(other, Sentences(), [spec], relations, executor)
    assert stored(other) == rows

    broken = open_store(str(tmp_path / "broken.db"), create=True)
    with pytest.raises(KeyboardInterrupt):
        run(broken, Sentences(), [spec], relations, Interrupting(1))
    run(broken, Sentences(), [spec], relations, InProcess())
    assert stored(broken) == rows
