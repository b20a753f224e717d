"""The document that describes the API is the one of the code."""

import json
from pathlib import Path

from starlette.testclient import TestClient

from audit.api.application import application, document, routes
from audit.api.service import Service

FILE = Path(__file__).parents[2] / "docs" / "reference" / "openapi.json"


def test_the_document_is_current() -> None:
    renew = "python -m audit.api.application > docs/reference/openapi.json"
    assert json.loads(FILE.read_text(encoding="utf-8")) == json.loads(json.dumps(document())), renew


def test_every_route_is_described_with_its_role_and_its_errors() -> None:
    described = {
        operation["operationId"]: operation
        for methods in document()["paths"].values()
        for operation in methods.values()
    }
    assert set(described) == {route.name for route in routes()}
    for name, operation in described.items():
        assert operation["x-role"] in ("annotator", "adjudicator", "manager"), name
        assert operation["security"] == [{"token": []}], name
        assert operation["description"].rstrip().endswith("."), name
        assert {"400", "401", "403", "404", "409", "413", "429"} <= set(operation["responses"]), name


def test_the_document_is_open_and_needs_no_database() -> None:
    def absent() -> None:
        raise AssertionError("asked for the database")

    client = TestClient(application(Service(absent, absent)))  # type: ignore[arg-type]
    assert client.get("/openapi.json").json()["paths"].keys() == document()["paths"].keys()
