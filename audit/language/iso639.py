"""Codes of languages: ISO 639-1 where a language has one (`en`, `zh`), with a region or script behind a hyphen where it
matters (`pt-BR`, `zh-TW`), as in BCP 47."""

import re

from audit.language.wordsets import words

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
    found = _CODE.fullmatch(written.strip())
    if found is None:
        return None
    base = found[1].lower()
    return None if len(base) == 2 and base not in TWO_LETTERS else base + found[2].replace("_", "-")


_THREE_LETTERS = words(
    "afr:af amh:am ara:ar arb:ar asm:as aze:az azj:az bel:be ben:bn bod:bo bos:bs bre:br bul:bg cat:ca ces:cs "
    "cym:cy dan:da deu:de ell:el eng:en epo:eo est:et eus:eu ekk:et fao:fo fas:fa fij:fj fin:fi fra:fr fry:fy ful:ff "
    "gla:gd gle:ga glg:gl grn:gn guj:gu hat:ht hau:ha heb:he hin:hi hrv:hr hun:hu hye:hy ibo:ig ind:id isl:is ita:it "
    "jav:jv jpn:ja kan:kn kas:ks kat:ka kaz:kk khm:km kin:rw kir:ky kor:ko kur:ku kmr:ku lao:lo lat:la lav:lv lvs:lv "
    "lim:li lin:ln lit:lt ltz:lb lug:lg mal:ml mar:mr mkd:mk mlg:mg plt:mg mlt:mt mon:mn khk:mn mri:mi msa:ms zsm:ms "
    "mya:my nep:ne npi:ne nld:nl nno:nn nob:nb nor:no nya:ny oci:oc ori:or ory:or orm:om gaz:om pan:pa pes:fa pol:pl "
    "por:pt pus:ps pbt:ps que:qu ron:ro run:rn rus:ru sag:sg san:sa sin:si slk:sk slv:sl smo:sm sna:sn snd:sd som:so "
    "sot:st spa:es sqi:sq als:sq srd:sc srp:sr ssw:ss sun:su swa:sw swh:sw swe:sv tam:ta tat:tt tel:te tgk:tg tgl:tl "
    "tha:th tir:ti tsn:tn tso:ts tuk:tk tur:tr twi:tw uig:ug ukr:uk urd:ur uzb:uz uzn:uz vie:vi wol:wo xho:xh yid:yi "
    "ydd:yi yor:yo zho:zh cmn:zh zul:zu"
)
TWO_OF_THREE = dict(sorted(pair.split(":") for pair in _THREE_LETTERS))
"""Codes of ISO 639-3, as some models and tools have them, with the codes of ISO 639-1; for some languages several."""
