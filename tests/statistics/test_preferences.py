"""Weights that no ranking can be made of."""

import pytest

from audit.errors import AuditError
from audit.statistics.orders import normalised


def test_weights_that_cannot_be():
    for weights in ([0, 0], [1, -1], [float("nan")]):
        with pytest.raises(AuditError):
            normalised(weights)
