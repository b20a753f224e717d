"""The English perturbations of classification, inference, question answering, sentiment, similarity, summarization.

What each makes of real text is pinned in `tests/golden`; here is what holds of all of them, and what they refuse.
"""

import random
import re
import time
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.errors import NotInstalled
from audit.packs.english.noise import typos
from audit.packs.english.tagging import is_word
from audit.packs.translation import perturbations as asking
from audit.relations import Joint, Plain, Source, all_relations, get_relation
from audit.relations.registry import configured
from audit.tasks import Input, Output, get_task
from audit.text import Analysis

ASKING = ("masked-word", "back-translation")
"""They ask another program."""
ENGLISH = [
    relation
    for relation in all_relations()
    if relation.languages == ("en",) and not relation.name.startswith("MR") and relation.name not in ASKING
    if isinstance(relation, Plain | Joint)
]
TEXTS = [
    "The film is wonderful and exciting, but I really don't believe its ending.",
    "Ann has a shop in Oslo. Bob sells good tea. The people like both of them.",
    "We bought a bike last summer. It isn't fast. Oslo has many hills. Trains cross Norway.",
    "IT WAS GREAT",
    "the children believe what they read",
    "Mr. Lee left the U.S. in 1990.",
    "Although it rains, she will walk home.",
    "The shop is open.",
    "The shop is not open.",
    "The film is not good.",
    "It was a good man.",
    "The colour of the theatre is ugly.",
    "Tom Hanks has three dogs.",
    "He likes Blade Runner.",
    "My brother is late.",
    "She paid for 18 books.",
    "",
    "...",
]
QUESTIONS = [
    *("Where does Ann have a shop?", "Who's the director of the film?", "What colour is the shop in Oslo?"),
    *("Which people believe it?", "Why isn't it cold?", "Why", "?"),
]
NAMED = [("Alice Smith works in Oslo.", "What does Alice Smith do in Oslo?"), ("In 3 years", "What was in 3 years?")]


def named(relation):
    return f"{relation.task}-{relation.name}"


def inputs(relation):
    if relation.task == "question-answering":
        return [Input.of(text, question) for text in TEXTS[:3] for question in QUESTIONS] + [
            Input.of(*pair) for pair in (*NAMED, ("He paid 50 euros.", "Where did he pay 50 euros?"))
        ]
    if get_task(relation.task).texts == 1:
        return [Input.of(text) for text in TEXTS]
    return [Input.of(text, other) for text in TEXTS for other in (text, TEXTS[0], TEXTS[1])]


analysed = cache(Analysis)  # parsed once for all relations


def follow_ups(relation, item, seed="1"):
    source = Source(item, analysed(item.text), seed)
    source.__dict__["analyses"] = tuple(map(analysed, item.texts))
    return relation.follow_ups(source)


def only(task, name, *texts, seed="1"):
    """The texts of the one follow-up; None where there is none."""
    made = follow_ups(get_relation(task, name), Input.of(*texts), seed)
    assert len(made) < 2
    return made[0].texts if made else None


@pytest.mark.parametrize(
    ("task", "name", "texts", "new"),
    [
        ("sentiment", "title-case", ["It isn't an étude of cafe\u0301 life."], "It Isn't An Étude Of Cafe\u0301 Life."),
        ("sentiment", "misspellings", ["I really like this film."], "I realy like this film."),
        ("sentiment", "lower-case", ["Paris is in France."], "paris is in france."),
        ("sentiment", "final-mark", ["It is good."], "It is good"),
        ("sentiment", "spelling", ["The colour is grey."], "The color is gray."),
        ("sentiment", "social-media", ["Thanks for the film because I like it."], "thx for the film cuz I like it"),
        ("inference", "contractions", ["It isn't good.", "It's bad."], "It is not good."),
        ("sentiment", "adverbs", ["The film opens in May."], "The film actually opens in May."),
        ("classification", "swapped-conjuncts", ["It is long and dull."], "It is dull and long."),
        ("classification", "but-although", ["Although I like it, I left."], "I like it, but I left."),
        ("classification", "tense", ["The story is good. It ends well."], "The story was good. It ended well."),
        ("sentiment", "repeated-sentence", ["I like it."], "I like it. I like it."),
        ("sentiment", "antonyms", ["It is a good film."], "It is a bad film."),
        ("classification", "negation-removed", ["The printer does not work."], "The printer works."),
        ("sentiment", "double-denial", ["The film is boring."], "The film is not interesting."),
        ("sentiment", "pronouns", ["He lost his key, so I gave him mine."], "She lost her key, so I gave her mine."),
        ("sentiment", "pronouns", ["She did her very best."], "He did his very best."),
        ("sentiment", "kin-words", ["My brother says he likes it."], "My sister says she likes it."),
        ("inference", "swapped-contradiction", ["A dog runs.", "It sleeps."], "It sleeps."),
        ("inference", "hypothesis-from-premise", ["Two dogs run.", "A cat sleeps."], "Two dogs run."),
        ("inference", "antonyms", ["It rains.", "The door is open."], "The door is closed."),
        ("inference", "negated-hypothesis", ["It rains.", "The man is sleeping."], "The man is not sleeping."),
        ("inference", "denied-hypothesis", ["It rains.", "A man sleeps."], "It is not true that a man sleeps."),
    ],
)
def test_what_is_made(task, name, texts, new):
    assert new in only(task, name, *texts)


