import pytest

from audit.text import languages


def test_codes_of_three_letters_are_those_of_the_unicode_cldr():
    babel = pytest.importorskip("babel.core", reason="pip install babel")
    aliases = babel.get_global("language_aliases")
    assert len(languages.TWO_OF_THREE) > 200
    ours = {
        three: two for three, two in languages.TWO_OF_THREE.items() if three not in ("hbs", "zlm", "tgl", "twi", "pbt")
    }
    assert {three: aliases.get(three) for three in ours} == ours


def test_every_code_of_two_letters_is_in_the_list_of_them():
    assert set(languages.TWO_OF_THREE.values()) <= languages.TWO_LETTERS
