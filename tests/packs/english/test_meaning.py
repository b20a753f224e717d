"""English perturbations of meaning: wider and opposite words, numbers, names, fairness, and what asks a program."""

import random
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audit.errors import AuditError, NotInstalled
from audit.packs.english.entities import genders, names_of, people_of, regions
from audit.packs.english.meaning import asks, opposites
from audit.packs.translation import perturbations as asking
from audit.relations import Outcome, Source, all_relations, get_relation
from audit.relations.registry import configured
from audit.tasks import Input, Output
from audit.text import Analysis

NAMES = [
    "hypernyms",
    "antonyms",
    "numbers",
    "word-numbers",
    "places",
    "organisations",
    "persons",
    "pronouns",
    "kin-words",
    "names-by-gender",
    "names-by-region",
]
RELATIONS = [relation for relation in all_relations() if relation.name in NAMES and relation.languages == ("en",)]
TEXTS = (
    ("She has bought a dog and 18 books.", "She read four books."),
    ("Alice Smith works for IBM in Oslo.", "What does Alice Smith do for IBM in Oslo?"),
    ("He paid 50 euros.", "Where did he pay 50 euros?"),
    ("My brother is late.", "The door is open."),
    ("Alice lost her key.", "Where did Alice lose her key?"),
    ("It was a good man.", "The man saw a car."),
    ("", "..."),
)


def follow_up(task, name, *texts, seed="1"):
    """The texts of the one follow-up; None where there is none."""
    made = get_relation(task, name).follow_ups(Source(Input.of(*texts), Analysis(texts[0]), seed))
    return made[0].texts if made else None


@pytest.mark.parametrize("relation", RELATIONS, ids=lambda relation: f"{relation.task}-{relation.name}")
def test_groups_are_repeatable_change_something_and_are_made(relation):
    made = 0
    for texts in TEXTS:
        item = Input.of(*texts) if relation.task in ("inference", "similarity", "question-answering") else None
        for new in [item] if item else map(Input.of, texts):
            source = Source(new, Analysis(new.text), "1")
            groups = relation.follow_ups(source)
            assert groups == relation.follow_ups(source)
            assert all(group.texts != new.texts and len(group.texts) == len(new.texts) for group in groups)
            made += len(groups)
    assert made
    assert re.fullmatch(r"[A-Z].*; .*[a-z]\.", relation.summary)


@settings(max_examples=25, deadline=None)
@given(st.text(st.sampled_from("aA1.,' \"?\n$his Mr Ann 20 Oslo"), max_size=40))
def test_whatever_the_text_is(text):
    for name in NAMES:
        assert follow_up("classification", name, text) != (text,)


def test_a_wider_hypothesis_follows_and_a_denied_one_does_not():
    assert follow_up("inference", "hypernyms", "Tom fed a cat.", "Tom has a cat.")[1] == "Tom has an animal."
    for hypothesis in (
        "Tom has no cat.",
        "Every cat purrs.",
        "Only a cat purrs.",
        "If a cat purrs, stay.",
        "A fat cat.",
    ):
        assert follow_up("inference", "hypernyms", "It rains.", hypothesis) is None
    carry = get_relation("inference", "hypernyms").carry
    assert carry({"entailment"}) == {"entailment"}
    assert carry({"neutral"}) == {"neutral", "entailment"}
    assert carry({"contradiction"}) is None


def test_two_of_a_kind_are_not_widened():
    assert follow_up("sentiment", "hypernyms", "A horse chased a cat.") is None
    assert follow_up("sentiment", "hypernyms", "A horse is an animal.") is None


@pytest.mark.parametrize(
    "text",
    [
        "They have lost their cat.",
        "It is a film about men.",
        "They fell out over love of my fellow man.",
        "He takes the bus.",
    ],
)
def test_a_noun_stays_where_a_wider_one_reads_badly(text):
    assert follow_up("sentiment", "hypernyms", text) is None


def test_only_what_is_said_of_a_definite_subject_is_denied():
    assert follow_up("inference", "antonyms", "It rains.", "The shop is open.")[1] == "The shop is closed."
    for hypothesis in ("A shop is open.", "The shop is not open.", "The shop may be open.", "The open shop is far.",
                       "The box is as big as the car.", "The tower is 60 metres high."):  # fmt: skip
        assert follow_up("inference", "antonyms", "It rains.", hypothesis) is None, hypothesis
    relation = get_relation("inference", "antonyms")
    assert relation.carry({"entailment"}) == {"contradiction"}
    assert relation.carry({"neutral"}) is None
    assert relation.check([Output("neutral"), Output("neutral")]).outcome is Outcome.INAPPLICABLE


