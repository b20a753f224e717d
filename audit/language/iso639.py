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
