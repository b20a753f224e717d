"""The pages: links lead somewhere, pictures have a text, pages are short, and the site builds without a warning."""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from urllib.parse import unquote
from xml.etree import ElementTree

import pytest

import audit

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted([*ROOT.glob("*.md"), *DOCS.rglob("*.md")])
GENERATED = ("docs/commands.md", "docs/reference/api.md", "docs/reference/json.md", "docs/reference/relation-list.md")


def prose(path: Path) -> str:
    """A page without its code, in which nothing is a link."""
    text = re.sub(r"^( *)```.*?^\1```", "", path.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    return re.sub(r"(?m)^(?: {4}|\t).*$", "", text)


def anchors(path: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them and the site is told to."""
    headings = re.findall(r"(?m)^#{1,6} +(.*?) *$", prose(path))
    shown = (re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading) for heading in headings)
    return {re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-") for text in shown}


def links(path: Path) -> list[str]:
    text = re.sub(r"`[^`\n]*`", "`", prose(path))
    return re.findall(r"\]\(\s*<?([^)\s>]+)", text) + re.findall(r"(?:href|src)=[\"']([^\"']+)", text)


def broken(path: Path) -> list[str]:
    wrong = []
    for link in links(path):
        if re.match(r"[a-z][a-z+.-]*:", link):
            continue
        file, _, anchor = unquote(link).partition("#")
        target = (path.parent / file).resolve() if file else path
        if not target.exists() or (anchor and target.suffix == ".md" and anchor not in anchors(target)):
            wrong.append(link)
    return wrong


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_links_lead_to_files_and_headings_that_are_there(path):
    assert broken(path) == []


def test_every_picture_has_a_text_and_a_page():
    shown = set()
    for path in PAGES:
        text = prose(path)
        for told, link in re.findall(r"!\[([^]]*)\]\(([^)\s]+)", text):
            assert len(told) >= 10, f"{path.name}: {link} says nothing to who cannot see it"
            shown.add((path.parent / link).resolve())
        assert "<img" not in text, f"{path.name}: pictures are written as Markdown"
    pictures = {path for kind in ("svg", "png") for path in DOCS.rglob(f"*.{kind}")}
    assert pictures - shown == set()


def test_what_people_read_is_short():
    pages = [ROOT / "README.md", *DOCS.rglob("*.md")]
    words = {
        name: len(page.read_text(encoding="utf-8").split())
        for page in pages
        if (name := page.relative_to(ROOT).as_posix()) not in GENERATED
    }
    assert sum(words.values()) <= 40_000, sorted(words.items(), key=lambda entry: -entry[1])[:10]
    assert words["README.md"] <= 500


def test_files_that_pages_name_are_there():
    named = re.compile(r"`(?:python )?((?:audit|tests|data|docs)/[\w./-]+\.\w+)")
    missing = {name for page in PAGES for name in named.findall(page.read_text(encoding="utf-8"))}
    assert [name for name in sorted(missing) if not (ROOT / name).exists()] == []


def script(name: str) -> ModuleType:
    """A script of the docs as a module."""
    spec = importlib.util.spec_from_file_location(Path(name).stem, DOCS / name)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", ["make_api.py", "make_relations.py"])
def test_generated_pages_are_what_the_code_says(name):
    maker = script(name)
    assert maker.PAGE.read_text(encoding="utf-8") == maker.page(), f"run `python docs/{name}`"


def test_the_pictures_of_the_concepts_are_what_their_script_draws():
    maker = script("concepts/make_pictures.py")
    for name, draw in maker.PICTURES.items():
        path = DOCS / "concepts" / f"{name}.svg"
        assert path.read_text(encoding="utf-8") == draw(), "run `python docs/concepts/make_pictures.py`"
        ElementTree.fromstring(draw())


def test_the_citation_and_the_changelog_know_the_version():
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    version, date = (
        re.search(rf'^{key}: "?([^"\n]+)', citation, re.MULTILINE)[1] for key in ("version", "date-released")
    )
    assert version == audit.__version__
    assert f"\n## [{version}] - {date}\n" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_site_builds_without_a_warning(tmp_path):
    pytest.importorskip("material", reason="pip install 'audit[docs]'")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "-q", "-f", str(ROOT / ".mkdocs.yml")]
    built = subprocess.run([*command, "-d", str(tmp_path / "site")], capture_output=True, text=True, cwd=tmp_path)
    assert built.returncode == 0, built.stderr
    pages = {page.relative_to(tmp_path / "site").with_suffix(".md") for page in (tmp_path / "site").rglob("*.html")}
    assert {page.relative_to(DOCS) for page in DOCS.rglob("*.md")} <= pages
