"""Occupations in Chinese text, and which one may stand for another.

Lists of jobs that libraries have are of advertisements (销售总监/经理); ours, `data/lexicons/chinese_occupations.tsv`,
is of plain professions as news names them.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from audit.errors import AuditError
from audit.resources import data_file

_FILE = "lexicons/chinese_occupations.tsv"


@dataclass(frozen=True, slots=True)
class Occupation:
    """An occupation, those that may stand for it, and whether nouns and names may stand right before it."""

    name: str
    stand_ins: tuple[str, ...]
    after_nouns: bool
    after_names: bool


@cache
def occupations() -> Mapping[str, Occupation]:
    """Occupations by name. Raises AuditError when the installation is damaged.

    >>> occupations()["法官"]
    Occupation(name='法官', stand_ins=('检察官', '律师'), after_nouns=True, after_names=False)
    """
    found: dict[str, Occupation] = {}
    for number, line in enumerate(data_file(_FILE).read_text(encoding="utf-8").splitlines(), 1):
        if line.startswith("#"):
            continue
        parts = line.split("\t")
        if len(parts) != 3 or not parts[1]:
            raise AuditError(
                f"data/{_FILE}, line {number}: wants an occupation, its stand-ins and what stands before it"
            )
        before = parts[2].split()
        found[parts[0]] = Occupation(parts[0], tuple(parts[1].split()), "n" in before, "nr" in before)
    return found
