"""MR1 of the study of Chinese systems: a person's name, or a pronoun, is replaced by another.

Source: Jin, Ding, Zhou 2022 (audit/relations/chinese.py), MRPpbs1 of section 3.1.1; its examples replace 小明 by 小红
and 练束梅 by 白露. One person is replaced wherever the texts name them, whichever way; everybody else stays.
"""

import random
import re
from collections.abc import Callable, Sequence
from functools import partial

from audit.language import Analysis
from audit.language.chinese import DEFAULT
from audit.language.chinese_characters import is_traditional
from audit.language.chinese_people import COMMON, GIVEN, NICKNAMES, Gender, Person, people
from audit.relations.base import Rewritten, Words
from audit.relations.chinese import chinese
from audit.relations.substituting import TITLES, exchanged

_FAMILIES = (
    "".join(COMMON) + "沈韩程吕丁苏卢姜崔钟谭陆汪范金石廖贾夏韦付方白邹孟熊秦邱江尹薛闫段雷侯龙史陶黎贺顾毛郝龚邵"
    "万钱严覃武戴莫孔向汤马林罗高黄叶董余杜田于"
)
_FORMS = re.compile(
    f"([{_FAMILIES}])(?:先生|女士|小姐|阿姨|大爷|大妈|大叔|大姐|大哥|师傅|太太|奶奶|爷爷|老师|同学|老太|老汉|"
    f"某某|某|姓|总|"
    "局长|主任|书记|所长|医生|教授|律师|警官|院长|校长|经理|老板|法官|队长|部长|大夫|博士)"
    f"|[小老]([王李张刘陈杨赵吴徐孙朱胡郭梁郑宋])|姓([{_FAMILIES}])"
)
"""How news calls people by their family name; 小 and 老 stand before those that make no other word with it (小康)."""
_PRONOUNS = {"他": "她", "她": "他", "他们": "她们", "她们": "他们"}
_GENDERED = re.compile(
    "[男女父母爸妈爹娘哥姐弟妹爷奶叔姨舅姑嫂婶夫妻帅妇婚孕僧尼兄郎媳婿孙]|汉子|老汉|大汉|先生|小姐|太太|儿子|"
    "小伙|王子|公主|国王|"
    "皇|球员|球星|前锋|门将|佳人|联赛|战队|俱乐部|老公|老婆|老头|球队|将军"
)
"""What says, or all but says, whether somebody is a man or a woman."""


@chinese(1, family="same-property substitution", params={"tagger": DEFAULT})
def name(texts: Sequence[Analysis], choices: random.Random, tagger: str = DEFAULT) -> Rewritten | None:
    """A person's name, or a pronoun, is replaced by another wherever it stands; the output stays.

    A full name keeps its gender as far as pronouns and the name itself tell, and its family name where the texts also
    call somebody by it (王教授). Pronouns change in texts that name nobody, where nothing else says whether somebody is
    a man or a woman. Texts in traditional characters make no group.

    >>> name([Analysis("记者练束梅报道。", "zh")], random.Random(1)).words
    (('练束梅', '陈晓芳'),)
    >>> name([Analysis("他的房子很大。", "zh")], random.Random(0)).texts
    ('她的房子很大。',)
    """
    tagged = [text.tagged_by(tagger) for text in texts]
    joined = "\n".join(text.text for text in texts)
    able: list[Callable[[Sequence[Analysis], str, random.Random], Words | None]]
    able = [partial(_renamed, person) for person in people(tagged)]
    able += [partial(_called, family) for family in _called_families(joined)]
    able += [partial(_nicknamed, old) for gender in NICKNAMES for old in NICKNAMES[gender] if old in joined]
    if not able and any(pronoun in joined for pronoun in _PRONOUNS):
        able = [_pronouns]
    if not able or is_traditional(joined):
        return None
    choices.shuffle(able)
    for way in able:
        words = way(tagged, joined, choices)
        if words and not any(old in title for title in TITLES.findall(joined) for old, _ in words):
            made = exchanged(tagged, words)
            if made:
                return made
    return None


