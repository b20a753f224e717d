"""The seven relations of the study of Chinese systems, each written once for its three tasks.

Source: Jin, Ding, Zhou, "Evaluation of Chinese natural language processing system based on metamorphic testing"
(Mathematics 10(8), 1276, 2022), sections 3.1 and 4. A relation of number N is MRN.1 of similarity, MRN.2 of
summarization and MRN.3 of classification. Section 4.2 prints the relation between summaries as sum(Ts) =
Replace(sum(Tf)), section 5.1 as Replace(sum(Ts)) = sum(Tf). Only the latter can hold where the new word is in the text
already; it is what is checked.

Words and their kinds are found by the parameter `tagger`. What a model of HanLP calls a person or a place is one.
jieba's tags come from a dictionary, so with it a name also has to stand as names do: it applies less often.
"""

import functools
import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, lru_cache, partial
from itertools import pairwise, takewhile
from typing import Any, Literal, NamedTuple

from audit.errors import NotInstalled
from audit.packs.chinese.reordering import exchangeable, is_ended
from audit.packs.chinese.taggers import (
    DEFAULT,
    DOTS,
    HAN,
    NEEDS,
    is_traditional,
    lexicon,
    opencc,
    pattern,
    places,
    simplified,
    surname,
    word_list,
)
from audit.packs.chinese.taggers import chinese as tokens_of
from audit.relations.base import Rewrite, Rewriting, Rewritten, Words, WordsCheck, unchanged
from audit.relations.expect import (
    TITLES,
    exchange_words,
    rearrange,
    replace_words,
    same_interval,
    same_label,
    same_text,
    substitute,
)
from audit.relations.registry import register
from audit.resources import data_rows, package_file
from audit.text import Analysis
from audit.text.tokens import Token, words

TASKS: Mapping[str, tuple[int, WordsCheck]] = {
    "similarity": (1, same_interval),
    "summarization": (2, same_text),
    "classification": (3, same_label),
}
"""Tasks of the study, their place in the relations' names, and the check that "consistent outputs" means there."""
_PROPERTY, _SYNONYMS, _REORDERING = "same-property substitution", "synonym substitution", "reordering"
_TAGGER = {"tagger": DEFAULT}


def chinese(
    number: int, family: str, tasks: Sequence[str] = tuple(TASKS), **settings: Any
) -> Callable[[Rewrite], Rewrite]:
    """Register the decorated rewriting for these tasks; the first line of its docstring is the summary."""

    def keep(rewrite: Rewrite) -> Rewrite:
        summary = (rewrite.__doc__ or "").strip().splitlines()[0]
        common: dict[str, Any] = {"family": family, "summary": summary, "unit": "any", "carry": unchanged, **settings}
        common |= {"languages": ("zh",), "counterpart": f"MR{number}"}
        for task in tasks:
            place, check = TASKS[task]
            register(Rewriting(task=task, name=f"MR{number}.{place}", rewrite=rewrite, check=check, **common))
        return rewrite

    return keep


def _neighbours(tokens: Sequence[Token], at: int) -> tuple[Token | None, Token | None]:
    """Return the tokens right before and right after one, without white space between."""
    before = tokens[at - 1] if at and tokens[at - 1].end == tokens[at].start else None
    after = tokens[at + 1] if at + 1 < len(tokens) and tokens[at + 1].start == tokens[at].end else None
    return before, after


def _after(tokens: Sequence[Token], at: int) -> str:
    return "".join(token.text for token in tokens[at + 1 : at + 4])


def _places_of(word: str, texts: Sequence[Analysis]) -> Iterator[tuple[Analysis, int]]:
    """Yield each text with the index of each token that is the word."""
    return ((text, at) for text in texts for at, token in enumerate(text.tokens) if token.text == word)


def _is_within_title(word: str, texts: Sequence[Analysis]) -> bool:
    return any(word in title for text in texts for title in TITLES.findall(text.text))


# Texts in traditional characters: taggers, lists and thesauri know simplified ones. OpenCC converts one character into
# one, so what is replaced in the simplified text stands at the same place in the traditional one; only the new word is
# converted, with the characters of Taiwan.


def in_simplified(rewrite: Callable[..., Rewritten | None]) -> Callable[..., Rewritten | None]:
    """Show the rewriting texts in simplified characters only; its follow-ups have those of the source.

    None where the words cannot be converted there and back without a doubt. Raises NotInstalled without OpenCC.

    >>> nouns([Analysis("他去醫院看了醫生。", "zh")], random.Random(0))
    Rewritten(texts=('他去醫院看了大夫。',), words=(('醫生', '大夫'),))
    """

    @functools.wraps(rewrite)
    def rewrite_any(texts: Sequence[Analysis], choices: random.Random, **params: Any) -> Rewritten | None:
        plain = [as_simplified(text) for text in texts]
        sides = list(zip(texts, plain, strict=True))
        if any(len(text.text) != len(other.text) for text, other in sides):
            return None
        rewritten = rewrite(plain, choices, **params)
        if rewritten is None or all(text is other for text, other in sides):
            return rewritten
        pairs = {
            text.text[slice(*match.span())]: new if text is other else opencc("s2tw").convert(new)
            for old, new in rewritten.words
            for text, other in sides
            for match in re.finditer(re.escape(old), other.text)
        }
        new_texts = tuple(replace_words(text.text, tuple(pairs.items())) for text in texts)
        if any(simplified(new) != simplified(wanted) for new, wanted in zip(new_texts, rewritten.texts, strict=True)):
            return None
        return Rewritten(new_texts, tuple(pairs.items()))

    return rewrite_any


