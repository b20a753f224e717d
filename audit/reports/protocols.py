"""What a report says of two protocols: R_FS by arm, the difference, and how each was answered."""

from dataclasses import asdict
from typing import Any

from audit.false_satisfaction.arms import Arms
from audit.sampling.protocols import BLIND, SHOWN
from audit.statistics.arms import between_arms

METHOD = "plain means over judged groups by arm; MOVER over exact intervals at the effective size of sources"
"""What a signature says of the estimator."""


def protocol_entry(found: Arms, confidence: float = 0.95) -> dict[str, Any]:
    """`protocols` of a report: `arms` (blind, then shown) and the `difference` shown - blind with its ends.

    The rates are plain means over the judged groups of the arm, whatever cell they are of. `crossed` counts the groups
    of which some answer came under the protocol of the other arm. What is not known is None.
    """
    groups = found.groups
    between = between_arms(
        groups["source"].to_numpy(int),
        groups["false"].to_numpy(int),
        groups["protocol"].eq(SHOWN).to_numpy(bool),
        confidence,
    )
    arms = [
        {
            "protocol": protocol,
            "sources": rate.sources,
            "groups": rate.groups,
            "false": rate.false,
            "fs_rate": rate.rate,
            "fs_low": rate.low,
            "fs_high": rate.high,
        }
        | asdict(found.answering[protocol])
        for protocol, rate in ((BLIND, between.first), (SHOWN, between.second))
    ]
    return {
        "randomised": found.randomised,
        "arms": arms,
        "difference": between.difference,
        "low": between.low,
        "high": between.high,
        "crossed": int(groups["crossed"].sum()),
    }
