"""No credential is in anything that an audit of a cloud service makes: database, export, report, log, error.

Each service says right answers, errors that repeat all that it was sent, and answers with credentials in them.
"""

import html
import json
import logging
import warnings
from base64 import b64encode
from contextlib import ExitStack
from urllib.parse import quote, quote_plus

import pandas as pd
import pytest
from cloud_services import ALL, IDENTITY, SECRET, TOKEN, private_key, running, there
from service import Reply
from sqlalchemy import select

import audit
from audit.errors import AuditError
from audit.registry import relations, systems
from audit.reports.exports.writing import export
from audit.reports.html import to_html
from audit.store import table_of, tables
from audit.systems import get_system

OFTEN = 6
KINDS = {"sentiment-en": [], "sentiment-zh": [], "similarity-zh": [], "translation-en": []}
"""The services by task and language: one audit has all of a kind."""
for _simulated in ALL:
    KINDS[f"{systems.get(_simulated.spec).tasks[0]}-{_simulated.inputs[0].languages[0]}"].append(_simulated)


def has_one_of(secrets, content):
    """Whether one of the secrets is in some bytes, however it may be spelled there."""
    spellings = {
        spelled
        for secret in secrets
        for spelled in (
            secret,
            html.escape(secret),
            json.dumps(secret)[1:-1],
            quote(secret),
            quote(secret, safe=""),
            quote_plus(secret),
            b64encode(secret.encode()).decode(),
        )
    }
    return any(spelled.encode() in content or spelled.encode("utf-16-le") in content for spelled in spellings)


def faulty(simulated, server, ended):
    """What the service answers instead of what is right: everything that it was sent, as an error and as an output."""

    def faults(body, number):
        said = f"bad: {server().headers[-1]} {server().paths[-1]} {json.dumps(body)} {SECRET} {IDENTITY} {TOKEN}"
        if ended:
            return Reply(said.encode(), 403)
        replies = {
            1: Reply({"message": said, "error": said, "Message": said, "error_msg": said}, 400),
            2: Reply({"error": {"code": 400, "message": said, "status": "INVALID_ARGUMENT"}}, 400),
            3: Reply(said.encode(), 500),
            4: Reply(said.encode(), 403),
            5: Reply(said.encode()),
            6: simulated.unknown and simulated.unknown(body),
        }
        return replies.get(number)

    return faults


def study_of(services, folder):
    """The audit of the services, with a relation of two texts, in a database."""
    first = services[0].simulated.inputs[0]
    task = get_system(services[0].spec).tasks[0]
    names = {"similarity": ["MR7.1"], "translation": ["RTT"]}.get(task, ["CLOUD"])
    texts = pd.DataFrame({"text": [f"{first.text} {number}" for number in range(OFTEN)]})
    if len(first.texts) == 2:
        texts["text_b"] = first.texts[1]
    if first.target:
        texts["target_language"] = first.target

    def again(text):
        "The same with a question mark."
        return f"{text}?"

    audit.relation("CLOUD", task="sentiment", check=lambda outputs: outputs[0] == outputs[1])(again)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return audit.run(
            texts,
            [service.spec for service in services],
            names,
            task=task,
            unit="sentence",
            language=first.languages[0],
            store=folder / "audit.db",
            progress=False,
        )


def secrets_of(service):
    """The credentials that the service was asked with, and the tokens that were made of them."""
    simulated = service.simulated
    secrets = {TOKEN} if simulated.token else set()
    secrets |= {value for value in simulated.environment.values() if value in (SECRET, IDENTITY)}
    for headers in service.server.headers:
        authorization = headers.get("Authorization", headers.get("authorization", ""))
        if authorization.startswith("Bearer "):
            secrets.add(authorization.removeprefix("Bearer "))
    if simulated.spec.startswith("google"):
        secrets |= set(private_key().splitlines()[1:-1])
    assert secrets or simulated.spec == "corenlp"
    return secrets


@pytest.mark.parametrize(
    "kind", ["sentiment-en", *(pytest.param(kind, marks=pytest.mark.slow) for kind in list(KINDS)[1:])]
)
def test_no_credential_is_in_what_an_audit_makes(kind, tmp_path, monkeypatch, caplog, capfd):
    for simulated in KINDS[kind]:
        there(simulated)
    caplog.set_level(logging.INFO)
    made = tmp_path / "made"
    made.mkdir()
    ended, services = [], {}
    with relations.restored(), ExitStack() as stack:
        for simulated in KINDS[kind]:
            faults = faulty(simulated, lambda spec=simulated.spec: services[spec].server, ended)
            service = running(simulated, tmp_path, monkeypatch, faults, "concurrency = 2\ntries = 2")
            services[simulated.spec] = stack.enter_context(service)
        study = study_of(list(services.values()), made)
        with study.engine.connect() as connection:
            errors = connection.execute(select(table_of(tables.Output).c.error)).scalars().all()
        export(study.engine, made / "export")
        (made / "report.txt").write_text(f"{study.report()}\n{errors}\n{study!r}", encoding="utf-8")
        (made / "report.html").write_text(to_html(study.report().document), encoding="utf-8")
        study.close()
        said = [error for error in errors if error]
        assert 0 < len(said) < len(errors)
        ended.append(True)
        for service in services.values():
            with pytest.raises(AuditError) as caught:
                get_system(service.spec).run(service.simulated.inputs[:1])
            said += [str(caught.value), repr(caught.value)]
    secrets = set().union(*map(secrets_of, services.values()))
    said += [caplog.text, *capfd.readouterr()]
    assert not [text for text in said if has_one_of(secrets, text.encode())]
    files = [path for path in made.rglob("*") if path.is_file()]
    assert {path.suffix for path in files} >= {".db", ".jsonl", ".csv", ".html", ".txt"}
    assert [str(path) for path in files if has_one_of(secrets, path.read_bytes())] == []