def as_simplified(text: Analysis) -> Analysis:
    """Return the analysis itself, or that of the text in simplified characters."""
    return _simplified(text.text) if is_traditional(text.text) else text


@lru_cache(maxsize=64)  # all relations of a task ask about the same texts, one after the other
def _simplified(text: str) -> Analysis:
    return Analysis(simplified(text), "zh")


def _one_replaced(
    texts: Sequence[Analysis], candidates: Mapping[str, Sequence[str]], choices: random.Random
) -> Rewritten | None:
    """Return the follow-up in which one word has become one of those that may stand for it and that no text has yet."""
    order = list(candidates)
    choices.shuffle(order)
    for old in order:
        new = [word for word in candidates[old] if not any(word in text.text for text in texts)]
        if new and (rewritten := substitute(texts, {old: choices.choice(new)})):
            return rewritten
    return None


# MR1: a person's name, or a pronoun, is replaced by another (MRPpbs1 of section 3.1.1).

Gender = Literal["male", "female", "neutral"]
_PRONOUNS = {"他": "她", "她": "他", "他们": "她们", "她们": "他们"}


@cache
def _forms() -> re.Pattern[str]:
    """How news calls people by their family name; 小 and 老 stand before those that make no other word with it (小康,
    and 一个小胡, which is won at mahjong)."""
    usual, called = lexicon("people")["usual"], lexicon("patterns")["called"]
    return re.compile(f"([{usual}])(?:{called})|(?<![个只])[小老]([王李张刘陈杨赵吴徐孙朱胡郭梁郑宋])|姓([{usual}])")


@chinese(1, _PROPERTY, version="3", params=_TAGGER)
@in_simplified
def name(texts: Sequence[Analysis], choices: random.Random, tagger: str = DEFAULT) -> Rewritten | None:
    """A person's name, or a pronoun, is replaced by another wherever it stands; the output stays.

    A full name keeps its gender as far as pronouns and the name itself tell, and its family name where the texts also
    call somebody by it (王教授). Pronouns change in texts that name nobody, where nothing else says whether somebody is
    a man or a woman.

    >>> name([Analysis("记者练束梅报道。", "zh")], random.Random(1)).words
    (('练束梅', '陈晓芳'),)
    >>> name([Analysis("他的房子很大。", "zh")], random.Random(0)).texts
    ('她的房子很大。',)
    """
    tagged = [text.tagged_by(tagger) for text in texts]
    joined = "\n".join(text.text for text in texts)
    nicknames = word_list("people", "nicknames_male") | word_list("people", "nicknames_female")
    candidates: list[Callable[[Sequence[Analysis], str, random.Random], Words | None]] = [
        *(partial(_rename_person, person) for person in people(tagged, sure=tagger != DEFAULT)),
        *(partial(_rename_family, family) for family in _families_called_by(joined)),
        *(partial(_replace_nickname, old) for old in sorted(nicknames) if old in joined),
    ]
    if not candidates and any(pronoun in joined for pronoun in _PRONOUNS):
        candidates = [_exchange_pronouns]
    choices.shuffle(candidates)
    candidates_made = (replace(tagged, joined, choices) for replace in candidates)
    outside = (new for new in candidates_made if new and not any(_is_within_title(old, texts) for old, _ in new))
    return next(filter(None, (exchange_words(tagged, new) for new in outside)), None)


def people(texts: Sequence[Analysis], sure: bool = False) -> list[str]:
    """Return the people whom the texts name in full, by family and given name, in order of first mention.

    What a tagger that is not `sure` calls a name counts where all its places allow for one, and it stands once where
    names do or is of the usual signs. Foreign names (约翰·史密斯) count as none: which part is called alone is unknown.

    >>> people([Analysis("记者练束梅报道，张建国表示同意。", "zh")])
    ['练束梅', '张建国']
    """
    evidence: dict[str, list[int]] = {}
    for text in texts:
        for at, token in enumerate(text.tokens):
            if token.tag == "nr" and _may_be_name(token.text):
                evidence.setdefault(token.text, []).append(1 if sure else _evidence(text.tokens, at))
    return [
        name
        for name, signs in evidence.items()
        if min(signs) >= 0
        and (max(signs) or (len(name) > 2 and (len(signs) > 2 or _is_usual(name))))
        and not any(name != other and (name.startswith(other) or other.startswith(name)) for other in evidence)
    ]


def _may_be_name(name: str) -> bool:
    given_name = name[len(surname(name) or name) :]
    if not 1 <= len(given_name) <= 2 or name in places() or not HAN.fullmatch(name):
        return False
    titles = word_list("people", "titles") | word_list("people", "titles_after") | word_list("people", "kin")
    return (
        given_name not in titles
        and given_name[-1] not in lexicon("people")["no_given"]
        and given_name[0] not in "某姓老"
    )


def _is_usual(name: str) -> bool:
    """Return whether a name of three signs is one by its signs: 王虎鸣, not 马自达."""
    lists = lexicon("people")
    signs = lists["women"] + lists["men"] + lists["both"]
    return name[0] in lists["usual"] and name[0] not in "于向" and any(sign in signs for sign in name[1:])


