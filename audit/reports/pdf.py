"""The report as a PDF: the HTML report with everything open, on numbered pages of A4."""

import shutil
import subprocess
from typing import cast

from audit.errors import NotInstalled, installed_extras
from audit.messages import ENGLISH, message
from audit.reports.build import Report
from audit.reports.html import to_html


def to_pdf(report: Report, language: str = ENGLISH) -> bytes:
    """The report as a PDF document; its fonts are in it.

    Raises NotInstalled where WeasyPrint, the library Pango that it needs, or a font with Chinese letters is missing.
    """
    if language != ENGLISH and _fonts(language) == "":
        raise NotInstalled(message("pdf.no_font"))
    with installed_extras():
        try:
            from weasyprint import HTML
        except OSError as problem:  # the library is there, what it loads is not
            raise NotInstalled(message("pdf.no_pango")) from problem
    return cast(bytes, HTML(string=to_html(report, language, opened=True)).write_pdf())


def _fonts(language: str) -> str | None:
    """The fonts of this machine that have a language's letters, a line each; None where nothing can tell."""
    tool = shutil.which("fc-list")
    if tool is None:
        return None
    listed = subprocess.run([tool, f":lang={language}", "family"], capture_output=True, text=True, check=False)
    return listed.stdout.strip() if listed.returncode == 0 else None
