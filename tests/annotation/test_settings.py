"""Settings of judging: what is allowed, and what an older version let in."""

import pytest

from audit.annotation.settings import BOUNDS, JudgingSettings, change_settings, settings_of
from audit.errors import AuditError
from audit.store import open_store, tables, upsert


@pytest.mark.parametrize("name", BOUNDS)
@pytest.mark.parametrize("value", [1e30, -1, 10**400, float("nan"), float("inf"), True, "5", None])
def test_a_value_out_of_bounds_is_refused_and_read_as_the_nearest(name: str, value: object) -> None:
    engine = open_store("sqlite://", create=True)
    with pytest.raises(AuditError, match=f"{name} .*: must be a"):
        change_settings(engine, None, {name: value})
    if value in (1e30, -1):
        with engine.begin() as connection:
            upsert(connection, tables.Setting, [{"name": name, "value": value}])
            nearest = BOUNDS[name].most if value == 1e30 else BOUNDS[name].least
            assert getattr(settings_of(connection), name) == nearest
    else:
        with engine.connect() as connection:
            assert settings_of(connection) == JudgingSettings()


def test_setting_it_anew_mends_it() -> None:
    engine = open_store("sqlite://", create=True)
    with engine.begin() as connection:
        upsert(connection, tables.Setting, [{"name": "repeat_after", "value": 1e30}])
    assert change_settings(engine, None, {"repeat_after": 10_000}).repeat_after == 10_000
    with engine.connect() as connection:
        stored = tables.Setting.__table__  # type: ignore[attr-defined]
        assert connection.execute(stored.select()).one().value == 10_000
