"""What importing audit.reports does not load."""

import subprocess
import sys


def test_reports_load_nothing_heavy_before_they_are_used():
    heavy = "('altair', 'jinja2', 'vl_convert')"
    code = f"import sys, audit.reports.html; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
