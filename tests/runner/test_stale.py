"""Outputs of another model are not shown as those of the present one: versions tell models apart, and stored inputs are
asked again."""

import pytest

import audit
from audit.relations import registry
from audit.systems import SYSTEMS

TEXTS = [f"Film {number} was {'good' if number % 2 else 'bad'}." for number in range(12)]


@pytest.fixture(autouse=True)
def _as_before():
    with registry.RELATIONS.restored(), SYSTEMS.restored():
        yield


@pytest.fixture
def ran(tmp_path):
    """Runs a system on the texts in one database; the inputs executed, and those that were stored."""

    def run(system, relations=("MR3.1",), **options):
        counts = audit.run(
            TEXTS, system, list(relations), store=tmp_path / "films.db", progress=False, **options
        ).ran.counts
        return counts.executed, counts.stored

    return run


@pytest.fixture
def answering(tmp_path):
    """A function of one version, whose answers and scores are those of `said`."""

    class Said:
        version = "1"

        def __init__(self):
            self.word, self.moved, self.fails, self.calls = "good", 0.0, (), 0

        def __call__(self, text):
            self.calls += 1
            if any(part in text.casefold() for part in self.fails):
                raise OSError("no answer")
            return ("positive" if self.word in text.casefold() else "negative"), 0.5 + self.moved

    return Said()


def test_stored_inputs_are_asked_again_and_another_answer_stops_the_run(ran, answering):
    run = lambda: ran({"mine": answering})  # noqa: E731
    assert run() == (24, 0)
    assert answering.calls == 24
    answering.moved = 1e-7
    assert run() == (0, 0)
    assert answering.calls == 27
    for name, value in (("word", "film"), ("moved", 0.1)):
        before = getattr(answering, name)
        setattr(answering, name, value)
        with pytest.raises(
            audit.AuditError, match=r"(?s)system mine now answers .* to '.*', and .* is stored for version"
        ):
            run()
        assert answering.calls <= 33
        setattr(answering, name, before)
    answering.word, answering.version = "film", "2"  # the way on
    assert run() == (24, 0)


def test_one_that_may_answer_otherwise_is_told_and_not_stopped(ran, answering):
    ran({"mine": answering})
    answering.word, answering.deterministic = "film", False
    with pytest.warns(UserWarning, match="system mine now answers .* that may be chance"):
        assert ran({"mine": answering}) == (0, 0)
    del answering.deterministic
    with pytest.warns(UserWarning, match="that may be chance"):
        ran({"mine": answering}, repeats=2)


# By the command line; for pytest see tests/library/test_pytest_plugin.py.
