"""The Debian New Maintainers' Guide in four languages, for docs/evidence/translation-results.md.

Its pages in four languages have the same paragraphs in the same order. Where a paragraph has equally many sentences in
all four, each is a text with three references. The help of LibreOffice, with the guide, is the text whose words are
counted for proposals. Needs the packages, unpacked into one folder:

    apt-get download maint-guide maint-guide-es maint-guide-ca maint-guide-fr \\
        libreoffice-help-es libreoffice-help-ca libreoffice-help-fr
    for package in *.deb; do dpkg -x $package unpacked; done
    python tests/benchmarks/four_languages.py unpacked out

Writes guide.csv, references.csv, es.txt, ca.txt and fr.txt into `out`.
"""

import csv
import re
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

from audit.text.tools import spans

LANGUAGES = ("en", "es", "ca", "fr")
CHAPTERS = ("start", "first", "modify", "dreq", "dother", "build", "checkit", "upload", "update", "advanced")
LONGEST, FEWEST_WORDS = 250, 4


class Paragraphs(HTMLParser):
    """The texts of a page's `p` elements."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.open: list[str] | None = None

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag in ("p", "pre"):
            self._close()
            self.open = [] if tag == "p" else None

    def handle_endtag(self, tag: str) -> None:
        if tag == "p":
            self._close()

    def handle_data(self, data: str) -> None:
        if self.open is not None:
            self.open.append(data)

    def _close(self) -> None:
        if self.open is not None:
            self.found.append(" ".join(re.sub(r"\[\d+\]", "", "".join(self.open)).split()))
        self.open = None


def paragraphs(page: Path) -> list[str]:
    reader = Paragraphs()
    reader.feed(page.read_text(encoding="utf-8"))
    return reader.found


def aligned(folder: Path) -> Iterator[tuple[str, tuple[str, ...]]]:
    """A key and the sentence in each language: translated in all, of four words at least, each English one once."""
    seen: set[str] = set()
    for chapter in CHAPTERS:
        pages = [
            paragraphs(folder / f"maint-guide{'' if one == 'en' else f'-{one}'}/html/{chapter}.{one}.html")
            for one in LANGUAGES
        ]
        for number, versions in enumerate(zip(*pages, strict=True)):
            parts = [
                [text[start:end] for start, end in spans(text, language)]
                for text, language in zip(versions, LANGUAGES, strict=True)
            ]
            if len({len(some) for some in parts}) != 1:
                continue
            for place, sentences in enumerate(zip(*parts, strict=True)):
                if sentences[0] not in seen and len(set(sentences)) == len(LANGUAGES) and all(map(usable, sentences)):
                    seen.add(sentences[0])
                    yield f"{chapter}.{number}.{place}", sentences


def usable(text: str) -> bool:
    return bool(re.search(r'[.!?:]["»”)]*$', text)) and len(text.split()) >= FEWEST_WORDS and len(text) <= LONGEST


def main(unpacked: Path, out: Path) -> None:
    found = list(aligned(unpacked / "usr/share/doc"))
    out.mkdir(exist_ok=True)
    texts = [
        (f"{key}.{language}", text, language, key)
        for key, some in found
        for language, text in zip(LANGUAGES, some, strict=True)
    ]
    references = [
        (some[source], some[target], LANGUAGES[target])
        for _, some in found
        for source in range(len(LANGUAGES))
        for target in range(len(LANGUAGES))
        if source != target
    ]
    write(out / "guide.csv", ("id", "text", "language", "document"), texts)
    write(out / "references.csv", ("source", "reference", "target_language"), references)
    for language in LANGUAGES[1:]:
        pages = sorted((unpacked / "usr/share/libreoffice/help" / language / "text").rglob("*.html"))
        lines = [line for page in pages for line in paragraphs(page) if len(line.split()) > FEWEST_WORDS]
        lines += [text for _, text, one, _ in texts if one == language]
        (out / f"{language}.txt").write_text("\n".join(dict.fromkeys(lines)) + "\n", encoding="utf-8")
    print(f"{len(found)} sentences in {len(LANGUAGES)} languages, {len(references)} references")


def write(path: Path, header: tuple[str, ...], rows: list[tuple[str, ...]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows(rows)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
