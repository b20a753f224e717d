"""The plug-in of pytest: a test a relation, what a failure says, and that nothing is executed twice."""

from importlib.metadata import entry_points

import pytest

pytest_plugins = "pytester"
INSTALLED = bool(entry_points(group="pytest11", name="audit"))
PLUGIN = () if INSTALLED else ("-p", "audit.library.pytest_plugin")
"""Where the package was installed before it had the plug-in, pytest does not find it by itself."""

TESTS = """
import audit

TEXTS = [f"A {'good' if n % 2 else 'bad'} film, number {n}." for n in range(12)]

@audit.relation("NONE.1", check=audit.equivalent)
def nothing(text):
    "Applies nowhere."

@audit.metamorphic(TEXTS, ["NONE.1", "MR3.1"], max_violations=0.1)
def test_own(text):
    with open("calls.txt", "a") as calls:
        calls.write(text + "\\n")
    return "positive" if "good" in text else "negative"

@audit.metamorphic("films.csv", ["MR3.1"], {"always": lambda text: "positive"})
def test_named(check):
    assert check.groups == 2

def test_by_hand(audit_study):
    assert audit_study(TEXTS, {"one": lambda text: "positive"}, ["MR3.1"]).ran.counts.outcomes["satisfied"] == 12
"""


@pytest.fixture(scope="module", autouse=True)
def loaded():
    """What a run imports stays: pytester forgets what tests in this process import, which numpy and torch (which the
    parser brings) do not survive. A failure has the genuine rate where somebody judged."""
    import audit
    from audit.library.metamorphic import _failure, _key
    from audit.relations import registry
    from audit.reports.compare import check_relation
    from audit.systems import SYSTEMS
    from audit.systems.own import code_version

    films = [(f"Film {n} is {label}.", label) for n, label in enumerate(["positive", "negative"] * 4)]
    with registry.RELATIONS.restored(), SYSTEMS.restored():
        with audit.run(films, {"sure": sure}, ["MR3.1"], progress=False) as study:
            study.sample(8).answer_with_gold()
            name = f"sure@{code_version(sure)}"
            check = check_relation(study.engine, study.ran.study.id, name, _key("sentiment", "MR3.1", {}))
        assert (check.violated, check.genuine.value, check.judged) == (0, 0.5, 8)
        assert {group["new"] for group in check.worst} == {"false"}
        assert "genuine, by 8 judged groups: 50.0 % [" in _failure(check, 0.0)
        yield


@pytest.fixture
def tests(pytester, monkeypatch):
    for name in ("CI", "BUILD_NUMBER"):
        monkeypatch.delenv(name, raising=False)  # where one of them is set, pytest's summary repeats failures in full
    pytester.makepyfile(test_films=TESTS)
    pytester.path.joinpath("films.csv").write_text("text\nA film.\nThe film.\n")
    return pytester


def sure(text):
    return "positive"


def run(pytester, *options):
    return pytester.runpytest_inprocess(*PLUGIN, "-p", "no:cacheprovider", *options)


def calls(pytester):
    return pytester.path.joinpath("calls.txt").read_text().splitlines()


@pytest.mark.slow
def test_a_relation_is_a_test_and_a_failure_shows_groups(tests):
    result = run(tests, "--audit-db", "kept.db")
    result.assert_outcomes(passed=2, failed=1, skipped=1)
    result.stdout.fnmatch_lines(
        [
            "*test_own?MR3.1?*",
            "6 of 12 groups are violated, 50.0 % ?19.4–80.6?; at most 10.0 % is allowed",
            "source: A good film, number *.  ?positive?",
            "follow-up: A GOOD FILM, NUMBER *.  ?negative?",
        ]
    )
    assert sum("MR3.1: violated" in line for line in result.outlines) == 3
    once = calls(tests)
    assert len(once) == len(set(once)) == 24
    again = run(tests, "--audit-db", "kept.db", "-m", "metamorphic", "-k", "test_own and 3.1")
    again.assert_outcomes(failed=1, deselected=3)
    assert len(calls(tests)) <= len(once) + 3  # those that are asked again
    assert set(calls(tests)) == set(once)


def test_a_system_that_fails_fails_the_test(pytester):
    pytester.makepyfile(
        """
        import audit

        @audit.metamorphic(["A film.", "A second film.", "Number 7.", "Another film."], ["MR3.1"])
        def test_failing(text):
            if "7" in text:
                raise RuntimeError("seven is out of order")
            return "positive"
        """
    )
    result = run(pytester)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*seven is out of order*"])


@pytest.mark.slow
def test_processes_share_what_is_kept(tests):
    done = tests.runpytest_subprocess(*PLUGIN, "-n", "2", "--audit-db", "kept.db")
    done.assert_outcomes(passed=2, failed=1, skipped=1)
    assert len(set(calls(tests))) == 24


def test_switched_off_it_skips_and_breaks_nothing(tests):
    result = tests.runpytest_inprocess("-p", "no:audit", "--strict-markers", "-W", "error", "-k", "not by_hand")
    result.assert_outcomes(skipped=3, deselected=1)


PRODUCT = """
def classify(text):
    with open("model.txt") as file:
        return "positive" if file.read() in text.casefold() else "negative"
"""
USING = """
import audit
import product

@audit.metamorphic(["A good film.", "A bad film.", "The film was good."], ["MR3.1"]{more})
def test_product(text):
    return product.classify(text)
"""


@pytest.mark.slow
def test_a_product_that_broke_fails_although_outputs_are_kept(pytester):
    def tested(product=PRODUCT, model="good", more=""):
        pytester.path.joinpath("product.py").write_text(product)
        pytester.path.joinpath("model.txt").write_text(model)
        pytester.path.joinpath("test_product.py").write_text(USING.format(more=more))
        return run(pytester, "--audit-db", "kept.db")

    tested().assert_outcomes(passed=1)
    tested().assert_outcomes(passed=1)
    broken = tested(PRODUCT.replace(".casefold()", ""))
    broken.assert_outcomes(failed=1)
    broken.stdout.fnmatch_lines(["2 of 3 groups are violated*"])
    other = tested(model="film")
    other.assert_outcomes(failed=1)
    other.stdout.fnmatch_lines(
        ["system test_product now answers 'positive' to *; give it another version (test_product@2, *"]
    )
    tested(model="film", more=", version='2'").assert_outcomes(passed=1)
