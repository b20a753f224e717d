"""Annotators err: how competent each is, and what their errors do to a rate.

>>> round(rogan_gladen(30, 100, sensitivity=(90, 100), specificity=(95, 100)).rate, 3)
0.294
"""

from audit.statistics.annotators.alarms import Alarm, alarms
from audit.statistics.annotators.dawid_skene import Competence, dawid_skene
from audit.statistics.annotators.drift import Drift, drift
from audit.statistics.annotators.label_bias import Bias, confusion, label_bias
from audit.statistics.annotators.leave_one_out import WithOthers, leave_one_out
from audit.statistics.annotators.protocol import Protocol, protocols
from audit.statistics.annotators.rogan_gladen import Corrected, rogan_gladen
from audit.statistics.annotators.share import Share, share
from audit.statistics.annotators.speed import Speed, speed

__all__ = [
    "Alarm",
    "Bias",
    "Competence",
    "Corrected",
    "Drift",
    "Protocol",
    "Share",
    "Speed",
    "WithOthers",
    "alarms",
    "confusion",
    "dawid_skene",
    "drift",
    "label_bias",
    "leave_one_out",
    "protocols",
    "rogan_gladen",
    "share",
    "speed",
]
