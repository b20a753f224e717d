"""Settings of judging: what is allowed."""

import pytest

from audit.errors import AuditError
from audit.judging.settings import BOUNDS, JudgingSettings, change_settings, settings_of
from audit.store import open_store


@pytest.mark.parametrize("name", BOUNDS)
@pytest.mark.parametrize("value", [1e30, -1, 10**400, float("nan"), float("inf"), True, "5", None])
def test_a_value_out_of_bounds_is_refused(name: str, value: object) -> None:
    engine = open_store("sqlite://", create=True)
    with pytest.raises(AuditError, match=f"{name} .*: must be a"):
        change_settings(engine, None, {name: value})
    with engine.connect() as connection:
        assert settings_of(connection) == JudgingSettings()