def _evidence(tokens: Sequence[Token], at: int) -> int:
    """Return 1 where the place of a name asks for a person, 0 where it allows for one, else -1."""
    name, (before, after), lists = tokens[at].text, _neighbours(tokens, at), partial(word_list, "people")
    titled = before is not None and before.text.endswith(tuple(lists("titles")))
    if before and (
        before.tag in ("nr", "nx", "m")
        or before.text in "小老阿大"
        or before.text[-1] in DOTS + "-—_《“‘"
        or (not titled and before.tag[0] not in "pcdurvwn")
    ):
        return -1
    if after and (after.tag in ("nr", "nx") or after.text[0] in DOTS + "-—_》”’"):
        return -1
    if after is None or after.tag == "w":
        return int(titled or bool(re.match("[（(，,](?:化名|男|女)[，,、）)]", _after(tokens, at))))
    has_title, speaks = (
        after.text in lists("titles_after"),
        not lists("speech").isdisjoint({after.text, after.text[:2]}),
    )
    if len(after.text) == 1:
        allowed = after.text in lexicon("people")["after_two" if len(name) == 2 else "after"]
    else:
        allowed = has_title or speaks or (after.tag[0] in "vpcdurtmfl" and after.tag != "vn")
    if not (allowed or after.text in lists("kin")):
        return -1
    return int(titled or has_title or (speaks and len(name) > 2 and name[0] in lexicon("people")["usual"]))


def _rename_person(old: str, texts: Sequence[Analysis], joined: str, choices: random.Random) -> Words | None:
    """Return a full name with another; the given name alone likewise."""
    family = surname(old) or ""
    given_name, rest = old[len(family) :], joined.replace(old, "")
    tokens = [token for text in texts for token in text.tokens]
    keeps = family in _families_called_by(rest) or any(
        token.text != old and token.text[0] == family[0] and (token.tag == "nr" or token.text == family)
        for token in tokens
    )
    names = lexicon("people")[f"given_{_gender(old, given_name, joined)}"].split()
    given_names = [name for name in names if name not in joined]
    if not given_names:
        return None
    new_family = (
        family
        if keeps
        else choices.choice([family_name for family_name in lexicon("people")["common"] if family_name != family])
    )
    new_given = choices.choice(given_names)
    renamed = ((old, new_family + new_given),)
    if len(given_name) == 1 or given_name not in rest:
        return renamed
    alone = {token.tag for token in tokens if token.text == given_name}
    return (*renamed, (given_name, new_given)) if alone == {"nr"} else None


def _gender(name: str, given: str, joined: str) -> Gender:
    """Return the gender that a new name may suggest: one that agrees with everything the texts say."""
    if re.search(f"[女妻母姐妹妈奶姑][^，。、；：！？]{{0,4}}{name}|{name}(?:女士|小姐|[，,（(、]女)", joined):
        return "female"
    if re.search(f"[男夫父兄哥弟爸爷叔][^，。、；：！？]{{0,4}}{name}|{name}(?:先生|[，,（(、]男)", joined):
        return "male"
    he, she = "他" in joined.replace("其他", ""), "她" in joined
    stated: Gender = "neutral" if he == she else "male" if he else "female"
    woman, man = (any(sign in lexicon("people")[kind] for sign in given) for kind in ("women", "men"))
    if woman == man:
        return stated
    own: Gender = "female" if woman else "male"
    return own if stated in ("neutral", own) else "neutral"


def _families_called_by(joined: str) -> list[str]:
    """Return the family names that somebody is called by (王女士, 小王), in a fixed order."""
    return sorted({match[match.lastindex or 0] for match in _forms().finditer(joined)})


def _rename_family(family: str, texts: Sequence[Analysis], joined: str, choices: random.Random) -> Words | None:
    """Return a family name with another in all that somebody is called by; None where a full name has it, too."""
    forms = {match.group() for match in _forms().finditer(joined) if match[match.lastindex or 0] == family}
    names = [(text.text, token) for text in texts for token in text.tokens if token.tag == "nr"]
    in_place = re.search(f"[小老]{family}{lexicon('patterns')['place']}", joined)
    if in_place or any(
        token.text[0] == family and not text.startswith(tuple(forms), token.start) for text, token in names
    ):
        return None
    taken = {family, *(token.text[0] for _, token in names), *_families_called_by(joined)}
    familiar = any(form[0] in "小老" for form in forms)
    common = [other for other in lexicon("people")["common"] if other not in taken]
    new = [other for other in common if not familiar or _forms().fullmatch("小" + other)]
    chosen = choices.choice(new) if new else ""
    return tuple((form, form.replace(family, chosen, 1)) for form in sorted(forms)) if new else None


def _replace_nickname(old: str, texts: Sequence[Analysis], joined: str, choices: random.Random) -> Words | None:
    """Return 小明 with 小红, or 小刚 where the texts say that it is a boy; None where it may be no name: 一个小红点."""
    for text, at in _places_of(old, texts):
        before, after = _neighbours(text.tokens, at)
        if (before and before.text in "个只条点把些") or (after and after.tag[0] == "n"):
            return None
    same = "他" in joined or "她" in joined or bool(pattern("gendered").search(joined))
    kinds = [lexicon("people")[f"nicknames_{gender}"].split() for gender in ("male", "female")]
    free = [name for names in kinds if old in names or not same for name in names if name not in joined]
    return ((old, choices.choice(free)),) if free else None


