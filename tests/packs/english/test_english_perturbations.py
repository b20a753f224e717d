"""The English perturbations of classification, inference, question answering, sentiment, similarity, summarization."""

import random
import re
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audit.packs.english.capitals import inside_sentence, is_statement
from audit.packs.english.noise import typos
from audit.packs.english.perturbations import (
    content_stems,
    final_mark,
    free_sentence_order,
    irrelevant_to,
    lower_case,
    sentences_of,
    synonyms,
)
from audit.packs.english.tagging import is_word
from audit.relations import Joint, Outcome, Plain, Source, all_relations, get_relation
from audit.tasks import Input, Output, get_task
from audit.text import Analysis

TASKS = ("classification", "inference", "question-answering", "sentiment", "similarity", "summarization")
ELSEWHERE = "hypernyms antonyms numbers word-numbers places organisations persons pronouns kin-words names-by-gender "
ELSEWHERE += "names-by-region masked-word back-translation"
ENGLISH = [
    relation
    for task in TASKS
    for relation in all_relations(task)
    if relation.languages == ("en",) and not relation.name.startswith("MR") and relation.name not in ELSEWHERE.split()
]
"""Those of meaning, names and fairness are tested in `test_meaning.py`, on texts of their own."""
TEXTS = [
    "The film is wonderful and exciting, but I really don't believe its ending.",
    "Ann has a shop in Oslo. Bob sells good tea. The people like both of them.",
    "We bought a bike last summer. It isn't fast. Oslo has many hills. Trains cross Norway.",
    "IT WAS GREAT",
    "the children believe what they read",
    "Mr. Lee left the U.S. in 1990.",
    "Although it rains, she will walk home.",
    "Ann has a shop. Bob sells tea. Oslo is cold.",
    "The shop is open.",
    "The shop is not open.",
    "The film is not good.",
    "I made a film.",
    "I liked it more than Blade Runner.",
    "The colour of the theatre is ugly.",
    "Tom Hanks has three dogs.",
    "He likes Blade Runner.",
    "",
    "...",
]
QUESTIONS = [
    "Where does Ann have a shop?",
    "Who's the director of the film?",
    "What colour is the shop?",
    "Which people believe it?",
    "Why isn't it cold?",
    "Why",
    "?",
]


def named(relation):
    return f"{relation.task}-{relation.name}"


def inputs(relation):
    if relation.task == "question-answering":
        return [Input.of(text, question) for text in TEXTS[:3] for question in QUESTIONS]
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


@pytest.mark.parametrize("relation", ENGLISH, ids=named)
def test_follow_ups_differ_are_repeatable_and_leave_other_texts_alone(relation):
    made = 0
    for item in inputs(relation):
        texts = item.texts
        new = follow_ups(relation, item)
        assert new == follow_ups(relation, item)
        assert item.texts == texts
        assert len(new) <= 1
        for follow_up in new:
            made += 1
            assert follow_up.texts != item.texts
            assert (len(follow_up.texts), follow_up.languages) == (len(texts), item.languages)
            assert all(text.strip() for text in follow_up.texts if text not in texts)
            if isinstance(relation, Plain):
                changed = [at for at, (old, text) in enumerate(zip(texts, follow_up.texts, strict=True)) if old != text]
                assert set(changed) <= set(relation.texts)
                assert len(changed) == 1 or relation.changes == "all"
    assert made


@pytest.mark.parametrize("relation", ENGLISH, ids=named)
def test_each_says_what_it_does_and_expects(relation):
    assert re.fullmatch(r"[A-Z].*; .*[a-z]\.", relation.summary)
    assert re.fullmatch(r"[a-z]+(-[a-z]+)*", relation.name)
    assert isinstance(relation, Plain | Joint)
    assert not relation.per_system


@settings(max_examples=40, deadline=None)
@given(st.text(max_size=60))
def test_whatever_the_text_is(text):
    for relation in (one for one in ENGLISH if one.task == "classification"):
        for follow_up in follow_ups(relation, Input.of(text)):
            assert follow_up.text != text


def test_there_are_enough_of_each_task():
    counts = {task: sum(relation.task == task for relation in ENGLISH) for task in TASKS}
    assert min(counts.values()) >= 8, counts


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


def test_lower_case_leaves_words_that_mean_something_else_then():
    assert lower_case(Analysis("He left the US."), random.Random(0)) is None
    assert lower_case(Analysis("She is Polish."), random.Random(0)) is None
    assert lower_case(Analysis("It is in Oslo."), random.Random(0)) == "it is in oslo."
    assert lower_case(Analysis("WHO IS IT?"), random.Random(0)) == "who is it?"


def test_final_marks():
    def made(text):
        return final_mark(Analysis(text), random.Random(0))

    assert made("Is it good?") == "Is it good"
    assert made('He said "no way."') == 'He said "no way"'
    assert made("It is good") == "It is good."
    for text in ("It is good!", "He left the U.S.", "books, films, etc.", "and so on...", "What?!?", "a -"):
        assert made(text) is None, text


def test_synonyms_can_take_each_others_place():
    assert synonyms(Analysis("I want to buy a bike."), random.Random(0)) == "I want to buy a bicycle."
    assert synonyms(Analysis("The actor left."), random.Random(0)) is None  # a performer may be a dancer
    assert synonyms(Analysis("It is out of tune."), random.Random(0)) is None


def test_statements():
    assert [
        is_statement(Analysis(text)) for text in ("It rains.", "But it rains.", "Rain.", "Go!", "However, it rains.")
    ]
    assert inside_sentence(Analysis("Rain and snow.")) is None
    assert inside_sentence(Analysis("Oslo is cold.")) == "Oslo is cold."
    assert inside_sentence(Analysis("The city is cold.")) == "the city is cold."


