"""Workers are sent relations by pickle: every one survives it, and the copy makes the same groups and verdicts."""

import pickle
from collections.abc import Sequence

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
# Those that ask parsers and proposers have tests of their own: test_multi_granularity.
REGISTERED = [one for one in all_relations() if not isinstance(one, MultiGranularity)]
SPREAD = [on_documents(one, 0.5) for one in REGISTERED if isinstance(one, Plain) and one.unit == "sentence"]
CONFIGURED = [configured(get_relation("sentiment", name), {"sentences": 5}) for name in ("MR6.1", "MR6.2")]
EVERY = [*REGISTERED, *SPREAD, *CONFIGURED]


CHINESE = [
    Input.of("小明的老师今天表扬了王强，他很高兴。", "老师表扬了王强。", language="zh"),
    Input.of("一名医生去过法国。", "她去过法国。", language="zh"),
    Input.of(
        "会议开始。要把“安全”放在第一的位置。要把质量放在第二的位置。医生召开会议。", "医生召开会议。", language="zh"
    ),
]


def _walked(relation: Relation, item: Input) -> tuple[list[list[str]], Verdict | None]:
    """All texts that the relation asks for, and its verdict, with outputs that depend on the text alone."""
    rounds = []
    steps = relation.steps(Source(item, Analysis(item.text, item.languages[0]), "7:row"))
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
        pairs = zip([*TEXTS, ORDERED], [*others, "It is long."], strict=True)
        return [Input.of(*pair[: get_task(relation.task).texts]) for pair in pairs]
    return CHINESE if relation.task == "similarity" else [Input.of(item.text, language="zh") for item in CHINESE]


def _id(relation: Relation) -> str:
    return "-".join([relation.name, *(f"{name}={value}" for name, value in relation.params.items())])


@pytest.mark.parametrize("relation", EVERY, ids=_id)
@pytest.mark.parametrize("protocol", [0, pickle.HIGHEST_PROTOCOL])
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
