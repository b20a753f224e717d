"""RTT, MCMT and MGMT-sentence on outputs given by hand, and by a translator that never errs."""

import pytest

from audit.errors import AuditError
from audit.relations import Outcome, Source, get_relation
from audit.relations.registry import configured
from audit.tasks import Input, Output
from audit.text import Analysis


def source(text="It rains here.", language="en", target="es", seed="0:1"):
    return Source(Input.of(text, language=language, target=target), Analysis(text, language), seed)


def relation(name, **params):
    return configured(get_relation("translation", name), params)


def walked(chain, of, says):
    """Roles and inputs of all members, in order, and the verdict; `says` maps an input to its output."""
    members, steps = [], chain.steps(of)
    try:
        members_to_run = next(steps)
        while True:
            members += [(member.role, member.input) for member in members_to_run]
            members_to_run = steps.send([says(member.input) for member in members_to_run])
    except StopIteration as end:
        return members, end.value


def from_table(table):
    return lambda item: Output(text=table[item.text, item.target])


def test_a_round_trip_is_compared_with_its_source():
    says = from_table({("It rains here.", "es"): "Llueve aqui.", ("Llueve aqui.", "en"): "It rained here."})
    members, verdict = walked(relation("RTT", score="levenshtein", threshold=0.9), source(), says)
    assert [(role, item.text, item.languages) for role, item in members] == [
        ("source", "It rains here.", ("en", "es")),
        ("link", "Llueve aqui.", ("es", "en")),
    ]
    # "s" becomes "ed": 2 edits; lengths 14 and 15.
    assert (verdict.outcome, verdict.value) == (Outcome.SATISFIED, pytest.approx(1 - 2 / 29))


def test_a_pivot_is_probed_and_then_linked():
    table = {
        ("It rains here.", "es"): "Llueve aqui.",
        ("It rains here.", "fr"): "Il pleut ici.",
        ("Il pleut ici.", "es"): "Llueve aqui!",
    }
    chain = relation("MCMT", score="levenshtein", pivots="fr,en,es")
    members, verdict = walked(chain, source(), from_table(table))
    assert [(role, item.text, item.languages) for role, item in members] == [
        ("source", "It rains here.", ("en", "es")),
        ("probe", "It rains here.", ("en", "fr")),
        ("probe", "Il pleut ici.", ("fr", "es")),
        ("link", "It rains here.", ("en", "fr")),
        ("link", "Il pleut ici.", ("fr", "es")),
    ]
    assert verdict.value == pytest.approx(1 - 1 / 24)
    assert verdict.reason == "through fr"


def test_there_and_back_divides_two_similarities():
    table = {
        ("abcdefghij", "es"): "0123456789",
        ("0123456789", "en"): "abcdefghXX",
        ("abcdefghXX", "es"): "01234567YZ",
    }
    members, verdict = walked(relation("MGMT-sentence"), source("abcdefghij"), from_table(table))
    assert [role for role, _ in members] == ["source", "link", "link"]
    assert [item.languages for _, item in members] == [("en", "es"), ("es", "en"), ("en", "es")]
    # 1 - 2 * 2 / 20 = 0.8 above and below.
    assert (verdict.outcome, verdict.value) == (Outcome.SATISFIED, 1.0)
    worse = table | {("abcdefghXX", "es"): "012345WXYZ"}
    _, verdict = walked(relation("MGMT-sentence"), source("abcdefghij"), from_table(worse))
    assert (verdict.outcome, verdict.value) == (Outcome.VIOLATED, pytest.approx(0.6 / 0.8))
    _, verdict = walked(relation("MGMT-sentence", bound=0.7), source("abcdefghij"), from_table(worse))
    assert verdict.outcome is Outcome.SATISFIED


@pytest.mark.parametrize(
    ("name", "changes", "message"),
    [
        ("RTT", {"score": "bleurt"}, "score is 'bleurt'; allowed are consistency, levenshtein"),
        ("MCMT", {"pivots": " , "}, "pivots have .., which is no code"),
        ("MGMT-sentence", {"bound": "1"}, "must be of type float"),
    ],
)
def test_bad_parameters_are_refused(name, changes, message):
    with pytest.raises(AuditError, match=message):
        relation(name, **changes)
