"""Names of corpora, and the list of them."""

from pathlib import Path

import pytest

from audit.corpora import get_corpus, listing
from audit.corpora.base import CORPORA
from audit.errors import AuditError
from audit.tasks import TASKS, base_of


@pytest.mark.slow
def test_every_corpus_is_described(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUDIT_CACHE", str(tmp_path))
    rows = listing()
    names = [row["corpus"] for row in rows]
    assert names == [entry.name for entry in CORPORA.entries() if not entry.argument]
    assert names[0] == "rotten-tomatoes"  # English first, then Chinese
    assert names[-1] == "inews-pairs"
    for row in rows:
        assert set(row) == {"corpus", "task", "language", "unit", "size", "gold", "available", "needs"}
        assert base_of(str(row["task"])) in TASKS
        assert row["available"] == (row["needs"] is None) == isinstance(row["size"], int)


@pytest.mark.parametrize("wrong", [{"task": "similarity"}, {"unit": "document"}, {"language": "de"}])
def test_a_registered_corpus_is_what_it_is(wrong: dict[str, str]) -> None:
    with pytest.raises(AuditError, match="of corpus 'rotten-tomatoes' is"):
        get_corpus("rotten-tomatoes", **wrong)  # type: ignore[arg-type]
