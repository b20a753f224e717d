"""Contrast of the colours that the app chooses: 4.5 : 1 for every text, 3 : 1 for what shows where one is.

Source: WCAG 2.2, success criteria 1.4.3 and 1.4.11, and its definitions of relative luminance and contrast ratio.
"""

import re

import pytest

from audit.resources import data_file
from audit.ui.settings import FLAGS

Colour = tuple[float, float, float]

STREAMLIT = {"light": ("#2f2d2b", "#ffffff", "#f8f8f7"), "dark": ("#edebe8", "#171614", "#21201d")}
"""Text, page and side bar of Streamlit's two themes, as Chromium computes them with the pinned version (1.67.0)."""
STYLE = data_file("ui/style.css").read_text(encoding="utf-8")


def rgb(text: str) -> Colour:
    digits = text.lstrip("#")
    digits = "".join(2 * digit for digit in digits) if len(digits) == 3 else digits
    return (int(digits[:2], 16), int(digits[2:4], 16), int(digits[4:], 16))


def mixed(above: Colour, share: float, below: Colour) -> Colour:
    """So much of one colour over another."""
    red, green, blue = (share * a + (1 - share) * b for a, b in zip(above, below, strict=True))
    return (red, green, blue)


def luminance(colour: Colour) -> float:
    parts = [part / 255 for part in colour]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(first: Colour, second: Colour) -> float:
    light, dark = sorted((luminance(first), luminance(second)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def in_style(pattern: str) -> tuple[str, ...]:
    match = re.search(pattern, STYLE)
    assert match, pattern
    return match.groups()


def form_colours(theme: str) -> dict[str, Colour]:
    """The variables of the pages for logging in and for one's password, the dark ones over the light ones."""
    page = data_file("ui/frame.html.j2").read_text(encoding="utf-8")
    page = page.replace("{{ light }}", FLAGS["theme.light.primaryColor"])
    page = page.replace("{{ dark }}", FLAGS["theme.dark.primaryColor"])
    sets = re.findall(r":root \{(.*?)\}", page, re.DOTALL)
    assert len(sets) == 2
    return {
        name: rgb(colour)
        for text in sets[: 1 + (theme == "dark")]
        for name, colour in re.findall(r"--([\w-]+): (#\w+)", text)
    }


def test_the_definition_s_own_numbers() -> None:
    # Black on white is 21 : 1 by definition; #767676 is the lightest grey with 4.5 : 1 on white (4.54).
    assert contrast((0, 0, 0), (255, 255, 255)) == pytest.approx(21)
    assert contrast(rgb("#767676"), rgb("#fff")) == pytest.approx(4.54, abs=0.01)


@pytest.mark.parametrize("theme", STREAMLIT)
@pytest.mark.parametrize(
    ("text", "behind"),
    [
        ("ink", "paper"), ("ink", "field"), ("muted", "paper"), ("on-accent", "accent"), ("accent", "paper"),
        ("bad", "bad-paper"),
    ],
)  # fmt: skip
def test_the_forms(theme: str, text: str, behind: str) -> None:
    colours = form_colours(theme)
    assert contrast(colours[text], colours[behind]) >= 4.5


@pytest.mark.parametrize("theme", STREAMLIT)
def test_what_marks_words_and_quiet_lines(theme: str) -> None:
    ink, paper, second = map(rgb, STREAMLIT[theme])
    box = mixed(ink, 0.03, paper)
    lines = set()
    for kind in ("ins", "del", r"\.audit-moved"):
        colour, share, line = in_style(
            rf"audit-legend\) {kind} \{{\s*background: color-mix\(in srgb, (#\w+) (\d+)%, transparent\); "
            r"text-decoration: ([^;]+);"
        )
        assert contrast(ink, mixed(rgb(colour), int(share) / 100, box)) >= 4.5
        lines.add(line)
    assert len(lines) == 3  # no kind is told by its colour alone
    for pattern in (r"stCaptionContainer\"\] \{ opacity: ([\d.]+)", r"placeholder \{[^}]*opacity: ([\d.]+)",
                    r"\.audit-orders dt \{[^}]*opacity: ([\d.]+)"):  # fmt: skip
        (opacity,) = in_style(pattern)
        for behind in (paper, second):
            assert contrast(mixed(ink, float(opacity), behind), behind) >= 4.5, pattern


@pytest.mark.parametrize("theme", STREAMLIT)
def test_the_ring_of_the_focus_and_lines_that_mean_something(theme: str) -> None:
    ink, paper, second = map(rgb, STREAMLIT[theme])
    (share,) = in_style(r"outline: 3px solid color-mix\(in srgb, currentColor (\d+)%")
    for behind in (paper, second):
        assert contrast(mixed(ink, int(share) / 100, behind), behind) >= 3


def test_the_accent_on_streamlit_s_pages() -> None:
    """A chosen part is in the accent's colour, on a page or on its own tint."""
    for theme in STREAMLIT:
        accent = rgb(FLAGS[f"theme.{theme}.primaryColor"])
        paper = rgb(STREAMLIT[theme][1])
        assert contrast(accent, paper) >= 4.5
        assert contrast(accent, mixed(accent, 0.1, paper)) >= 4.5


def test_what_stands_on_the_accent() -> None:
    """White in the light theme, as Streamlit has it; in the dark one what the style puts in its place."""
    assert contrast(rgb("#ffffff"), rgb(FLAGS["theme.light.primaryColor"])) >= 4.5
    (ink,) = in_style(r"button\[kind\^=\"primary\"\][^{]*\{ color: (#\w+)")
    assert contrast(rgb(ink), rgb(FLAGS["theme.dark.primaryColor"])) >= 4.5
