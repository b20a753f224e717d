"""With what an answer was given: the app's version, and the browser's family, version and platform, or the command.

Of what a browser says of itself only words of our own lists and a number are kept: enough to tell that answers of one
kind of device differ, too little to know one browser among others, and nothing that a visitor wrote.
"""

import re

import audit

LONGEST = 80
"""Characters."""
_FAMILIES = (
    # What imitates others comes first: Edge and Opera call themselves Chrome, Chrome calls itself Safari.
    ("Edge", re.compile(r"\b(?:Edg|EdgA|EdgiOS)/(\d{1,4})\b", re.ASCII)),
    ("Opera", re.compile(r"\bOPR/(\d{1,4})\b", re.ASCII)),
    ("Samsung Internet", re.compile(r"\bSamsungBrowser/(\d{1,4})\b", re.ASCII)),
    ("Firefox", re.compile(r"\b(?:Firefox|FxiOS)/(\d{1,4})\b", re.ASCII)),
    ("Chrome", re.compile(r"\b(?:HeadlessChrome|Chrome|CriOS)/(\d{1,4})\b", re.ASCII)),
    ("Safari", re.compile(r"\bVersion/(\d{1,4})\b.*\bSafari/", re.ASCII)),
)
_PLATFORMS = (
    ("Android", "Android"),
    ("iPhone", "iOS"),
    ("iPad", "iPadOS"),
    ("CrOS", "ChromeOS"),
    ("Windows", "Windows"),
    ("Macintosh", "macOS"),
    ("Linux", "Linux"),
)
_READ = 1_000
"""Characters of the header that are looked at."""


def browser(user_agent: str | None) -> str:
    """What is stored of a browser by the header User-Agent.

    >>> browser("Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36")
    'audit 0.1.0; Chrome 131; Linux'
    >>> browser("curl/8.0 <script>")
    'audit 0.1.0; another browser'
    """
    given = (user_agent or "")[:_READ]
    named = next((f"{name} {found[1]}" for name, known in _FAMILIES if (found := known.search(given))), None)
    platform = next((name for sign, name in _PLATFORMS if sign in given), None)
    return _joined(named or "another browser", platform)


def command(name: str) -> str:
    """What is stored of answers that a command stored.

    >>> command("import-labels")
    'audit 0.1.0; import-labels'
    """
    return _joined(name)


def _joined(*parts: str | None) -> str:
    return "; ".join([f"audit {audit.__version__}", *(part for part in parts if part)])[:LONGEST]
