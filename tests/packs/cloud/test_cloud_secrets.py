"""No credential is in anything that an audit of a cloud service makes: database, export, report, log, error.

Each service says right answers, errors that repeat all that it was sent, and answers with credentials in them.
"""

import html
import json
import logging
import warnings
from base64 import b64encode
from urllib.parse import quote, quote_plus

import pandas as pd
import pytest
from cloud_services import ALL, IDENTITY, SECRET, TOKEN, private_key, running
from service import Reply
from sqlalchemy import select
from test_cloud_contract import named, quick, there  # noqa: F401

import audit
from audit.errors import AuditError
from audit.registry import relations
from audit.reports.exports.writing import export
from audit.reports.html import to_html
from audit.store import table_of, tables
from audit.systems import get_system

OFTEN = 6


def spellings(secrets):
    """Each secret as it may stand in a file."""
    for secret in secrets:
        for spelled in (
            secret,
            html.escape(secret),
            json.dumps(secret)[1:-1],
            quote(secret),
            quote(secret, safe=""),
            quote_plus(secret),
            b64encode(secret.encode()).decode(),
        ):
            yield spelled.encode()
            yield spelled.encode("utf-16-le")


def corpus_of(simulated):
    """The texts of the service's inputs, and some more."""
    first = simulated.inputs[0]
    if len(first.texts) == 2:
        return pd.DataFrame({"text": [f"我喜欢{n}号猫。" for n in range(OFTEN)], "text_b": ["我喜欢狗。"] * OFTEN})
    return pd.DataFrame({"text": [f"{first.text} {n}" for n in range(OFTEN)]})


def study_of(simulated, service, folder):
    """The audit of the service, with a relation of two texts, in a database."""
    task = get_system(service.spec).tasks[0]
    language = simulated.inputs[0].languages[0]
    names = {"similarity": ["MR7.1"], "translation": ["RTT"]}.get(task, ["CLOUD"])
    texts = corpus_of(simulated)
    if task == "translation":
        texts["target_language"] = "es"

    def again(text):
        "The same with a question mark."
        return f"{text}?"

    if names == ["CLOUD"]:
        audit.relation("CLOUD", task=task, check=lambda outputs: outputs[0] == outputs[1])(again)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return audit.run(
            texts,
            [service.spec],
            names,
            task=task,
            unit="sentence",
            language=language,
            store=folder / "made" / "audit.db",
            progress=False,
        )


def has_one_of(text, secrets):
    return any(spelled in text for spelled in spellings(secrets))


@pytest.mark.parametrize("simulated", ALL, ids=named)
def test_no_credential_is_in_what_an_audit_makes(simulated, tmp_path, monkeypatch, caplog, capfd):
    there(simulated)
    caplog.set_level(logging.INFO)
    (tmp_path / "made").mkdir()

    ended = []

    def faults(body, number):
        if ended:
            return Reply(f"{SECRET}{IDENTITY}{TOKEN}".encode(), 403)
        headers = service.server.headers[-1]
        said = f"bad: {headers} {service.server.paths[-1]} {json.dumps(body)} {SECRET} {IDENTITY} {TOKEN}"
        replies = {
            0: Reply({"message": said, "error": said, "Message": said, "error_msg": said}, 400),
            1: Reply({"error": {"code": 400, "message": said, "status": "INVALID_ARGUMENT"}}, 400),
            2: Reply(said.encode(), 500),
            3: Reply(said.encode(), 403),
            4: Reply(said.encode()),
            5: simulated.unknown and simulated.unknown(body),
        }
        return replies.get(number)

    with (
        relations.restored(),
        running(simulated, tmp_path, monkeypatch, faults, "concurrency = 2\ntries = 2") as service,
    ):
        study = study_of(simulated, service, tmp_path)
        with study.engine.connect() as connection:
            errors = connection.execute(select(table_of(tables.Output).c.error)).scalars().all()
        export(study.engine, tmp_path / "made" / "export")
        (tmp_path / "made" / "report.txt").write_text(f"{study.report()}\n{errors}\n{study!r}", encoding="utf-8")
        (tmp_path / "made" / "report.html").write_text(to_html(study.report().document), encoding="utf-8")
        study.close()
        ended.append(True)
        with pytest.raises(AuditError) as caught:
            get_system(service.spec).run(simulated.inputs[:1])
    sent = [headers.get("Authorization", headers.get("authorization", "")) for headers in service.server.headers]
    secrets = {TOKEN} if simulated.token else set()
    secrets |= {value for value in simulated.environment.values() if value in (SECRET, IDENTITY)}
    secrets |= {value.removeprefix("Bearer ") for value in sent if value.startswith("Bearer ")}
    if simulated.spec.startswith("google"):
        secrets |= set(private_key().splitlines()[1:-1])
    assert secrets or simulated.spec == "corenlp"
    assert any(errors), "some requests failed"
    assert not all(errors), "some were answered"
    out, err = capfd.readouterr()
    said = [caplog.text, out, err, str(caught.value), repr(caught.value), "".join(filter(None, errors))]
    assert not [text for text in said if has_one_of(text.encode(), secrets)]
    files = [path for path in (tmp_path / "made").rglob("*") if path.is_file()]
    assert {path.suffix for path in files} >= {".db", ".jsonl", ".csv", ".html", ".txt"}
    assert [str(path) for path in files if has_one_of(path.read_bytes(), secrets)] == []