def _renamed(person: Person, texts: Sequence[Analysis], joined: str, choices: random.Random) -> Words | None:
    """A full name by another; the given name alone likewise."""
    rest = joined.replace(person.name, "")
    keeps = any(
        token.text[0] == person.family[0] and token.tag == "nr" and token.text != person.name
        for text in texts
        for token in text.tokens
    ) or any(person.family in found for found in _called_families(rest))
    given = [one for one in GIVEN[_gender(person, joined)] if one not in joined]
    families = [one for one in COMMON if one != person.family]
    if not given:
        return None
    new = Person(person.family if keeps else choices.choice(families), choices.choice(given))
    words = ((person.name, new.name),)
    if len(person.given) == 1 or person.given not in rest:
        return words
    alone = [token for text in texts for token in text.tokens if token.text == person.given]
    return (*words, (person.given, new.given)) if alone and all(one.tag == "nr" for one in alone) else None


def _gender(person: Person, joined: str) -> Gender:
    """What a person's new name may say of their gender: what all that the texts say agrees with."""
    name = re.escape(person.name)
    if re.search(f"[女妻母姐妹妈奶姑][^，。、；：！？]{{0,4}}{name}|{name}(?:女士|小姐|[，,（(、]女)", joined):
        return "female"
    if re.search(f"[男夫父兄哥弟爸爷叔][^，。、；：！？]{{0,4}}{name}|{name}(?:先生|[，,（(、]男)", joined):
        return "male"
    he, she = "他" in joined.replace("其他", ""), "她" in joined
    told: Gender = "neutral" if he == she else "male" if he else "female"
    if person.gender == "neutral":
        return told
    return person.gender if told in ("neutral", person.gender) else "neutral"


def _called_families(joined: str) -> list[str]:
    """Family names that somebody is called by (王女士, 小王), in a fixed order."""
    return sorted({found[found.lastindex or 0] for found in _FORMS.finditer(joined)})


def _called(family: str, texts: Sequence[Analysis], joined: str, choices: random.Random) -> Words | None:
    """A family name by another in all that somebody is called by; None where a full name has it, too."""
    forms = {found.group() for found in _FORMS.finditer(joined) if found[found.lastindex or 0] == family}
    if re.search(rf"[小老]{family}(?:[村镇乡庄庙桥路街集河沟店湾屯港山]|派出所|小学|中学)", joined):
        return None  # a place
    for text in texts:
        for token in text.tokens:
            if token.tag == "nr" and token.text[0] == family and not text.text.startswith(tuple(forms), token.start):
                return None
    taken = {token.text[0] for text in texts for token in text.tokens if token.tag == "nr"}
    familiar = any(form[0] in "小老" for form in forms)
    new = [one for one in COMMON if one not in taken and (not familiar or _FORMS.fullmatch("小" + one))]
    new = [one for one in new if one not in _called_families(joined) and one != family]
    if not new:
        return None
    chosen = choices.choice(new)
    return tuple((form, form.replace(family, chosen, 1)) for form in sorted(forms))


def _nicknamed(old: str, texts: Sequence[Analysis], joined: str, choices: random.Random) -> Words | None:
    """小明 by 小红; by 小刚 where the texts say that it is a boy."""
    same = "他" in joined or "她" in joined or bool(_GENDERED.search(joined))
    able = [one for known in NICKNAMES.values() if old in known or not same for one in known if one not in joined]
    return ((old, choices.choice(able)),) if able else None


def _pronouns(texts: Sequence[Analysis], joined: str, choices: random.Random) -> Words | None:
    """他 by 她 or the other way; None where both stand, or the texts name or describe a man or a woman."""
    if ("他" in joined.replace("其他", "") and "她" in joined) or _GENDERED.search(joined):
        return None
    tokens = [token for text in texts for token in text.tokens]
    if any(token.tag == "nr" and len(token.text) > 1 for token in tokens):
        return None
    there = sorted({token.text for token in tokens} & set(_PRONOUNS))
    if there == ["他们"]:
        return None  # whom a team, a firm or a crowd is; 她们 are women only
    return tuple((old, _PRONOUNS[old]) for old in there) or None