def _exchange_pronouns(texts: Sequence[Analysis], joined: str, choices: random.Random) -> Words | None:
    """Return 他 with 她 or the other way; None where both stand, or the texts name or describe a man or a woman."""
    both = "他" in joined.replace("其他", "") and "她" in joined
    tokens = [token for text in texts for token in text.tokens]
    named = any(token.tag == "nr" and len(token.text) > 1 for token in tokens)
    if both or named or pattern("gendered").search(joined) or pattern("in_word").search(joined):
        return None
    pronouns = sorted({token.text for token in tokens} & set(_PRONOUNS))
    if pronouns == ["他们"]:
        return None  # whom a team, a firm or a crowd is; 她们 are women only
    return tuple((old, _PRONOUNS[old]) for old in pronouns) or None


# MR2: a country is replaced by another (MRPpbs2). The study draws any country from a list; here it is one of the same
# continent that a text can speak of in the same way. Names are CLDR's, by Babel, cities JioNLP's.


class Country(NamedTuple):
    """A country: its ISO 3166 code, short Chinese name, continent, and the letter that stands for it (美 in 美方)."""

    code: str
    name: str
    continent: str
    letter: str


_SHORT = {"AE": "阿联酋", "BA": "波黑"}
_CLOSED = words("v vd Vg vn d ad p c u m q r f t s w k y b l i x")
"""Tags of words that stand before a country's name and are no part of a longer one (法治中国 is one)."""


@cache
def countries() -> Mapping[str, Country]:
    """Return the members of the United Nations by their short Chinese name: that rule decides on every disputed one.
    Raises NotInstalled where Babel is absent.

    >>> countries()["法国"], "台湾" in countries()
    (Country(code='FR', name='法国', continent='Europe', letter='法'), False)
    """
    try:
        from babel import Locale
    except ImportError as problem:
        raise NotInstalled(NEEDS.format("Babel")) from problem
    names, lists = Locale("zh").territories, lexicon("countries")
    letters = dict(pair.split(":") for pair in lists["letters"].split())
    members = [
        Country(code, _SHORT.get(code) or names[code], continent, letters.get(code, ""))
        for continent in ("Asia", "Europe", "Americas", "Africa", "Oceania")
        for code in lists[continent].split()
    ]
    return {country.name: country for country in members}


@cache
def _cities() -> Mapping[str, frozenset[str]]:
    """Return the capital and large cities of countries; of China its provinces, too. Raises NotInstalled without
    JioNLP."""
    file = package_file("jionlp", "dictionary", "world_location.txt")
    if file is None:
        raise NotInstalled(NEEDS.format("JioNLP"))
    by_country: dict[str, frozenset[str]] = {"中国": word_list("countries", "provinces")}
    for line in file.read_text(encoding="utf-8").splitlines():
        country, *rest = line.split("\t")
        cities = {city for part in rest[1:] for city in part.split("/") if city != country}
        country = "沙特阿拉伯" if country == "沙特" else country
        by_country[country] = by_country.get(country, frozenset()) | cities
    return by_country


@cache
def national() -> frozenset[str]:
    """Return the words that news puts after a country's name without making a name of the two: 美国 + 政府, not 中国 +
    移动."""
    return frozenset(word for row in data_rows("lexicons/chinese_national.txt") for word in row[0].split())


@cache
def _abbreviations(letter: str) -> frozenset[str]:
    """Return the words that are made with the letter of a country: 美方, 访美, 中美."""
    if not letter:
        return frozenset()
    others = {country.letter for country in countries().values()} - {letter, ""}
    after = {letter + sign for sign in (*"方军媒企股商资籍裔系式产版剧债联境", "联储", "国防部", *others)}
    return frozenset(after | {sign + letter for sign in (*"访驻赴对抗亲反旅留援侨", *others)})


@chinese(2, _PROPERTY, version="3", params=_TAGGER)
@in_simplified
def country(texts: Sequence[Analysis], choices: random.Random, tagger: str = DEFAULT) -> Rewritten | None:
    """One country is replaced by another wherever it stands; the output stays.

    No group where the name is part of another one (中国移动, 美国纽约, a title), or the text also speaks of the country
    by its letter (美方, 中美), or, of China, as one's own (我国).
    """
    mentioned = [country for name, country in countries().items() if any(name in text.text for text in texts)]
    if not mentioned:
        return None
    tagged = [parted(text.tagged_by(tagger)) for text in texts]
    said = frozenset(token.text for text in tagged for token in text.tokens)
    sure = tagger != DEFAULT
    candidates = [
        candidate for candidate in mentioned if candidate.name in said and _stands_alone(candidate, tagged, said, sure)
    ]
    return _one_replaced(tagged, {old.name: _stand_ins(old, said) for old in candidates}, choices)


