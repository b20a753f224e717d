"""R_FS of cells with the help of proxies, as a report needs it: `audit report --proxy`."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from sqlalchemy import Engine

from audit.errors import AuditError
from audit.false_satisfaction.audited import CELL
from audit.false_satisfaction.cells import Counted
from audit.false_satisfaction.groups import NAMES
from audit.false_satisfaction.proxies import CellProxies, cell_proxies
from audit.statistics.intervals import SEQUENCE, Estimator, Target
from audit.statistics.prediction_powered import PredictionPowered, prediction_powered
from audit.statistics.rates import ESTIMATES


def check_proxies(names: Sequence[str], interval: str, target: Target) -> None:
    """Raise AuditError where proxies cannot be used.

    >>> check_proxies(["disagreement"], "midp", "corpus")
    """
    if not names:
        return
    if target == "population":
        raise AuditError(
            "proxies correct a sample by what is known of this corpus; with --proxy take the target corpus, or leave "
            "--proxy out for the target population"
        )
    if interval == SEQUENCE:
        raise AuditError(
            "an estimate with proxies (PPI++) holds for a number of judgements fixed before, and a sequence for every "
            "number; take either --proxy or --interval sequence"
        )


def powered(
    engine: Engine, counted: Counted, judged: pd.DataFrame, names: Sequence[str], fallback: Estimator
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """(estimates, judged): a row for each cell with its R_FS by PPI++, and what proxies leave of the judged groups.

    `judged` are the rows of `judged_groups`. The first frame has the columns study, task, relation, system and
    `ESTIMATES`: where `prediction_powered` falls back, the rate of the sample, the interval `fallback` and a gain of 1;
    where nothing is judged, no estimate. The second is `judged` with a column `value`: false less the proxies times
    their slopes. Raises what `cell_proxies` raises.
    """
    found: dict[tuple[int, int, int], tuple[PredictionPowered, str]] = {}
    left: dict[tuple[int, int, int], np.ndarray] = {}
    for cell in cell_proxies(engine, counted, names):
        result = prediction_powered(cell.truth, cell.of_sample, cell.of_population, fallback=fallback)
        key = (cell.study, cell.relation, cell.system)
        found[key] = (result, _reason(cell, result))
        left[key] = cell.truth - cell.of_sample @ np.array(result.weights) if result.weights else cell.truth
    rows: list[tuple[float | str | None, ...]] = []
    for key in counted.keys[CELL].itertuples(index=False, name=None):
        if key in found:
            result, reason = found[key]
            rows.append((result.estimate, result.low, result.high, result.method, result.gain, reason or None))
        else:
            rows.append((None, None, None, None, None, "no random sample of the cell is judged"))
    estimates = pd.concat(
        [counted.keys[NAMES].reset_index(drop=True), pd.DataFrame(rows, columns=list(ESTIMATES))], axis=1
    )
    return estimates, judged.assign(value=_values(counted, judged, left))


def _reason(cell: CellProxies, result: PredictionPowered) -> str:
    """Why a proxy was not used; empty where all were."""
    reasons = [f"{name} is left out: {why}" for name, why in cell.left_out.items()]
    if result.reason and (cell.names or not reasons):
        reasons.append(result.reason)
    return "; ".join(reasons)


def _values(counted: Counted, judged: pd.DataFrame, left: dict[tuple[int, int, int], np.ndarray]) -> np.ndarray:
    """What proxies leave, in the order of the rows of `judged`, which has each cell's groups in the order of ranks."""
    values = judged["false"].to_numpy(float).copy()
    both = counted.keys[[*CELL, *NAMES]].itertuples(index=False, name=None)
    names = {key[: len(CELL)]: key[len(CELL) :] for key in both}
    places = judged.groupby(NAMES, sort=False).indices
    for key, rest in left.items():
        values[places[names[key]]] = rest
    return values