@pytest.mark.slow
@pytest.mark.parametrize("relation", ENGLISH, ids=named)
def test_follow_ups_differ_are_repeatable_and_leave_other_texts_alone(relation):
    assert re.fullmatch(r"[A-Z].*; .*[a-z]\.", relation.summary)
    assert isinstance(relation, Plain | Joint)
    made = 0
    for item in inputs(relation):
        texts = item.texts
        new = follow_ups(relation, item)
        assert new == follow_ups(relation, item)
        assert len(new) <= 1
        for follow_up in new:
            made += 1
            assert follow_up.texts != texts
            assert (len(follow_up.texts), follow_up.languages) == (len(texts), item.languages)
            assert all(text.strip() for text in follow_up.texts if text not in texts)
            if isinstance(relation, Plain):
                changed = [at for at, (old, text) in enumerate(zip(texts, follow_up.texts, strict=True)) if old != text]
                assert set(changed) <= set(relation.texts)
                assert len(changed) == 1 or relation.changes == "all"
    assert made


@given(st.integers(0, 10_000))
def test_noise_makes_no_other_word_and_keeps_names_numbers_and_negations(seed):
    text = "Nobody believed that Brownstone would never repeat the wonderful 1990 performance without thinking."
    new = typos(Analysis(text), random.Random(seed), 0.5)
    old_words, new_words = text.split(), new.split()
    assert len(old_words) == len(new_words)
    for old, word in zip(old_words, new_words, strict=True):
        if old != word:
            assert old not in ("Nobody", "Brownstone", "never", "1990", "without")
            assert not is_word(word.strip(".").lower())
            assert word[0] == old[0]


@pytest.mark.parametrize(
    ("task", "name", "texts"),
    [
        ("sentiment", "lower-case", ("He left the US.",)),
        ("sentiment", "final-mark", ("He left the U.S.",)),
        ("classification", "synonyms", ("The actor left.",)),  # a performer may be a dancer
        ("sentiment", "adverbs", ("It is not long.",)),
        ("classification", "negation-removed", ("The shop is not open yet.",)),
        ("sentiment", "double-denial", ("Everyone hated it.",)),
        ("sentiment", "antonyms", ("A good film with a bad ending.",)),
        ("inference", "antonyms", ("It rains.", "A shop is open.")),
        ("inference", "antonyms", ("It rains.", "The tower is 62 metres high.")),
        ("sentiment", "kin-words", ("My brother saw The Godfather.",)),
        ("sentiment", "persons", ("Samuel L. Jackson is in it.",)),
        ("sentiment", "persons", ("Norman families settled there.",)),
        ("inference", "negated-hypothesis", ("x", "A man is asleep.")),
        ("inference", "denied-hypothesis", ("x", "But he sleeps.")),
        ("inference", "changed-number", ("Tom paid more than 80 euros.", "Tom paid 80 euros.")),
        ("inference", "overlap-open", ("It rains.", "Rosa did not buy the house.")),
        ("inference", "overlap-stated", ("It rains.", "The thieves got away, since it rained.")),
        ("sentiment", "numbers", ("I give it 8 out of 10.",)),
        ("similarity", "numbers", ("It weighs 500 grams.", "It weighs half a kilogram.")),
        ("question-answering", "numbers", ("In 1990 he bought 3 cars.", "How many cars did he buy?")),
        ("sentiment", "places", ("Oslo is the capital.",)),
        ("question-answering", "places", ("Alice met Peter in Oslo.", "Was it in Oslo or Bergen?")),
        ("sentiment", "pronouns", ("The actress lost her key.",)),
        ("sentiment", "kin-words", ("His brother John left.",)),
        ("sentiment", "film-summary-added", ("He ran amok.",)),
        ("question-answering", "distractor-sentence", ("Ann asked him.", "Who asked him?")),
        ("sentiment", "irrelevant-opening", ("It is long.",)),
    ],
)
def test_no_group_where_the_label_could_not_be_known_or_it_reads_badly(task, name, texts):
    assert only(task, name, *texts) is None


