"""Every page in a real Chromium, in both languages: axe-core finds nothing on it, it has a title and one first heading,
and in Chinese nothing on it is in Latin letters that need not be."""

import re
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path

import pytest
from app_driver import Prepared
from app_server import app_server
from browser_driver import Window
from walk_driver import View, prepare_everything, walk

pytestmark = pytest.mark.browser
STANDARDS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
EXCEPTIONS = {
    "presentation-role-conflict": {
        '[data-testid="stFileUploaderDropzone"]': "Streamlit's section has this role and a name",
    },
}
"""Rule -> CSS selector -> why the app cannot mend it there: markup of Streamlit's own."""
CHARTS = """
return [...document.querySelectorAll('.stVegaLiteChart')].filter(chart => {
  const named = chart.matches('[role=img]') ? chart : chart.querySelector('[role=img][aria-label]');
  return !(named && named.getAttribute('aria-label').length > 10);
}).map(chart => chart.outerHTML.slice(0, 300));
"""
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
// Not: texts that are judged, texts in their own language, code, examples of guidelines, names of icons.
const skip = "script, style, noscript, code, pre, .audit-text, [lang]:not(html):not([lang^=zh]), .stCode, "
  + "[class*=st-key-guideline], [class*=st-key-words-], [data-testid*=Icon]";
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walker.nextNode()) {
  const parent = walker.currentNode.parentElement;
  const seen = parent.checkVisibility() || parent.closest("canvas [role=columnheader]");
  if (seen && !parent.closest(skip)) take("text", walker.currentNode.data);
}
for (const element of document.querySelectorAll("body *")) {
  if (element.closest("script, style, svg, [lang]:not(html):not([lang^=zh]), [class*=st-key-words-]")) continue;
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


NAMES = """English ann ben boss judge one two films sentences vader textblob hiv4 tfidf-logreg rotten-tomatoes imdb
inews similarity summarization classification translation jsonl refund late rude none reader cut off for the walk Not
good film"""
TERMS = """R_FS SR_o SR_g SR_c VR_o VR_g VR FV mid-p Holm Tukey Kramer McNemar Krippendorff alpha Cohen Gwet AC1 AC2
sequence Vega-Lite Benjamini Yekutieli"""
COMPUTING = """API CSV TSV JSON JSONL Excel XLSX Parquet PARQUET HTML PNG TOML UTC UTF-8 MB Markdown Tab Enter
Ctrl audit app run demo ask en zh labels text answer text_b equal language explanation imported simulated
zip import restore Prolific gold study example TXT TSV name role languages participant PROLIFIC_PID workerId Label
Studio annotator"""
CITED = "Jiang Chen Wang Information and Software Technology"
LATIN = {word for words in (NAMES, TERMS, COMPUTING, CITED) for word in words.split()}
"""What may stand in Latin letters in Chinese: what people and corpora are called here, terms that have no other name,
what is typed, pressed or downloaded, and the paper that is cited."""
WORD = re.compile(r"[A-Za-z][A-Za-z0-9_]*(?:-[A-Za-z0-9]+)*")
FREE = re.compile(r"MR\d+|reader-\d+|[0-9a-f]{12}|[A-Za-z]")
"""Relations, the walk's own accounts, versions, single letters."""


def latin(found: list[list[str]]) -> list[str]:
    """The texts with a word that is not allowed."""
    return [
        f"{what}: {text[:80]}"
        for what, text in found
        if [word for word in WORD.findall(text) if word not in LATIN and not FREE.fullmatch(word)]
    ]


@pytest.mark.parametrize(("language", "scheme"), [("en", "dark"), ("zh", "light")])
def test_every_page(served: tuple[str, Prepared], tmp_path: Path, axe: str, language: str, scheme: str) -> None:
    address, prepared = served
    wrong: dict[str, set[str]] = {}
    with Window(f"{address}/login", tmp_path / "profile", language, reads=True) as window:
        scheme_is = [{"name": "prefers-color-scheme", "value": scheme}]
        window.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": scheme_is})

        def look(view: View) -> None:
            window.driver.execute_script(axe)
            problems = window.driver.execute_async_script(RUN, STANDARDS, {r: [*by] for r, by in EXCEPTIONS.items()})
            first = window.script("return [...document.querySelectorAll('h1')].map(e => e.textContent.trim())")
            if len(first) != 1 or not first[0]:
                problems.append(f"not one h1, but {first}")
            if not re.fullmatch(r"\S.* · audit", window.driver.title):
                problems.append(f"title: {window.driver.title}")
            for chart in window.script(CHARTS):
                problems.append(f"a chart without a text in its place: {chart}")
            if language == "zh":
                problems += latin(window.script(WORDS))
            for problem in problems:
                wrong.setdefault(problem, set()).add(str(view))
            window.picture(f"walk-{language}-{re.sub(r'[^A-Za-z0-9一-鿿]+', '-', str(view))}")

        views = walk(prepared, window, address, look)
    assert not wrong, "\n".join(
        f"{problem}  [{', '.join(sorted(where)[:3])}]" for problem, where in sorted(wrong.items())
    )
    assert len(views) > 55
