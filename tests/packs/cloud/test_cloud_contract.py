"""What every cloud service does when all is well and when it is not, each against a local server."""

import pickle

import pytest
from cloud_services import ALL, IDENTITY, SECRET, TOKEN, named, running, there
from service import Reply

from audit.errors import BadOutput, Declined, Unanswered
from audit.registry import systems
from audit.runner.batch import is_asynchronous
from audit.systems import get_system
from audit.tasks import Input, Output

LABELLED = [simulated for simulated in ALL if simulated.unknown]
CODED = [(simulated, coded) for simulated in ALL for coded in simulated.coded]


@pytest.fixture(params=ALL, ids=named)
def simulated(request):
    there(request.param)
    return request.param


def no_secrets(text):
    return not any(secret in text for secret in (SECRET, TOKEN, IDENTITY))


def held(simulated):
    """The secrets that its environment has."""
    return [secret for secret in (SECRET, IDENTITY) if secret in simulated.environment.values()]


def test_answers_are_outputs(simulated, tmp_path, monkeypatch):
    with running(simulated, tmp_path, monkeypatch) as service:
        system = get_system(service.spec)
        assert system.needs() is None
        assert is_asynchronous(system)
        assert tuple(system.run(simulated.inputs)) == simulated.outputs
        assert service.calls == simulated.requests
        assert system.name == simulated.spec
        again = pickle.loads(pickle.dumps(system))  # noqa: S301
        assert (again.name, again.version, again.settings) == (system.name, system.version, system.settings)
        assert no_secrets(repr((system.settings, system.summary, system.version, pickle.dumps(system))))
        assert tuple(again.run(simulated.inputs)) == simulated.outputs  # another event loop, other threads
        assert tuple(again.run(simulated.inputs[:1])) == simulated.outputs[:1]


@pytest.mark.parametrize("status", [401, 403])
def test_wrong_keys_name_the_variable_and_are_not_tried_again(simulated, status, tmp_path, monkeypatch):
    echo = Reply(f"<p>{SECRET} and {IDENTITY} are\n wrong</p>".encode(), status)
    with running(simulated, tmp_path, monkeypatch, lambda body, number: echo) as service:
        system = get_system(service.spec)
        with pytest.raises(Declined, match=simulated.names) as caught:
            system.run(simulated.inputs[:1])
        assert service.calls <= (3 if simulated.spec.startswith("google") and status == 401 else 1)
        before = service.calls
        with pytest.raises(Declined, match=simulated.names):  # nobody need be asked again
            system.run(simulated.inputs)
        assert service.calls == before
    assert not caught.value.inputs
    assert "\n" not in str(caught.value)
    assert not any(secret in str(caught.value) for secret in held(simulated))


def test_500_is_tried_again(simulated, tmp_path, monkeypatch):
    faults = {0: Reply({"message": "oops"}, 500), 1: Reply(b"<html>oops</html>", 502)}
    with running(simulated, tmp_path, monkeypatch, faults, "concurrency = 1") as service:
        assert tuple(get_system(service.spec).run(simulated.inputs)) == simulated.outputs
        assert service.calls == simulated.requests + 2


@pytest.mark.parametrize("reply", [Reply(None), Reply({"message": "x" * 100}, cut=True)], ids=["closed", "cut"])
def test_a_connection_that_ends_is_tried_again(simulated, reply, tmp_path, monkeypatch):
    with running(simulated, tmp_path, monkeypatch, {0: reply}, "concurrency = 1") as service:
        system = get_system(service.spec)
        if simulated.spec == "comprehend" and reply.cut:  # which boto3 does not notice
            with pytest.raises(BadOutput, match="no 'ResultList'"):
                system.run(simulated.inputs)
        assert tuple(system.run(simulated.inputs)) == simulated.outputs


@pytest.mark.parametrize("content", [b'{"ResultList": [', b"<html>Welcome</html>"])
def test_what_is_no_answer_is_an_error(simulated, content, tmp_path, monkeypatch):
    with running(simulated, tmp_path, monkeypatch, lambda body, number: Reply(content), "tries = 1") as service:
        system = get_system(service.spec)
        try:
            reason = system.run(simulated.inputs[:1])[0].error
        except BadOutput as problem:
            reason = str(problem)
        assert reason
        assert "\n" not in reason
        assert service.calls == 1


@pytest.mark.parametrize("simulated", LABELLED, ids=named)
def test_an_unknown_label_is_an_error_that_says_what_to_write(simulated, tmp_path, monkeypatch):
    there(simulated)
    with running(simulated, tmp_path, monkeypatch, lambda body, number: simulated.unknown(body)) as service:
        (output,) = get_system(service.spec).run(simulated.inputs[:1])
    assert "say in its file what it is, as in labels = {" in output.error
    word = output.error.split("label ")[1].split(" of ")[0].strip("'")
    with running(
        simulated, tmp_path, monkeypatch, lambda body, number: simulated.unknown(body), f'labels."{word}" = "neutral"'
    ) as service:
        (output,) = get_system(service.spec).run(simulated.inputs[:1])
    assert output.label == "neutral"


@pytest.mark.parametrize(("simulated", "coded"), CODED, ids=named)
def test_the_codes_of_its_errors_are_known(simulated, coded, tmp_path, monkeypatch):
    there(simulated)
    reply = coded.content if isinstance(coded.content, Reply) else Reply(coded.content, coded.status)
    with running(simulated, tmp_path, monkeypatch, lambda body, number: reply, "tries = 2") as service:
        with pytest.raises((Declined, Unanswered)) as caught:
            get_system(service.spec).run(simulated.inputs[:1])
        problem = caught.value
        assert isinstance(problem, Unanswered) == (coded.kind == "again")
        assert service.calls == (2 if coded.kind == "again" else 1)
        assert ("refuses the credentials" in str(problem)) == (coded.kind == "refused")
        if coded.kind != "again":
            assert problem.inputs == (coded.kind == "input")


def test_texts_that_it_does_not_take_are_not_sent(simulated, tmp_path, monkeypatch):
    kind = systems.get(simulated.spec)
    first = simulated.inputs[0]
    long = Input(("好" * (kind.most + 1), *first.texts[1:]), first.languages)
    empty = Input((" ", *first.texts[1:]), first.languages)
    with running(simulated, tmp_path, monkeypatch) as service:
        outputs = get_system(service.spec).run([long, first, empty])
        assert f"takes {kind.most:,} at most" in outputs[0].error
        assert outputs[1] == simulated.outputs[0]
        assert "is empty" in outputs[2].error
        assert service.calls == 1


@pytest.mark.parametrize("simulated", [s for s in ALL if "translate" in s.spec or "translator" in s.spec], ids=named)
def test_translators_have_the_languages_of_their_file(simulated, tmp_path, monkeypatch):
    there(simulated)
    more = 'languages = ["en", "es"]\ncodes = { es = "spanish" }'
    with running(simulated, tmp_path, monkeypatch, more=more) as service:
        system = get_system(service.spec)
        french = Input.of("Film 0 was fine.", target="fr")
        assert system.lacks(french)
        assert not system.lacks(simulated.inputs[0])
        assert system.run([french, simulated.inputs[0]]) == [Output(), simulated.outputs[0]]
        assert service.calls == 1
        assert "spanish" in str(service.server.bodies)
