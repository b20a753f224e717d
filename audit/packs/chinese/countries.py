"""Countries in Chinese text: their names, which one may stand for another, and where a name is only a country's.

The names are CLDR's, by Babel, in the short form that news uses (美国), and the cities JioNLP's, both read at run time.
Which countries: members of the United Nations, no more. That rule decides on every disputed name: places that are no
member are neither replaced nor put into a text. Left out besides: names that are also something else (苏丹 a ruler,
多米尼克, 萨尔瓦多 and 撒贝宁 people, 黑山, 马里, 巴林, 蒙古, 乍得), and names with brackets in them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.util import find_spec
from pathlib import Path

from audit.errors import NotInstalled
from audit.resources import data_file
from audit.text.analysis import Analysis
from audit.text.tokens import Token, words

_CONTINENTS = {
    "Asia": "CN JP KR KP IN PK BD LK NP BT MV VN TH LA KH MM MY SG ID PH BN TL AF IR IQ SY JO LB IL SA YE OM AE QA KW "
    "TR KZ UZ KG TJ TM AZ AM GE CY",
    "Europe": "GB FR DE IT ES PT NL BE LU CH AT IE DK SE NO FI IS PL CZ SK HU RO BG GR RS HR SI BA AL MK EE LV LT"
    " BY UA MD MT RU",
    "Americas": "US CA MX BR AR CL PE CO VE EC BO PY UY CU PA CR NI HN GT JM HT GY SR TT BS BB",
    "Africa": "EG ZA NG KE ET TZ UG RW GH SN CI CM MA DZ TN LY AO MZ ZM ZW NA BW MG MU SO NE GA BF LR SL MR MW",
    "Oceania": "AU NZ FJ PG WS",
}
_SHORT = {"AE": "阿联酋", "BA": "波黑"}
_LONGER = {"沙特": "沙特阿拉伯"}
"""Short names of JioNLP that are longer in CLDR."""
_PROVINCES = frozenset(
    name + end
    for name in words(
        "河北 山西 辽宁 吉林 黑龙江 江苏 浙江 安徽 福建 江西 山东 河南 湖北 湖南 广东 海南 四川 贵州 云南 陕西 "
        "甘肃 青海"
    )
    for end in ("", "省")
) | words("内蒙古 广西 西藏 宁夏 新疆 香港 澳门 台湾 北京市 上海市 天津市 重庆市")
_COMMON = words(
    "JP KR IN VN TH MY ID PH TR GB FR DE IT ES PT NL BE CH AT DK SE NO FI PL GR RU US CA MX BR AR CL EG ZA "
    "NG KE MA DZ AU NZ"
)
"""Countries that everybody knows, with states and armies of the usual kind: only these come into a text."""
_LETTERS = {
    "CN": "中", "US": "美", "GB": "英", "FR": "法", "DE": "德", "IT": "意", "ES": "西", "RU": "俄", "JP": "日",
    "KR": "韩", "KP": "朝", "IN": "印", "PK": "巴", "CA": "加", "AU": "澳", "VN": "越", "TH": "泰", "PH": "菲",
    "IR": "伊", "IQ": "伊", "IL": "以", "UA": "乌", "SA": "沙", "BR": "巴", "MX": "墨", "TR": "土", "MY": "马",
    "SG": "新", "NZ": "新", "ID": "印", "SY": "叙", "PL": "波", "NL": "荷", "EG": "埃", "ZA": "南", "KH": "柬",
    "MM": "缅", "VE": "委", "NP": "尼", "KZ": "哈", "CU": "古", "PT": "葡", "CH": "瑞",
    "BE": "比", "AF": "阿", "AR": "阿",
}  # fmt: skip
_AFTER = "方军媒企股商资籍裔系式产版剧债联境"
_BEFORE = "访驻赴对抗亲反旅留援侨"
_OFFICES = {
    "总统": "US FR BR AR MX CL KR TR ID PH EG ZA NG KE PL PT FI RU AT",
    "总理": "DE IT FR IN CA AU NZ VN TH PL PT FI RU AT GR",
    "首相": "GB JP ES SE NO DK NL BE MY TH",
}
"""Heads of states and governments, and who has one called so in Chinese."""


_REGIONS = {
    "东南亚": "VN TH MY ID PH SG",
    "东盟": "VN TH MY ID PH SG",
    "北欧": "DK SE NO FI",
    "欧盟": "FR DE IT ES PT NL BE AT DK SE FI PL GR",
    "南美": "BR AR CL",
    "南美洲": "BR AR CL",
    "北美": "US CA MX",
    "西方": "GB FR DE IT ES PT NL BE CH AT DK SE NO FI US CA AU NZ",
}


@dataclass(frozen=True, slots=True)
class Country:
    """A country: its ISO 3166 code, short Chinese name, continent, and the letter that stands for it (美 in 美方)."""

    code: str
    name: str
    continent: str
    letter: str


@cache
def countries() -> Mapping[str, Country]:
    """Countries by their short Chinese name. Raises NotInstalled where Babel is absent.

    >>> countries()["法国"]
    Country(code='FR', name='法国', continent='Europe', letter='法')
    >>> "台湾" in countries(), "苏丹" in countries()
    (False, False)
    """
    try:
        from babel import Locale
    except ImportError as problem:
        raise NotInstalled('countries need Babel; run: pip install "audit[chinese]"') from problem
    names = Locale("zh").territories
    members = [
        Country(code, _SHORT.get(code) or names[code], continent, _LETTERS.get(code, ""))
        for continent, codes in _CONTINENTS.items()
        for code in codes.split()
    ]
    return {country.name: country for country in members}


def stand_ins(country: Country, text_words: frozenset[str]) -> list[str]:
    """Names of countries that may stand for this one in a text of these words, in a fixed order.

    They are well-known ones of the same continent, so that Europe's stay Europe's, which the text does not name, and
    have the offices and lie in the regions that it speaks of.

    >>> stand_ins(countries()["美国"], frozenset({"美国", "总统"}))
    ['墨西哥', '巴西', '阿根廷', '智利']
    """
    candidates = [
        candidate
        for candidate in countries().values()
        if candidate.code in _COMMON
        and candidate.continent == country.continent
        and not _is_mentioned(candidate, text_words)
    ]
    for word, codes in (_OFFICES | _REGIONS).items():
        if word in text_words:
            candidates = [candidate for candidate in candidates if candidate.code in codes]
    return [candidate.name for candidate in candidates]


def _is_mentioned(country: Country, text_words: frozenset[str]) -> bool:
    return country.name in text_words or is_abbreviated(country, text_words)


def is_abbreviated(country: Country, text_words: frozenset[str]) -> bool:
    """Whether words of a text are made with the letter that stands for the country.

    >>> [is_abbreviated(countries()["美国"], frozenset({word})) for word in ("美方", "美元")]
    [True, False]
    """
    return not text_words.isdisjoint(_abbreviations(country.letter))


@cache
def letters() -> frozenset[str]:
    """The letters that stand for countries.

    >>> {"中", "美"} <= letters()
    True
    """
    return frozenset(_LETTERS.values())


@cache
def _abbreviations(letter: str) -> frozenset[str]:
    if not letter:
        return frozenset()
    others = letters() - {letter}
    return frozenset(
        {letter + after for after in (*_AFTER, "联储", "国防部")}
        | {before + letter for before in _BEFORE}
        | {letter + other for other in others}
        | {other + letter for other in others}
    )


@cache
def cities() -> Mapping[str, frozenset[str]]:
    """The capital and large cities of countries, by the country's short name; China's provinces among its.

    Raises NotInstalled where JioNLP is absent.

    >>> "巴黎" in cities()["法国"], "广东" in cities()["中国"]
    (True, True)
    """
    package = find_spec("jionlp")
    if package is None or package.origin is None:
        raise NotInstalled('cities of countries need JioNLP; run: pip install "audit[chinese]"')
    # read from its file: importing JioNLP prints lines of its own
    lines = (Path(package.origin).parent / "dictionary" / "world_location.txt").read_text(encoding="utf-8").splitlines()
    by_country: dict[str, frozenset[str]] = {}
    for line in lines:
        name, *rest = line.split("\t")
        city_names = [city for part in rest[1:] for city in part.split("/") if city != name]
        by_country[_LONGER.get(name, name)] = frozenset(city_names + [city + "市" for city in city_names])
    return {**by_country, "中国": by_country["中国"] | _PROVINCES}


@cache
def national() -> frozenset[str]:
    """Words that news puts after a country's name without making a name of the two: 美国 + 政府, not 中国 + 移动.

    Read from `data/lexicons/chinese_national.txt`, which we wrote.
    """
    lines = data_file("lexicons/chinese_national.txt").read_text(encoding="utf-8").splitlines()
    return frozenset(word for line in lines if not line.startswith("#") for word in line.split())


class Parted(Analysis):
    """An analysis in which a token of a country's name and what any country has (美国政府) is two."""

    def __init__(self, text: str, tokens: Sequence[Token]):
        super().__init__(text, "zh")
        self._tokens = tokens

    @cached_property
    def tokens(self) -> tuple[Token, ...]:
        return tuple(part for token in self._tokens for part in _parts(token))


def _parts(token: Token) -> tuple[Token, ...]:
    for size in range(len(token.text) - 1, 1, -1):
        name, rest = token.text[:size], token.text[size:]
        if name in countries() and rest in national():
            at = token.start + size
            return Token(name, "ns", token.start, at), Token(rest, "n", at, token.end)
    return (token,)