def test_sentiment_changes_only_where_every_judgement_does():
    assert follow_up("sentiment", "antonyms", "A good film with a bad ending.") is None
    assert follow_up("sentiment", "antonyms", "It is a good film.") == ("It is a bad film.",)
    assert follow_up("sentiment", "antonyms", "It has a good idea.") is None
    assert follow_up("classification", "antonyms", "The shop is open. Come in.") is None
    assert get_relation("sentiment", "antonyms").carry({"positive"}) is None


def test_opposites_leave_names_and_turns_of_phrase_alone():
    for text in ("He is in high school.", "New York is old-fashioned.", "It is 60 metres high.", "Too bad he left."):
        assert not opposites(Analysis(text)), text


@given(st.integers(3, 9999), st.integers(0, 99))
def test_another_number_is_as_long_and_near(number, seed):
    new = follow_up("sentiment", "numbers", f"We waited for {number} minutes.", seed=str(seed))
    if new is not None:
        other = int(re.search(r"\d+", new[0]).group())
        assert other != number
        assert len(str(other)) == len(str(number))
        assert abs(other - number) <= max(9, number // 5)


def test_numbers_that_judge_or_name_stay():
    for text in ("I give it 8 out of 10.", "It gets 4 stars.", "Windows 7 is old.", "It was 50% off.", "Up 21 3/4.",
                 "In the 1970's.", "It costs 1.50.", "It took 5 days and 14.99 euros.",
                 "I saw 3 films; the bill says 4.",
                 "He has his 15 minutes of fame.", 'I saw "Nine Days" in 5 days.', "The four brothers left.",
                 "They are studio 54 regulars.", "We met four boys: Al, Bo, Cy, Di.", "It took one hour, 59 minutes.",
                 "Room 4a is closed.", "I have one dog."):  # fmt: skip
        assert follow_up("sentiment", "numbers", text) is None, text


def test_the_same_number_changes_alike_in_a_pair_or_not_at_all():
    first, second = follow_up("similarity", "numbers", "It has 300 pages.", "There are 300 pages.")
    assert re.findall(r"\d+", first) == re.findall(r"\d+", second) != ["300"]
    assert follow_up("similarity", "numbers", "It weighs 500 grams.", "It weighs half a kilogram.") is None
    assert follow_up("similarity", "numbers", "It has 300 pages.", "It has 200 pages.") is None
    assert follow_up("question-answering", "numbers", "In 1990 he bought 3 cars.", "How many cars did he buy?") is None


def test_numbers_are_written_otherwise_where_they_count():
    assert follow_up("classification", "word-numbers", "I saw 3 dogs.") == ("I saw three dogs.",)
    assert follow_up("classification", "word-numbers", "3 dogs ran.") == ("Three dogs ran.",)
    for text in ("On May 3 we left.", "It is 3 am here.", "2 or 3 dogs", "Plan 9 from space", "Two dogs ran.",
                 "a twenty-two year", "three hundred pages", "I give it 2 of 4 stars."):  # fmt: skip
        assert follow_up("classification", "word-numbers", text) is None, text


def test_a_place_goes_to_its_like_and_alike_in_both_texts():
    premise, hypothesis = follow_up("inference", "places", "Ann lives in Munich.", "Munich is where Ann lives.")
    town = premise.removeprefix("Ann lives in ").rstrip(".")
    assert town != "Munich"
    assert hypothesis.startswith(town)
    for text in ("Oslo is the capital.", "He reads the Chicago Tribune.", "Paris Hilton sings.", "Paris is in France.",
                 "The University of California is big.", "He is a German from Spain.", "It is Lost in Paris.",
                 'I saw "Two Days in Paris".', "It is set in London and Bristol.",
                 "She lives in Reno, Nevada."):  # fmt: skip
        assert follow_up("sentiment", "places", text) is None, text
    assert get_relation("inference", "places").carry.preserves_truth
    assert get_relation("classification", "places").carry({"a"}) is None


def test_of_a_question_only_its_own_names_change():
    context = "Alice Smith met Peter Lee in Oslo."
    texts = follow_up("question-answering", "persons", context, "Whom did Alice Smith meet?")
    assert "Peter Lee in Oslo" in texts[0]
    assert "Alice" not in "".join(texts)
    assert follow_up("question-answering", "persons", context, "Who was met?") is None
    assert follow_up("question-answering", "places", context, "Was it in Oslo or Bergen?") is None


def test_organisations_keep_what_they_are():
    new = follow_up("sentiment", "organisations", "The Mellon Bank sued Halden Inc. over CNN films.")[0]
    assert re.fullmatch(r"The [A-Z]\w+ Bank sued [A-Z]\w+ Inc\. over [A-Z]+ films\.", new)
    assert "Mellon" not in new
    assert "CNN" not in new
    assert follow_up("sentiment", "organisations", "The World Bank sued the First National Bank.") is None
    for text in (
        'He saw "The Orland Hotel".',
        "He works for the CNN.",
        'It is Disney\'s "Bambi".',
        "A Science Theatre show",
    ):
        assert follow_up("sentiment", "organisations", text) is None, text
    made = [follow_up("sentiment", "organisations", "It is Walmart's.", seed=str(seed)) for seed in range(8)]
    assert any(made)
    assert not any("s's" in texts[0] for texts in made if texts)


def test_persons_are_read_with_titles_and_surnames_and_titles_of_films_are_not():
    people = people_of([Analysis("Alice Smith left. Mr. Smith stayed with Smith.")])
    assert [(person.first, person.last) for person in people] == [("Alice", "Smith")]
    for text in ("Harold and Maude is old.", "St. Louis is far.", "I saw J. Edgar Hoover.", "Billy the Kid rode.",
                 "John Hopkins University Press", 'I saw "Annie" twice.', "Robert De Niro plays."):  # fmt: skip
        assert not people_of([Analysis(text)]), text


def test_names_by_region_have_one_region_and_gender():
    for seed in range(12):
        first, last = follow_up("sentiment", "names-by-region", "Alice Smith is here.", seed=str(seed))[0].split()[:2]
        (region,) = [region for region in regions() if first in names_of("f", region)]
        assert last in names_of("-", region)
        assert region != "Britain and America"


def test_no_name_is_of_both_genders_and_all_that_replace_are_known():
    assert all(
        genders()[name] == gender for region in regions() for gender in "mf" for name in names_of(gender, region)
    )


@pytest.mark.parametrize(
    ("name", "text", "new"),
    [
        ("pronouns", "He gave her his key; it is hers now.", "She gave him her key; it is his now."),
        ("pronouns", 'He speaks about his "anxiety".', 'She speaks about her "anxiety".'),
        ("pronouns", "He or she may come.", None),
        ("pronouns", "The actress lost her key.", None),
        ("pronouns", "Spielberg lost his key.", None),
        ("pronouns", "she is great", None),
        ("pronouns", "She is pregnant.", None),
        ("kin-words", "Her mothers-in-law and his wives came.", "His fathers-in-law and her husbands came."),
        ("kin-words", "My MOTHER left.", "My FATHER left."),
        ("kin-words", "His brother John left.", None),
        ("kin-words", "It is his mother tongue.", None),
        ("names-by-gender", "Alice is older than her brother.", None),
        ("names-by-gender", "Alice met Tom.", None),
        ("names-by-gender", "Alice said he would come.", None),
        ("names-by-gender", "She is older than Alice.", None),
        ("names-by-gender", "Alice is no Cillian Murphy.", None),
        ("names-by-gender", "He has won an Oscar.", None),
    ],
)
def test_gender_changes_with_all_that_agrees_or_not_at_all(name, text, new):
    assert follow_up("sentiment", name, text) == (new and (new,))


def test_a_title_goes_with_the_name():
    assert re.fullmatch(
        r"Mr\. [A-Z]\w+ Lee lost his key\.",
        follow_up("sentiment", "names-by-gender", "Mrs. Alice Lee lost her key.")[0],
    )


def test_questions_about_a_text_are_told_from_pairs_of_questions():
    assert asks([Analysis("Ann left."), Analysis("Who left?")])
    assert not asks([Analysis("Ann left."), Analysis("She left.")])


@pytest.mark.slow
def test_a_masked_word_is_of_the_same_kind_and_its_model_is_part_of_the_version():
    relation = get_relation("classification", "masked-word")
    source = Source(
        Input.of("It is a good film about a long war."), Analysis("It is a good film about a long war."), "2"
    )
    (new,) = relation.follow_ups(source)
    assert sum(old != word for old, word in zip(source.input.text.split(), new.text.split(), strict=True)) in (1, 2)
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
    monkeypatch.setattr(asking, "_system", lambda spec: Reverser())
    asking._needs.cache_clear()
    relation = get_relation("sentiment", "back-translation")
    texts = ["a very long film", "a film", "a very very good one"]
    groups = relation.make_groups([Source(Input.of(text), Analysis(text), "1") for text in texts])
    assert [[new.text for new in group] for group, _ in groups] == [["a long film"], [], ["a good one"]]
    assert Reverser.calls == 2
    assert relation.full_version.endswith("fake 1")
    assert relation.carry({"positive"}) is None
    asking._needs.cache_clear()
    asking._TRIPS.clear()


def test_a_system_that_does_not_translate_is_refused():
    with pytest.raises(AuditError, match="does not translate"):
        configured(get_relation("sentiment", "back-translation"), {"system": "vader"})


def test_choices_come_from_the_generator_alone():
    text = Analysis("Alice Smith has 18 dogs.")
    relation = get_relation("sentiment", "persons")
    assert relation.rewrite([text], random.Random(4)) == relation.rewrite([text], random.Random(4))