def parted(text: Analysis) -> Analysis:
    """Return the analysis in which a token of a country's name and what any country has (美国政府) is two."""
    new, tokens = Analysis(text.text, text.language, text.tagger), list[Token]()
    for token in text.tokens:
        sizes = range(len(token.text) - 1, 1, -1)
        size = next((n for n in sizes if token.text[:n] in countries() and token.text[n:] in national()), 0)
        at = token.start + size
        parts = [Token(token.text[:size], "ns", token.start, at), Token(token.text[size:], "n", at, token.end)]
        tokens += parts if size else [token]
    new.tokens = tuple(tokens)
    return new


def _stand_ins(country: Country, said: frozenset[str]) -> list[str]:
    """Return the names of well-known countries of the same continent that texts of these words do not name, with the
    offices and in the regions that they speak of."""
    only = [codes.split() for word, codes in lexicon("countries")["only"].items() if word in said]
    return [
        other.name
        for other in countries().values()
        if other.code in word_list("countries", "known")
        and other.continent == country.continent
        and other.name not in said
        and said.isdisjoint(_abbreviations(other.letter))
        and all(other.code in codes for codes in only)
    ]


@cache
def _of(country: Country) -> tuple[frozenset[str], frozenset[str]]:
    """Return the words by which a text speaks of a country otherwise, and words of a sentence in which no other can
    stand."""
    own, listed = _abbreviations(country.letter), partial(word_list, "countries")
    near = listed("borders") | _cities().get(country.name, frozenset())
    return (own | listed("own"), near | listed("of_china")) if country.code == "CN" else (own, near)


def _stands_alone(country: Country, texts: Sequence[Analysis], said: frozenset[str], sure: bool) -> bool:
    """Return whether the name stands for the country, and nothing else, wherever it stands in the texts."""
    own, near = _of(country)
    if not said.isdisjoint(own) or _is_within_title(country.name, texts):
        return False
    letters = (text.tokens[at] for text, at in _places_of(country.letter, texts))
    if any(letter.tag in ("j", "ns") or letter.text in "美英法德俄韩澳" for letter in letters):
        return False
    for text, at in _places_of(country.name, texts):
        token = text.tokens[at]
        sentence = next(text.text[start:end] for start, end in text.spans if start <= token.start < end)
        alone = token.tag == "ns" if sure else _is_free(text.tokens, at)
        if not alone or any(word in sentence for word in near):
            return False
    return True


def _is_free(tokens: Sequence[Token], at: int) -> bool:
    """Return whether the words around a country's name are no parts of a longer name: punctuation and words of grammar
    on either side, or nouns after it that any country has, and a person's name behind those (美国总统特朗普)."""
    before, after = _neighbours(tokens, at)
    if before and before.text not in countries():
        enclosed = after and (before.text + after.text in ("（）", "()") or (before.tag == "t" and after.text in "”》"))
        in_date = before.text[-1].isdigit() and tokens[at].text[0] == "日"  # 12日本人
        closed = before.text == "名" or (before.tag in _CLOSED and before.text not in "·-—_《新老大东西南北")
        if enclosed or in_date or not closed:
            return False
    for place, token in enumerate(tokens[at + 1 :], at + 1):
        first = place == at + 1
        if tokens[place - 1].end != token.start or token.text in countries():
            return True
        if token.tag == "w":
            return token.text[0] in "，。、；：！？”’）…,;!?" or not first
        if token.text in word_list("countries", "names_after"):
            return False
        if token.tag in ("v", "c"):
            return not first or len(token.text) > 1 or token.tag == "c"
        bodies = tuple(word_list("countries", "bodies"))
        if token.text in national() or (first and token.tag == "n" and not token.text.endswith(bodies)):
            continue
        if token.tag == "m":
            return first and _after(tokens, place)[:1] in "年月日名个家岁位"
        return token.tag in ("d", "p", "u", "ad", "r", "y") or (token.tag in ("nr", "f", "t") and not first)
    return True


# MR3: an occupation is replaced by another (MRPpbs3). The study takes any occupation of BiasFinder's list; here it is
# one of the same field, so that the sentence stays sensible.

_AFTER_JOBS = words("w u d ad p c k r nr t m s f y x v vd")


@cache
def occupations() -> Mapping[str, tuple[Sequence[str], Sequence[str]]]:
    """Return the occupations of data/lexicons/chinese_occupations.tsv by name: those that may stand for it, and what
    may stand right before it (n nouns, nr names)."""
    return {name: (new.split(), kinds.split()) for name, new, kinds in data_rows("lexicons/chinese_occupations.tsv", 3)}


@chinese(3, _PROPERTY, version="3", params=_TAGGER)
@in_simplified
def occupation(texts: Sequence[Analysis], choices: random.Random, tagger: str = DEFAULT) -> Rewritten | None:
    """One occupation is replaced by another wherever it stands; the output stays.

    No group where the word is part of a longer one (记者会, 货车司机, 王老师).
    """
    mentioned = [name for name in occupations() if any(name in text.text for text in texts)]
    tagged = [text.tagged_by(tagger) for text in texts] if mentioned else []
    occupations_there = {name: occupations()[name][0] for name in mentioned if _is_occupation(name, tagged)}
    return _one_replaced(tagged, occupations_there, choices) if occupations_there else None


def _is_occupation(job: str, texts: Sequence[Analysis]) -> bool:
    """Return whether the word is the occupation, and no part of another word, wherever it stands in the texts."""
    told = lexicon("occupations")["told"].get(job, "").split()
    if _is_within_title(job, texts) or any(word in text.text for text in texts for word in told):
        return False
    return all(_is_job(text.tokens, at) for text, at in _places_of(job, texts))


