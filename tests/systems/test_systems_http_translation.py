"""Translation services over HTTP: where texts and languages go, which pairs there are, what is sent in one request.

The server is a simulated service on this machine (tests/service.py).
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from service import serving

from audit.systems import get_system
from audit.systems.remote_file import Languages
from audit.tasks import Input, Output

pytest.importorskip("httpx", reason="pip install 'audit[http]'")

TASK = 'tasks = ["translation"]\n'
ONE = (
    TASK
    + 'request = { q = "{text}", from = "{source_language}", to = "{target_language}" }\nanswer = { text = "said" }\n'
)


def input_of(text, target="es", language="en"):
    return Input.of(text, language=language, target=target)


def listed(body, number):
    """The answer of a service with the form that is usual here."""
    pair = f"{body['source_language']}>{body['target_language']}"
    return {"outputs": [{"text": f"{pair} {text}"} for text in body["texts"]]}


def test_task_and_address_are_enough(tmp_path):
    with serving(listed) as server:
        system = get_system(server.file(tmp_path, TASK))
        outputs = system.run([input_of("a"), input_of("b", "fr"), input_of("c"), input_of("d", "en", "es")])
    assert outputs == [Output(text=text) for text in ("en>es a", "en>fr b", "en>es c", "es>en d")]
    assert (system.tasks, system.languages, system.batch) == (("translation",), ("*",), 16)
    # A request has one pair of languages, whatever comes together.
    assert [(body["target_language"], body["texts"]) for body in server.bodies] == [
        ("es", ["a", "c"]),
        ("fr", ["b"]),
        ("en", ["d"]),
    ]


def test_texts_and_languages_go_where_the_file_says(tmp_path):
    with serving(lambda body, number: {"said": body["q"].upper()}) as server:
        system = get_system(server.file(tmp_path, ONE + 'codes = { zh = "zh-CHS" }\n'))
        text = "{target_language} and {text}"  # of a text, nothing is replaced
        assert system.run([input_of(text, "zh")]) == [Output(text=text.upper())]
    assert server.bodies == [{"q": text, "from": "en", "to": "zh-CHS"}]


def test_languages_may_go_into_the_address(tmp_path):
    more = 'request = ["{text}"]\nanswer = { text = "[0]" }\ncodes = { es = "a b&c" }\n'
    with serving(lambda body, number: ["Llueve."]) as server:
        path = tmp_path / "url.toml"
        url = f"{server.url}?from={{source_language}}&to={{target_language}}"
        path.write_text(f'name = "a"\nversion = "1"\nurl = "{url}"\n{TASK}{more}')
        assert get_system(f"http:{path}").run([input_of("It rains.")]) == [Output(text="Llueve.")]
    assert (server.paths, server.bodies) == (["/classify?from=en&to=a%20b%26c"], [["It rains."]])


@pytest.mark.parametrize(
    ("more", "read", "there"),
    [
        ('languages = ["en", "es"]', ("en", "es"), [True, False, True]),
        ('pairs = ["en-es", "en-fr"]', ("en",), [True, True, False]),
        ("", ("*",), [True, True, True]),
    ],
)
def test_pairs_that_a_service_does_not_have_are_absent_and_not_asked(tmp_path, more, read, there):
    with serving(lambda body, number: {"said": "x"}) as server:
        system = get_system(server.file(tmp_path, ONE + more))
        outputs = system.run([input_of("a"), input_of("b", "fr"), input_of("c", "en", "es")])
    assert [not output.absent for output in outputs] == there
    assert len(server.bodies) == sum(there)
    assert system.languages == read


CODES = st.sampled_from(["en", "es", "zh", "pt-BR"])


@given(st.lists(st.tuples(CODES, CODES)))
def test_groups_have_one_pair_and_lose_nothing(pairs):
    inputs = [input_of("x", target, source) for source, target in pairs]
    groups = Languages(("en", "es", "zh"), (), {}).groups(inputs)
    assert all(len({inputs[place].languages for place in group}) == 1 for group in groups)
    assert sorted(place for group in groups for place in group) == [
        place for place, pair in enumerate(pairs) if "pt-BR" not in pair
    ]
