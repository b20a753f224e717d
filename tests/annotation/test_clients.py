"""What is kept of a browser: words of our own and a number, never what a visitor wrote."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import audit
from audit.annotation.answers import LONGEST, browser, command

KIT = "AppleWebKit/537.36 (KHTML, like Gecko)"


# The headers are those that the browsers' makers document, for example
# https://developer.mozilla.org/docs/Web/HTTP/Headers/User-Agent
@pytest.mark.parametrize(
    ("agent", "said"),
    [
        (f"Mozilla/5.0 (X11; Linux x86_64) {KIT} Chrome/131.0.0.0 Safari/537.36", "Chrome 131; Linux"),
        (f"Mozilla/5.0 (X11; Linux x86_64) {KIT} HeadlessChrome/120.0.6099.0 Safari/537.36", "Chrome 120; Linux"),
        (f"Mozilla/5.0 (Windows NT 10.0; Win64; x64) {KIT} Chrome/124.0 Safari/537.36 Edg/124.0", "Edge 124; Windows"),
        ("Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0", "Firefox 128; Linux"),
        (
            "Mozilla/5.0 (iPhone; CPU iPhone OS 17_4 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) "
            "Version/17.4 Mobile/15E148 Safari/604.1",
            "Safari 17; iOS",
        ),
        (f"Mozilla/5.0 (Linux; Android 10; K) {KIT} Chrome/131.0.0.0 Mobile Safari/537.36", "Chrome 131; Android"),
        (f"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) {KIT} Chrome/1 Safari/537.36 OPR/109.0", "Opera 109; macOS"),
        ("curl/8.0", "another browser"),
        ("", "another browser"),
        (None, "another browser"),
    ],
)
def test_family_version_and_platform(agent, said):
    assert browser(agent) == f"audit {audit.__version__}; {said}"


@given(st.text() | st.text(alphabet="Chrome/0123456789 Edg\0\x1b<>;Windows", max_size=3_000))
def test_nothing_of_the_header_but_a_number(agent):
    said = browser(agent)
    assert len(said) <= LONGEST
    assert said.isprintable()
    assert said.isascii()
    assert not set("<>\0\x1b") & set(said)


def test_a_header_of_a_megabyte_is_not_read_to_its_end():
    assert browser("x" * 1_000_000 + " Chrome/131.0") == f"audit {audit.__version__}; another browser"
    assert command("gold") == f"audit {audit.__version__}; gold"