def _is_job(tokens: Sequence[Token], at: int) -> bool:
    (before, after), listed = _neighbours(tokens, at), partial(word_list, "occupations")
    if any(beside and (beside.text in occupations() or beside.text in "_-·") for beside in (before, after)):
        return False
    if before and before.text not in listed("describing"):
        if before.tag in ("nr", "n", "nt", "nz", "nx", "Ng", "j"):
            fits = ("nr" if before.tag == "nr" else "n") in occupations()[tokens[at].text][1]
        else:
            fits = before.tag in _CLOSED | {"a", "ns"} - {"vn", "Vg", "l", "i"}
        if not fits or before.text in listed("not_before"):
            return False
    if after is None:
        return True
    numbered = after.tag == "m" and re.search("[队局所]", _after(tokens, at)[1:6])  # 交警九大队
    return not numbered and after.text not in listed("not_after") and after.tag in _AFTER_JOBS


# MR4: a punctuation mark is replaced wherever it stands; the meaning stays (MRPpbs4).
#
# The study says "replace punctuation" and no more. Replaced here is what leaves correct Chinese that says the same:
# quotation marks “ ” ‘ ’ and 「 」 『 』; half-width marks between Chinese characters, by the full-width ones of GB/T
# 15834-2011; and ； between two clauses, by ，. Not replaced: 。 by ！ (another force), ， by 。 (sentences end
# elsewhere), 、 (一、二、 are ordinals), 《 》 (titles are no quotations), ——, …… and · (parts of words and names).

_QUOTES: Words = (("“", "「"), ("”", "」"), ("‘", "『"), ("’", "』"))


@chinese(4, _PROPERTY)
def marks(texts: Sequence[Analysis], choices: random.Random) -> Rewritten | None:
    """A punctuation mark becomes another one that says the same, wherever it stands.

    >>> marks([Analysis("他说：“走。”", "zh")], random.Random(1)).texts
    ('他说：「走。」',)
    """
    plain = [text.text for text in texts]
    possible = [
        pairs
        for pairs, unfit in _MARKS
        if any(old in text for text in plain for old, _ in pairs) and not any(map(unfit.search, plain))
    ]
    for pairs in choices.sample(possible, len(possible)):
        new_texts = tuple(replace_words(text, pairs) for text in plain)
        if all(Analysis(new, "zh").spans == text.spans for text, new in zip(texts, new_texts, strict=True)):
            return Rewritten(new_texts, pairs)
    return None


_WIDE = "\\n “”‘’…—\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6"


def _unfit(marks: str) -> str:
    """Return a pattern of texts in which one of the marks stands beside a sign that is not Chinese: in a number, an
    address, code or a smiley."""
    return f"(?<![{marks}{_WIDE}])(?<!\\A)[{marks}]|[{marks}](?![{marks}{_WIDE}]|\\Z)"


def _unpaired(outer: str, inner: str) -> str:
    """Return a pattern of texts in which a quotation lacks a mark, or holds another of its kind."""
    plain = f"[^{outer}{inner}]"
    kinds = [
        f"{inside[0]}(?:{plain}|{other[0]}{plain}*{other[1]})*{inside[1]}"
        for inside, other in ((outer, inner), (inner, outer))
    ]
    return rf"\A(?!(?:{plain}|{'|'.join(kinds)})*\Z)"


_MARKS: tuple[tuple[Words, re.Pattern[str]], ...] = tuple(
    (pairs, re.compile(unfit))
    for pairs, unfit in (
        (_QUOTES, "[「」『』]|" + _unpaired("“”", "‘’")),
        (tuple((new, old) for old, new in _QUOTES), "[“”‘’]|" + _unpaired("「」", "『』")),
        ((("(", "（"), (")", "）")), _unfit("()") + r"|\A(?!(?:[^()]|\([^()]*\))*\Z)"),
        (((":", "："),), _unfit(":")),
        # A ? behind no character is what is left of a sign that somebody could not read: ????
        ((("!", "！"), ("?", "？")), _unfit("!?") + r"|(?<![\u4e00-\u9fff])\?"),
        (((";", "；"),), _unfit(";")),
        ((("；", "，"),), r"(?<![^\W\d_])；|；(?![\u4e00-\u9fff])"),
    )
)
"""Marks with those that they become, and the texts in which they do not say the same."""


# MR5 and MR6: nouns and verbs become synonyms; the meaning stays (MRPsbs5 and 6 of section 3.1.2).
#
# The study takes the word with the highest score of at least 0.8, by chatopera's Synonyms. That is a cosine of word
# vectors, for which doctors and nurses are close; the default here is Cilin (Mei Jiaju et al., "Tongyici Cilin", 1983;
# extended by Harbin Institute of Technology), whose words of one class score 1 (Tian Jiule and Zhao Wei, Journal of
# Jilin University 28(6), 2010). A thesaurus knows words, not sentences: of those that Cilin scores 1, most do not fit
# where the other one stands (公司 and 商店), so data/lexicons/chinese_synonyms.tsv says which do, and where.

LEAST = 0.8
"""The score from which on words are synonyms in the study."""
THESAURI = ("cilin", "synonyms")


