"""Reports of totals: a frame of cells with counts, or with rates alone."""

import pandas as pd

from audit.reports.basis import basis_of_totals
from audit.reports.build import build_report


def report_of_totals(cells, signature, *, target="population", confidence=0.95, delta=0.0, **options):
    """The report of these cells, whose judged groups were drawn at random."""
    return build_report(basis_of_totals(pd.DataFrame(cells), target, confidence, delta), signature, **options)
