"""The rule-based translation engine Apertium, as it is installed on this machine: what it has, and how it is asked.

Forcada et al., "Apertium: a free/open-source platform for rule-based machine translation", Machine Translation 25,
2011. A *mode* is one way through the engine, such as `eng-spa`: a row of programs, each with the data of one step.
"""

from audit.language.apertium.engine import has_tagger, tagged, translated
from audit.language.apertium.modes import Mode, engine_version, fingerprint, installed, needs, stages, taken

__all__ = [
    "Mode",
    "engine_version",
    "fingerprint",
    "has_tagger",
    "installed",
    "needs",
    "stages",
    "tagged",
    "taken",
    "translated",
]