def test_sentences_that_lean_on_another_keep_their_places():
    text = "Ann has a shop. She sells tea. Bob is a baker. Oslo is cold."
    orders = {free_sentence_order(Analysis(text), random.Random(seed)) for seed in range(10)}
    assert orders == {"Ann has a shop. She sells tea. Oslo is cold. Bob is a baker."}
    assert free_sentence_order(Analysis("Ann has a shop. She sells tea. The tea is good."), random.Random(0)) is None


def test_irrelevant_sentences_share_no_word():
    assert all(content_stems(sentence) for sentence in sentences_of("irrelevant"))
    assert not any("bakery" in one for one in irrelevant_to([Analysis("Where are the bakeries?")]))
    assert not any("Lemons" in one for one in irrelevant_to([Analysis("A lemon is yellow.")]))
    for name in ("irrelevant", "remarks"):
        assert len(set(sentences_of(name))) == len(sentences_of(name))
        assert all(re.fullmatch(r"[A-Z].*\.", sentence) for sentence in sentences_of(name))


def test_a_text_that_shares_a_word_with_every_irrelevant_sentence_makes_no_group():
    everything = " ".join(sentences_of("irrelevant"))
    assert only("inference", "irrelevant-sentence", everything, "It rains.") is None
    assert only("question-answering", "other-context", "Ann lives in Oslo.", everything + "?") is None


def test_the_hypothesis_becomes_what_the_premise_says():
    assert only("inference", "hypothesis-from-premise", "Two dogs run.", "It rains.") == ("Two dogs run.",) * 2
    assert only("inference", "hypothesis-from-premise", "Do dogs run?", "It rains.") is None
    assert only("inference", "hypothesis-from-premise", "Two dogs run.", "Two dogs run") is None
    assert only("inference", "premise-with-hypothesis", "Two dogs run", "They are brown.") == (
        "Two dogs run. They are brown.",
        "They are brown.",
    )
    assert only("inference", "hypothesis-with-premise", "Two dogs run.", "They are brown.") == (
        "Two dogs run.",
        "Two dogs run. They are brown.",
    )


def test_hypotheses_are_denied():
    assert only("inference", "negated-hypothesis", "x", "The man is asleep.") == ("x", "The man is not asleep.")
    for hypothesis in ("A man is asleep.", "Most men sleep.", "The man may be asleep.", "Asleep.", "Is he asleep?"):
        assert only("inference", "negated-hypothesis", "x", hypothesis) is None, hypothesis
    assert only("inference", "denied-hypothesis", "x", "A man is asleep.")[1] == "It is not true that a man is asleep."
    assert only("inference", "denied-hypothesis", "x", "But he sleeps.") is None


@pytest.mark.parametrize(
    ("task", "name", "outputs", "outcome"),
    [
        ("classification/a,b", "upper-case", [Output("a"), Output("a")], "SATISFIED"),
        ("classification/a,b", "upper-case", [Output("a"), Output("b")], "VIOLATED"),
        ("inference", "hypothesis-from-premise", [Output("neutral"), Output("entailment")], "SATISFIED"),
        ("inference", "hypothesis-from-premise", [Output("neutral"), Output("neutral")], "VIOLATED"),
        ("inference", "premise-with-hypothesis", [Output("contradiction"), Output("neutral")], "INAPPLICABLE"),
        ("inference", "swapped-contradiction", [Output("contradiction"), Output("entailment")], "VIOLATED"),
        ("inference", "swapped-contradiction", [Output("entailment"), Output("neutral")], "INAPPLICABLE"),
        ("inference", "denied-hypothesis", [Output("entailment"), Output("contradiction")], "SATISFIED"),
        ("inference", "denied-hypothesis", [Output("neutral"), Output("entailment")], "VIOLATED"),
        ("question-answering", "polite-question", [Output(text="Oslo"), Output(text="oslo.")], "SATISFIED"),
        ("question-answering", "polite-question", [Output(text="Oslo"), Output(text="Bergen")], "VIOLATED"),
        ("question-answering", "other-context", [Output(text="Oslo"), Output(text="unanswerable")], "SATISFIED"),
        ("question-answering", "other-context", [Output(text="Oslo"), Output(text="Oslo")], "VIOLATED"),
        ("similarity", "text-with-itself", [Output("weak", 0.3), Output("perfect", 1.0)], "SATISFIED"),
        ("similarity", "text-with-itself", [Output("weak", 0.3), Output("strong", 0.7)], "VIOLATED"),
        ("similarity", "swapped-pair", [Output("weak", 0.3), Output("weak", 0.39)], "SATISFIED"),
        ("summarization", "upper-case", [Output(text="It rained."), Output(text="IT RAINED.")], "SATISFIED"),
        ("summarization", "typos", [Output(text="It rained."), Output(text="Ann won.")], "VIOLATED"),
    ],
)
def test_known_verdicts(task, name, outputs, outcome):
    assert get_relation(task, name).verdict(outputs, ()).outcome is Outcome[outcome]


def test_truth_is_carried_only_where_it_stays():
    inference = {one.name: one.carry for one in ENGLISH if one.task == "inference"}
    assert inference["denied-hypothesis"]({"entailment"}) == {"contradiction"}
    assert inference["denied-hypothesis"]({"contradiction"}) == {"entailment", "neutral"}
    assert inference["hypothesis-from-premise"]({"contradiction"}) == {"entailment"}
    assert inference["premise-with-hypothesis"]({"contradiction"}) is None
    assert inference["swapped-contradiction"]({"entailment"}) is None
    for name in ("tense", "number"):  # a scheme may be about when, or how many
        assert get_relation("classification", name).carry({"a"}) is None
