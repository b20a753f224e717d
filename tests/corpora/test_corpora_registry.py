"""Names of corpora, and the list of them."""

import pytest

from audit.corpora import get_corpus
from audit.errors import AuditError


@pytest.mark.parametrize("wrong", [{"task": "similarity"}, {"unit": "document"}, {"language": "de"}])
def test_a_registered_corpus_is_what_it_is(wrong: dict[str, str]) -> None:
    with pytest.raises(AuditError, match="of corpus 'rotten-tomatoes' is"):
        get_corpus("rotten-tomatoes", **wrong)  # type: ignore[arg-type]
