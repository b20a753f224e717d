"""Every page in a real Chromium, in both languages: axe-core finds nothing on it, it has a title and one first heading,
and in Chinese nothing on it is in Latin letters that need not be."""

import json
import re
from collections.abc import Callable, Iterator
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path
from typing import Any

import pytest
from app_driver import Prepared
from app_server import app_server
from browser_driver import Window
from walk_driver import View, prepare_everything, walk

pytestmark = pytest.mark.browser
STANDARDS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
EXCEPTIONS: dict[str, dict[str, str]] = {}
"""Rule -> CSS selector -> why the app cannot mend it there: markup of Streamlit's own."""
RUN = """
const done = arguments[arguments.length - 1], [standards, exceptions] = arguments;
axe.run(document, { runOnly: standards, resultTypes: ["violations"] }).then(result => done(
  result.violations.flatMap(({ id, help, nodes }) => nodes
    .filter(({ target }) => {
      const element = typeof target[0] == "string" ? document.querySelector(target[0]) : null;
      return !(element && (exceptions[id] || []).some(selector => element.matches(selector)));
    })
    .map(({ target, html }) => `${id} (${help}): ${target} ${html.slice(0, 160)}`))
), problem => done([String(problem)]));
"""
WORDS = """
const found = [];
const take = (what, text) => { if (/[A-Za-z]{2,}/.test(text || "")) found.push([what, text.trim()]); };
const skip = "script, style, noscript, code, pre, [lang]:not(html):not([lang^=zh]), .stCode, textarea, "
  + "[data-testid=stIconMaterial]";
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walker.nextNode()) {
  const parent = walker.currentNode.parentElement;
  if (!parent.closest(skip) && parent.checkVisibility()) take("text", walker.currentNode.data);
}
for (const element of document.querySelectorAll("body *")) {
  if (element.closest("script, style, [lang]:not(html):not([lang^=zh])")) continue;
  if (!element.checkVisibility()) continue;
  for (const name of ["aria-label", "title", "placeholder", "alt", "aria-description", "aria-roledescription"])
    take(name, element.getAttribute(name));
  if (element.matches("input[type=button], input[type=submit]")) take("value", element.value);
}
return found;
"""


@pytest.fixture(scope="module")
def axe() -> str:
    """The source of axe-core, which a package of the extra `test` has in it."""
    try:
        source = next(file for file in files("selenium-axe-python") or () if file.name == "axe.min.js")
    except PackageNotFoundError:
        pytest.skip("selenium-axe-python is not installed")
    return source.locate().read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Prepared]]:
    folder = tmp_path_factory.mktemp("walk")
    prepared = prepare_everything(folder)
    with app_server(str(prepared.path), folder / "log.txt") as address:
        yield address, prepared
