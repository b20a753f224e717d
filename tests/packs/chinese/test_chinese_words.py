"""Countries, occupations and people that the Chinese relations replace, and the script of a text."""

import pytest

from audit.packs.chinese.countries import countries, stand_ins
from audit.packs.chinese.people import COMMON, GIVEN, NICKNAMES, Person, surname


@pytest.mark.parametrize(
    ("name", "gender"), [("练束梅", "female"), ("张建国", "male"), ("陈香", "neutral"), ("王伟芳", "neutral")]
)
def test_what_a_given_name_says_of_the_gender(name, gender):
    assert Person(name[0], name[1:]).gender == gender


def test_the_lists_of_names_agree_with_what_names_say():
    for gender, given_names in GIVEN.items():
        assert len(set(given_names)) == len(given_names) >= 15
        for name in given_names:
            assert len(name) == 2
            assert Person("王", name).gender in (gender, "neutral")
    assert all(surname(name) == name for name in COMMON)
    assert not set(NICKNAMES["male"]) & set(NICKNAMES["female"])


def test_every_country_has_a_stand_in_of_its_continent():
    for country in countries().values():
        others = stand_ins(country, frozenset({country.name}))
        assert others
        assert country.name not in others
        assert {countries()[name].continent for name in others} == {country.continent}
