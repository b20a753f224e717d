"""Workers are sent relations by pickle: every one survives it, and draws the same."""

import pickle
from dataclasses import fields
from functools import partial

from audit.relations import Plain, all_relations, compose, get_relation
from audit.relations.expect import on_documents

REGISTERED = all_relations()
SPREAD = [on_documents(one, 0.5) for one in REGISTERED if isinstance(one, Plain) and one.unit == "sentence"]
COMPOSED = [compose(get_relation("sentiment", "MR1.1"), get_relation("sentiment", "MR3.1"))]


def _said(relation):
    """The fields of a relation; no partial is equal to another one."""
    values = ((field.name, getattr(relation, field.name)) for field in fields(relation))
    return {
        name: (value.func, value.args, value.keywords) if isinstance(value, partial) else value
        for name, value in values
    }


def test_a_copy_is_the_relation():
    # Functions are found by their module and name, so that equal relations make the same groups and verdicts.
    for relation in (*REGISTERED, *SPREAD, *COMPOSED):
        assert _said(pickle.loads(pickle.dumps(relation))) == _said(relation), relation.name  # noqa: S301