@pytest.mark.parametrize("text", ["a" * 50_000, "@a" * 25_000, "ab_" * 17_000, "<" * 50_000, "www." * 12_000])
def test_noise_takes_no_quadratic_time(text):
    begun = time.perf_counter()
    for name in ("typos", "title-case", "social-media"):
        only("sentiment", name, text)
    assert time.perf_counter() - begun < 10


@pytest.mark.parametrize(
    ("task", "name", "label", "carried"),
    [
        ("inference", "denied-hypothesis", "entailment", {"contradiction"}),
        ("inference", "denied-hypothesis", "contradiction", {"entailment", "neutral"}),
        ("inference", "negation-removed", "entailment", {"contradiction"}),
        ("inference", "hypothesis-from-premise", "contradiction", {"entailment"}),
        ("inference", "swapped-contradiction", "entailment", None),
        ("inference", "antonyms", "entailment", {"contradiction"}),
        ("inference", "antonyms", "neutral", None),
        ("inference", "changed-number", "entailment", {"contradiction"}),
        ("inference", "overlap-open", "entailment", {"neutral"}),
        ("inference", "overlap-stated", "neutral", {"entailment"}),
        ("inference", "overlap-denied", "neutral", {"contradiction"}),
        ("inference", "places", "neutral", {"neutral"}),
        ("classification", "places", "a", None),  # a scheme may be about where
        ("classification", "tense", "a", None),  # or about when
        ("sentiment", "antonyms", "positive", None),
        ("sentiment", "negation-removed", "positive", None),
        ("sentiment", "double-denial", "negative", {"negative"}),
    ],
)
def test_truth_is_carried_only_where_it_stays(task, name, label, carried):
    assert get_relation(task, name).carry({label}) == carried


# What asks another program.


@pytest.mark.slow
def test_a_masked_word_is_of_the_same_kind_and_its_model_is_part_of_the_version():
    relation = get_relation("classification", "masked-word")
    text = "It is a good film about a long war."
    (new,) = follow_ups(relation, Input.of(text), "2")
    assert sum(old != word for old, word in zip(text.split(), new.text.split(), strict=True)) in (1, 2)
    assert "ngram" in relation.full_version
    with pytest.raises(NotInstalled, match="no directory"):
        assert configured(relation, {"proposer": "fill-mask:nowhere/none"}).full_version


class Reverser:
    """A fake translation system: words in the other order, there and back, with one word lost on the way."""

    name, version, tasks, calls = "fake", "1", ("translation",), 0

    def needs(self):
        return None

    def prepare(self):
        pass

    def run(self, inputs):
        Reverser.calls += 1
        return [Output(text=" ".join(item.text.replace("very ", "").split()[::-1])) for item in inputs]


def test_a_round_trip_asks_for_many_texts_at_once(monkeypatch):
    monkeypatch.setattr(asking, "_system", lambda spec: (Reverser(), None))
    relation = get_relation("sentiment", "back-translation")
    texts = ["a very long film", "a film", "a very very good one"]
    groups = relation.make_groups([Source(Input.of(text), Analysis(text), "1") for text in texts])
    assert [[new.text for new in group] for group, _ in groups] == [["a long film"], [], ["a good one"]]
    assert Reverser.calls == 2
    assert relation.full_version.endswith("fake 1")
    assert relation.carry({"positive"}) is None
    asking._TRIPS.clear()


@pytest.mark.parametrize("name", ["typos", "swapped-letters", "scanning-errors", "misspellings", "title-case"])
def test_links_handles_and_markup_stay(name):
    text = "Really <b>wonderful</b> people (https://because.example/really), @really_you: and #wonderful `really()`."
    (new,) = only("sentiment", name, text)
    kept = ("<b>", "</b>", "https://because.example/really", "@really_you", "#wonderful", "`really()`")
    assert all(part in new for part in kept)
