"""Every report that a test of this room makes is checked against the published schema."""

from collections.abc import Callable
from functools import wraps
from typing import Any

import pytest
from report_schema import check_document

MAKERS = ("study_report", "rerank", "report_of")


def _checked(make: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(make)
    def report(*args: Any, **options: Any) -> Any:
        document = make(*args, **options)
        check_document(document)
        return document

    return report


@pytest.fixture(autouse=True)
def _documents_are_as_declared(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in MAKERS:
        if callable(make := getattr(request.module, name, None)):
            monkeypatch.setattr(request.module, name, _checked(make))