def chatopera_synonyms(word: str) -> frozenset[str]:
    """Return those of the ten nearest words of chatopera's Synonyms that score best, none below `LEAST`: for those who
    have the package and a licence for its word vectors, which it downloads. Raises NotInstalled."""
    try:
        import synonyms  # type: ignore[import-not-found]
    except Exception as problem:  # it raises whatever its download does
        raise NotInstalled(
            f"the thesaurus synonyms cannot be loaded ({problem}); run: pip install synonyms, and set "
            "SYNONYMS_DL_LICENSE, the licence of chatopera that its word vectors need"
        ) from problem
    near = {other: float(score) for other, score in zip(*synonyms.nearby(word, 11), strict=True) if other != word}
    return frozenset(other for other, score in near.items() if score == max(near.values()) >= LEAST)


class Pair(NamedTuple):
    """A synonym that may replace a word, and the contexts that allow it: name -> words, none where the name says
    all."""

    new: str
    contexts: Mapping[str, frozenset[str]]


@cache
def synonym_pairs() -> Mapping[tuple[str, str], tuple[Pair, ...]]:
    """Return (n or v, word) -> what it may become, by data/lexicons/chinese_synonyms.tsv, whose head explains the
    columns."""
    by_word: dict[tuple[str, str], tuple[Pair, ...]] = {}
    for row in data_rows("lexicons/chinese_synonyms.tsv", 4):
        kind, word, direction, new, conditions = [*row, ""][:5]
        parts = [condition.partition("=") for condition in conditions.split()]
        contexts = {name: frozenset(filter(None, values.split(","))) for name, _, values in parts}
        for old, other in [(word, new), (new, word)][: 2 if direction == "=" else 1]:
            by_word[kind, old] = (*by_word.get((kind, old), ()), Pair(other, contexts))
    return by_word


def _wrong_thesaurus(params: Mapping[str, object]) -> str | None:
    is_thesaurus = params["thesaurus"] in THESAURI
    return None if is_thesaurus else f"thesaurus is {params['thesaurus']!r}; allowed are {', '.join(THESAURI)}"


_with_thesaurus = partial(
    chinese, version="2", params={"thesaurus": "cilin", "tagger": DEFAULT}, check_params=_wrong_thesaurus
)


@_with_thesaurus(5, _SYNONYMS)
@in_simplified
def nouns(texts: Sequence[Analysis], choices: random.Random, **params: Any) -> Rewritten | None:
    """A noun is replaced by a synonym, wherever it stands; the output stays.

    >>> nouns([Analysis("他去看了医生。", "zh")], random.Random(0)).texts
    ('他去看了大夫。',)
    """
    return _with_synonym("n", texts, choices, **params)


@_with_thesaurus(6, _SYNONYMS)
@in_simplified
def verbs(texts: Sequence[Analysis], choices: random.Random, **params: Any) -> Rewritten | None:
    """A verb is replaced by a synonym, wherever it stands; the output stays."""
    return _with_synonym("v", texts, choices, **params)


def _with_synonym(
    kind: str, texts: Sequence[Analysis], choices: random.Random, thesaurus: str = "cilin", tagger: str = DEFAULT
) -> Rewritten | None:
    """Return the follow-up with one word of this kind replaced by a best synonym that fits at all of its places."""
    tagged = [text.tagged_by(tagger) for text in texts]
    candidates = _candidates(kind, tagged, thesaurus, tagger)
    for word in choices.sample(sorted(candidates), len(candidates)):
        if rewritten := substitute(tagged, {word: choices.choice(candidates[word])}):
            return rewritten
    return None


def _candidates(kind: str, texts: Sequence[Analysis], thesaurus: str, tagger: str) -> dict[str, list[str]]:
    """Return word -> synonyms that no text has yet and that fit wherever the word stands."""
    pairs, barred, spots = synonym_pairs(), set[str](), dict[str, list[tuple[Sequence[Token], int]]]()
    for text in texts:
        depth = 0
        for at, token in enumerate(text.tokens):
            depth = max(0, depth + (token.text in "“‘「『《〈【[") - (token.text in "”’」』》〉】]"))
            if (kind, token.text) in pairs:
                spots.setdefault(token.text, []).append((text.tokens, at))
                if depth or not _is_word(text.tokens, at, kind):
                    barred.add(token.text)
    by_word: dict[str, list[str]] = {}
    for word in spots.keys() - barred:
        best = None if thesaurus == "cilin" else chatopera_synonyms(word)  # all of the table score 1 in Cilin
        fitting = [
            pair.new
            for pair in pairs[kind, word]
            if (best is None or pair.new in best)
            and not any(pair.new in text.text for text in texts)
            and all(_fits(tokens, at, pair) and _stays(tokens, at, pair.new, tagger) for tokens, at in spots[word])
        ]
        by_word |= {word: fitting} if fitting else {}
    return by_word


