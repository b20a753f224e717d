"""Annotators err: how competent each is, and what their errors do to a rate.

>>> round(rogan_gladen(30, 100, sensitivity=(90, 100), specificity=(95, 100)).rate, 3)
0.294
"""

from audit.statistics.annotators.dawid_skene import Competence, dawid_skene
from audit.statistics.annotators.protocol import Protocol, protocols
from audit.statistics.annotators.rogan_gladen import Corrected, rogan_gladen

__all__ = ["Competence", "Corrected", "Protocol", "dawid_skene", "protocols", "rogan_gladen"]
