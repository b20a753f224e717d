import pytest

from audit.language import iso639


def test_codes_of_three_letters_are_those_of_the_unicode_cldr():
    babel = pytest.importorskip("babel.core", reason="pip install babel")
    aliases = babel.get_global("language_aliases")
    assert len(iso639.TWO_OF_THREE) > 200
    ours = {
        three: two for three, two in iso639.TWO_OF_THREE.items() if three not in ("hbs", "zlm", "tgl", "twi", "pbt")
    }
    assert {three: aliases.get(three) for three in ours} == ours


def test_every_code_of_two_letters_is_in_the_list_of_them():
    assert set(iso639.TWO_OF_THREE.values()) <= iso639.TWO_LETTERS


@pytest.mark.parametrize(
    ("written", "code"),
    [(" zh ", "zh"), ("ZH_tw", "zh-tw"), ("ast", "ast"), ("jp", None), ("english", None), ("e", None), ("", None)],
)
def test_how_codes_are_spelled(written, code):
    found = iso639.language_code(written)
    assert (found and found.lower()) == code
    assert found is None or iso639.SPELLED.fullmatch(found)
