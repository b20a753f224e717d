"""Countries, occupations and people that the Chinese relations replace, and the script of a text."""

import pytest

from audit.packs.chinese import countries as of_countries
from audit.packs.chinese.countries import Parted, cities, countries, is_abbreviated, national, stand_ins
from audit.packs.chinese.people import COMMON, GIVEN, NICKNAMES, Person, people, surname
from audit.packs.chinese.taggers import is_traditional
from audit.text import Analysis
from audit.text.tokens import Token


def _names(*texts: str) -> list[str]:
    return [person.name for person in people([Analysis(text, "zh") for text in texts])]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("记者李强报道。", ["李强"]),
        ("王建国表示，没有问题。", ["王建国"]),
        ("张晓燕（女，35岁）来了。", ["张晓燕"]),
        ("歌手邓丽君和律师王强都来了。", ["邓丽君", "王强"]),
        ("张晓燕来了。", ["张晓燕"]),  # a usual name
        ("练束梅来了。练束梅走了。练束梅又来了。", ["练束梅"]),  # said often
        ("李强来了。", []),  # once, and nothing asks for a name
        ("高盛表示，市场会上涨。", []),  # firms
        ("麦考林表示，市场会上涨。", []),
        ("邱志承认为市场会上涨。", []),  # 邱志承 + 认为: cut
        ("经济学家邓浩志在北京。", []),
        ("记者何俊有三个孩子。", []),
        ("经理马云亦提出看法。", []),
        ("记者找到郭增喜的家属，郭增喜酒后开车。", []),  # one of its places is cut
        ("分析师吉恩・蒙斯特表示同意。", []),  # half a foreign name, with the dot of Japanese
        ("“罗胜号”的罗胜号说，罗胜号好，“罗胜号”大。", []),
        ("吴大爷说，没有问题。", []),  # a family name and a title
        ("该团团长赵劲松告诉记者，没有问题。", ["赵劲松"]),  # the tagger takes it for words
        ("李强公司成立了，李强表示高兴。", []),  # one of its places is a firm's
        ("江西昌荣律师事务所成立。", []),
        ("记者埃因霍温报道。", []),
        ("", []),
    ],
)
def test_who_is_surely_named(text, names):
    assert _names(text) == names


def test_texts_of_a_pair_are_read_together():
    assert _names("张晓燕来了。", "记者张晓燕报道。") == ["张晓燕"]
    assert _names("张晓燕公司成立。", "记者张晓燕报道。") == []


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


def test_letters_and_cities():
    all_countries = countries()
    for word, name in [("美方", "美国"), ("中美", "中国"), ("访华", "法国"), ("驻英", "英国"), ("美联储", "美国")]:
        assert is_abbreviated(all_countries[name], frozenset({word})) == (word != "访华")
    assert "东京" in cities()["日本"]
    assert not cities()["中国"] & {"日本", "东京"}


def test_what_any_country_has_is_cut_off():
    text = "美国政府和中国移动"
    tokens = (Token("美国政府", "nt", 0, 4), Token("和", "c", 4, 5), Token("中国移动", "nt", 5, 9))
    parted = Parted(text, tokens).tokens
    assert [token.text for token in parted] == ["美国", "政府", "和", "中国移动"]
    assert all(text[token.start : token.end] == token.text for token in parted)
    assert not national() & {"移动", "电信", "平安", "女王", "天皇"}
    assert of_countries.letters() >= {"中", "美", "法"}


@pytest.mark.parametrize(
    ("text", "traditional"),
    [("", False), ("乾隆皇帝的瓷器卖了很多钱，很多人都想买。", False), ("總統發表談話", True), ("Hello, 😀", False)],
)
def test_the_script_of_a_text(text, traditional):
    pytest.importorskip("opencc")
    assert is_traditional(text) is traditional