def _is_word(tokens: Sequence[Token], at: int, kind: str) -> bool:
    """Return whether a word is of the kind, and no part of a compound, of a name or of a mixture with letters."""
    token, (before, after) = tokens[at], _neighbours(tokens, at)
    if not token.tag.startswith(kind) or token.tag in ("nr", "ns", "nt", "nz", "nx", "Ng"):
        return False
    if any(other and (other.tag in ("nt", "nz", "nx") or other.text in "·-•") for other in (before, after)):
        return False
    if kind == "n" and at + 1 < len(tokens) and tokens[at + 1].tag.startswith("n"):
        return False  # one compound with the noun after it
    if kind == "v" and not (before and before.tag[0] == "n"):
        return True
    # Names of bodies, houses and firms: 富豪 + 东方 + 酒店; of verbs what is called by what it does: 产业 + 促进 + 中心
    ends = tuple(word_list("names", "bodies") | (word_list("names", "houses") if kind == "n" else frozenset()))
    for last, follows in list(pairwise(tokens[at : at + (5 if kind == "n" else 2)])):
        if follows.tag[0] not in "nsfvab" or follows.start != last.end:
            break
        if follows.text.endswith(ends):
            return False
    return True


def _fits(tokens: Sequence[Token], at: int, pair: Pair) -> bool:
    """Return whether a token may become what the pair says, by what stands around it."""
    before, after, contexts = tokens[at - 1] if at else None, tokens[at + 1] if at + 1 < len(tokens) else None, pair[1]
    left, right = ("PUNCT" if token is None or token.tag in "wx" else token.text for token in (before, after))
    for word, side in ((left, "after"), (right, "before")):
        if word in contexts.get(f"not-{side}", ()) or word not in contexts.get(side, (word,)):
            return False
    if "alone" in contexts and before and before.tag.startswith("n"):
        return False
    if "verb" in contexts and not (after and after.tag.startswith("v")):
        return False
    if "object" in contexts:
        acted_on = tokens[at + 2] if after and after.text in "了过着" and at + 2 < len(tokens) else after
        if acted_on is None or acted_on.text in "了过着" or acted_on.tag[0] in "wupcydfx":
            return False
    around = "".join(token.text for token in _clause(tokens, at)[1])
    wanted, unwanted = contexts.get("with", ("",)), contexts.get("not-with", ())
    return any(word in around for word in wanted) and not any(word in around for word in unwanted)


def _clause(tokens: Sequence[Token], at: int) -> tuple[int, Sequence[Token]]:
    """Return where the clause around a token starts, and its tokens: at most 40 to each side, so that a text without
    marks stays fast."""
    start = at - sum(1 for _ in takewhile(lambda token: token.tag not in "wx", reversed(tokens[max(0, at - 40) : at])))
    end = at + 1 + sum(1 for _ in takewhile(lambda token: token.tag not in "wx", tokens[at + 1 : at + 40]))
    return start, tokens[start:end]


def _stays(tokens: Sequence[Token], at: int, new: str, tagger: str) -> bool:
    """Return whether the tagger still finds the same words around the new one, which it takes for one word."""
    start, around = _clause(tokens, at)
    expected = [new if start + place == at else token.text for place, token in enumerate(around)]
    gaps = [after.start - token.end for token, after in pairwise(around)]
    text = "".join(word + " " * gap for word, gap in zip(expected, [*gaps, 0], strict=True))
    return _words_of(text, tagger) == tuple(expected)


@lru_cache(maxsize=1024)  # a long text says the same more than once, and each candidate is asked for
def _words_of(text: str, tagger: str) -> tuple[str, ...]:
    return tuple(token.text for token in tokens_of(text, tagger))


# MR7: the order of two texts, or of a text's sentences, is changed (MRPr7 of section 3.1.3).


@chinese(7, _REORDERING, tasks=("similarity",))
def swapped(texts: Sequence[Analysis], choices: random.Random) -> Rewritten | None:
    """The two texts change places; the similarity stays."""
    return Rewritten(tuple(text.text for text in reversed(texts))) if len(texts) == 2 else None


@chinese(7, _REORDERING, tasks=("summarization", "classification"), version="6", params=_TAGGER | {"coherent": True})
def reordered(
    texts: Sequence[Analysis], choices: random.Random, *, tagger: str = DEFAULT, coherent: bool = True
) -> Rewritten | None:
    """A sentence changes places with the next one; the output stays.

    Nothing says that one of them comes first (`audit.packs.chinese.reordering`). Without `coherent`, the study's own
    form: all sentences but the first, which says what the text is about, are put in random order, and many a 但是 or 他
    then stands before what it refers to. What no mark ends (titles, credits) stays in both forms. A text of fewer than
    three sentences makes no group.

    >>> text = Analysis("天亮了。她起床。但是天又黑了。", "zh")
    >>> reordered([text], random.Random(0)), reordered([text], random.Random(0), coherent=False).texts
    (None, ('天亮了。但是天又黑了。她起床。',))
    """
    if len(texts) != 1 or len(texts[0].spans) < 3:
        return None
    text = texts[0]
    order = list(range(len(text.spans)))
    if coherent:
        plain = as_simplified(text)
        possible = exchangeable(plain.tagged_by(tagger)) if plain.spans == text.spans else []
        if possible:
            at = choices.choice(possible)
            order[at], order[at + 1] = at + 1, at
    else:
        moving = [index for index, (start, end) in enumerate(text.spans) if is_ended(text.text[start:end])][1:]
        while len(moving) > 1 and order == sorted(order):  # a shuffle may change nothing
            for place, index in zip(moving, choices.sample(moving, len(moving)), strict=True):
                order[place] = index
    return Rewritten((rearrange(text, order),)) if order != sorted(order) else None
