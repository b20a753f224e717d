"""Codes of languages: ISO 639-1 where a language has one (`en`, `zh`), with a region or script behind a hyphen where it
matters (`pt-BR`, `zh-TW`), as in BCP 47."""

import re
from collections.abc import Iterator
from functools import cache

from audit.errors import AuditError
from audit.text.tokens import words

SPELLED = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9]{2,8})*")
"""How we write the code of a language: en, zh, pt-BR."""
_CODE = re.compile(r"([A-Za-z]{2,3})((?:[-_][A-Za-z0-9]{2,8})*)")
TWO_LETTERS = words(
    "aa ab ae af ak am an ar as av ay az ba be bg bh bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de dv dz ee el en "
    "eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ie ig ii ik io is it iu ja jv "
    "ka kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu lv mg mh mi mk ml mn mr ms mt my na nb nd ne "
    "ng nl nn no nr nv ny oc oj om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg sh si sk sl sm sn so sq sr ss "
    "st su sv sw ta te tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu"
)
"""The two-letter codes of ISO 639-1, with `bh` and `sh`, which are deprecated and still met."""


def language_code(written: str) -> str | None:
    """The code of a language as we spell it, or None for what is none.

    Codes of three letters are taken as they are: there are thousands.

    >>> language_code("EN"), language_code("pt_BR"), language_code("jp"), language_code("English")
    ('en', 'pt-BR', None, None)
    """
    match = _CODE.fullmatch(written.strip())
    if match is None:
        return None
    base = match[1].lower()
    return None if len(base) == 2 and base not in TWO_LETTERS else base + match[2].replace("_", "-")


def is_code(code: str) -> bool:
    """Whether this is the code of a language, spelled as we do.

    >>> is_code("pt-BR"), is_code("ES"), is_code("jp")
    (True, False, False)
    """
    return language_code(code) == code


TWO_OF_THREE = dict(
    pair.split(":")
    for pair in words(
        "aar:aa abk:ab adp:dz afr:af aka:ak alb:sq als:sq amh:am ara:ar arb:ar arg:an arm:hy asm:as ava:av ave:ae "
        "aym:ay ayr:ay aze:az azj:az bak:ba bam:bm baq:eu bel:be ben:bn bis:bi bod:bo bos:bs bre:br bul:bg bur:my "
        "cat:ca ces:cs cha:ch che:ce chi:zh chu:cu chv:cv cmn:zh cor:kw cos:co cre:cr cym:cy cze:cs dan:da deu:de "
        "div:dv dut:nl dzo:dz ekk:et ell:el eng:en epo:eo est:et eus:eu ewe:ee fao:fo fas:fa fij:fj fin:fi fra:fr "
        "fre:fr fry:fy ful:ff gaz:om geo:ka ger:de gla:gd gle:ga glg:gl glv:gv gre:el grn:gn guj:gu hat:ht hau:ha "
        "hbs:sh heb:he her:hz hin:hi hmo:ho hrv:hr hun:hu hye:hy ibo:ig ice:is ido:io iii:ii iku:iu ile:ie ina:ia "
        "ind:id ipk:ik isl:is ita:it jav:jv jpn:ja kal:kl kan:kn kas:ks kat:ka kau:kr kaz:kk khk:mn khm:km kik:ki "
        "kin:rw kir:ky kmr:ku kom:kv kon:kg kor:ko kpv:kv kua:kj kur:ku lao:lo lat:la lav:lv lim:li lin:ln lit:lt "
        "ltz:lb lub:lu lug:lg lvs:lv mac:mk mah:mh mal:ml mao:mi mar:mr may:ms mkd:mk mlg:mg mlt:mt mol:ro mon:mn "
        "mri:mi msa:ms mya:my nau:na nav:nv nbl:nr nde:nd ndo:ng nep:ne nld:nl nno:nn nob:nb nor:no npi:ne nya:ny "
        "oci:oc oji:oj ori:or orm:om ory:or oss:os pan:pa pbt:ps per:fa pes:fa pli:pi plt:mg pol:pl por:pt pus:ps "
        "que:qu roh:rm ron:ro rum:ro run:rn rus:ru sag:sg san:sa sin:si slk:sk slo:sk slv:sl sme:se smo:sm sna:sn "
        "snd:sd som:so sot:st spa:es sqi:sq srd:sc srp:sr ssw:ss sun:su swa:sw swe:sv swh:sw tah:ty tam:ta tat:tt "
        "tel:te tgk:tg tgl:tl tha:th tib:bo tir:ti ton:to tsn:tn tso:ts tuk:tk tur:tr twi:tw uig:ug ukr:uk urd:ur "
        "uzb:uz uzn:uz ven:ve vie:vi vol:vo wel:cy wln:wa wol:wo xho:xh ydd:yi yid:yi yor:yo zha:za zho:zh zlm:ms "
        "zsm:ms zul:zu"
    )
)
"""ISO 639-3 and 639-2 to 639-1, as the Unicode CLDR has it ("language aliases"); and Serbo-Croatian, Malay, Tagalog,
Southern Pashto, and Twi as ISO has it (the CLDR counts it as Akan, `ak`)."""


def two_letters(code: str) -> str:
    """The code of a language in ISO 639-1 where it has one there, else as it was; a region or script is dropped.

    >>> two_letters("eng"), two_letters("ca"), two_letters("pt-BR"), two_letters("ast")
    ('en', 'ca', 'pt', 'ast')
    """
    language = re.split(r"[-_]", code.strip().lower(), maxsplit=1)[0]
    return TWO_OF_THREE.get(language, language)


# Names of languages in another language, from the library babel (CLDR) where it is installed.


@cache
def display_name(code: str, language: str) -> str | None:
    """The name of the language `code` (BCP 47) in `language`, an ISO 639-1 code; None where babel is not installed or
    knows no such code.

    >>> display_name("no language", "en") is None
    True
    """
    try:
        from babel import Locale
        from babel.core import UnknownLocaleError
    except ImportError:
        return None
    try:
        name: str | None = Locale.parse(code, sep="-").get_display_name(language)
        return name
    except (UnknownLocaleError, ValueError):
        return None


# Lists of tools for several languages, as in `en=spacy,zh=hanlp:MODEL`.


def entries(spec: str, kind: str) -> Iterator[tuple[str, str]]:
    """The entries of a list: the language that one is kept to, or an empty string for any, and the name of the tool.

    Raises AuditError for an entry without a tool; `kind` says in its message what is missing.

    >>> list(entries("en=ngram, fill-mask:models/a=b", "proposer"))
    [('en', 'ngram'), ('', 'fill-mask:models/a=b')]
    """
    for entry in spec.split(","):
        language, equals, name = entry.strip().partition("=")
        if not equals or ":" in language or "/" in language:
            language, name = "", entry.strip()
        if not name:
            raise AuditError(f"{spec!r} has an entry without a {kind}; write them as NAME,NAME or en=NAME,es=NAME")
        yield language, name
