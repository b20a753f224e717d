"""Workers are sent relations by pickle: every one survives it, and the copy makes the same groups and verdicts."""

import pickle
from collections.abc import Sequence
from functools import cache

import pytest

from audit.packs.translation.relations import MultiGranularity
from audit.relations import Plain, Relation, Source, Verdict, all_relations, get_relation
from audit.relations.expect import on_documents
from audit.relations.registry import configured
from audit.tasks import Input, Output, get_task
from audit.text import Analysis

TEXTS = [
    "The car isn't faster than the bicycle.",
    "Although I like it, I will not buy it.",
    "The film is wonderful and exciting. I want to buy a bike! It's a great day.",
    "The weather is bad. I made a film.\n\nThe scenes are dull, but the plot makes sense.",
    "It makes good coffee.",
]
ORDERED = "Ann has a shop. Bob sells really good tea. Oslo is cold."
LABELS = ("positive", "neutral", "negative")
# Those that ask parsers, proposers and engines have tests of their own: test_multi_granularity, test_meaning.
ASKING = ("masked-word", "back-translation")
REGISTERED = [one for one in all_relations() if not isinstance(one, MultiGranularity) and one.name not in ASKING]
MEANING = [
    ("Alice Smith works for IBM in Oslo.", "What does Alice Smith do for IBM in Oslo?"),
    ("She paid for 18 books and a dog.", "Did she pay for the 18 books?"),
    ("My brother is late.", "The door is open."),
    ("He read 3 books.", "Did he read 3 books?"),
    ("It is good.", "A dog barks."),
]
SPREAD = [on_documents(one, 0.5) for one in REGISTERED if isinstance(one, Plain) and one.unit == "sentence"]
CONFIGURED = [configured(get_relation("sentiment", name), {"sentences": 5}) for name in ("MR6.1", "MR6.2")]
EVERY = [*REGISTERED, *SPREAD, *CONFIGURED]


ADDED = [
    "The shop is open.",
    "The shop is not open.",
    "The colour of the theatre is ugly.",
    "Tom Hanks has three dogs.",
    "He likes Blade Runner.",
    "It's a good shop.",
    "It is good.",
    "It is not good.",
    "I made a film.",
    "Tom has a cat.",
    "Alice lost her key.",
    "We drove to Oslo in 3 hours.",
    "I liked it more than Blade Runner.",
]
"""For relations of one word or another."""
ASKED = [
    ("He paid 50 euros in Oslo.", "Where did he pay 50 euros?"),
    ("Alice lives in Oslo.", "Does she live in Oslo?"),
]
CHINESE = [
    Input.of("小明的老师今天表扬了王强，他很高兴。", "老师表扬了王强。", language="zh"),
    Input.of("一名医生去过法国。", "她去过法国。", language="zh"),
    Input.of(
        "会议开始。要把“安全”放在第一的位置。要把质量放在第二的位置。医生召开会议。", "医生召开会议。", language="zh"
    ),
    Input.of(
        "因为下雨，3个人7月18日没有来。这里的美丽风景占30%。",
        "因为下雨，2015年7月18日没有来的3个医生占30%。",
        language="zh",
    ),
    Input.of("记者张建国报道。", "你住在哪里？", language="zh"),
    Input.of("我哥哥在北京，他很忙。", "电影院的票价一直不高。", language="zh"),
    Input.of("电影院的票价一直不高。", "电影院很小。", language="zh"),
    Input.of("他在南京工作。", "他是医生。", language="zh"),
]


@cache
def _analysis(text: str, language: str) -> Analysis:
    """Texts are tagged once for all relations."""
    return Analysis(text, language)


def _walked(relation: Relation, item: Input) -> tuple[list[list[str]], Verdict | None]:
    """All texts that the relation asks for, and its verdict, with outputs that depend on the text alone."""
    rounds = []
    steps = relation.steps(Source(item, _analysis(item.text, item.languages[0]), "7:row"))
    try:
        members = next(steps)
        while True:
            rounds.append([" ".join(member.input.texts) for member in members])
            members = steps.send(_outputs(rounds[-1]))
    except StopIteration as end:
        return rounds, end.value


def _outputs(texts: Sequence[str]) -> list[Output]:
    return [Output(LABELS[len(text) % 3], (len(text) % 10) / 10, text) for text in texts]


def _inputs(relation: Relation) -> list[Input]:
    """Texts in the relation's language; pairs where its task is about pairs, a target language where it translates."""
    if relation.task == "translation":
        return [Input.of(text, target="es") for text in TEXTS]
    if relation.languages == ("en",):
        others = [
            ORDERED,
            "I really like it.",
            "Ann lives in Oslo.",
            "Where does Ann live in Oslo?",
            "The film is long.",
        ]
        pairs = [*zip([*TEXTS, ORDERED], [*others, "It is long."], strict=True), *MEANING]
        added = [*((text, text) for text in ADDED), ("Ann lives in Oslo.", "Where does Ann live?"), *ASKED]
        return [Input.of(*pair[: get_task(relation.task).texts]) for pair in (*pairs, *added)]
    return [Input.of(*item.texts[: get_task(relation.task).texts], language="zh") for item in CHINESE]


def _id(relation: Relation) -> str:
    return "-".join([relation.name, *(f"{name}={value}" for name, value in relation.params.items())])


@pytest.mark.parametrize("relation", EVERY, ids=_id)
@pytest.mark.parametrize("protocol", [pytest.param(0, marks=pytest.mark.slow), pickle.HIGHEST_PROTOCOL])
def test_a_copy_makes_the_same_groups_and_verdicts(relation, protocol):
    copy = pickle.loads(pickle.dumps(relation, protocol))  # noqa: S301, our own bytes
    inputs = _inputs(relation)
    assert [_walked(copy, item) for item in inputs] == [_walked(relation, item) for item in inputs]
    for label in LABELS:
        assert copy.carry({label}) == relation.carry({label})
    assert copy.carry.preserves_truth == relation.carry.preserves_truth
    assert (copy.name, copy.version, copy.params, copy.unit) == (
        relation.name,
        relation.version,
        relation.params,
        relation.unit,
    )


def test_the_texts_make_every_plain_relation_work():
    # Else the test above would compare nothing with nothing.
    for relation in (*REGISTERED, *SPREAD):
        assert any(_walked(relation, item)[0] for item in _inputs(relation)), relation.name
