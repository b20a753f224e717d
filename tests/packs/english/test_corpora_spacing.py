"""Spacing comes back, and nothing else changes."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.packs.english.corpora import _movie_reviews, mend, restore_spacing


@pytest.mark.parametrize(
    ("tokenised", "wanted"),
    [
        ("listless , witless .", "listless, witless."),
        ("i do n't think it 's good", "i don't think it's good"),
        ("( wendigo is ) why we go to the cinema : to see", "(wendigo is) why we go to the cinema: to see"),
        ("[schweiger is] talented . . . and more", "[schweiger is] talented... and more"),
        (". . . a roller-coaster ride !", "... a roller-coaster ride!"),
        ("did what ? ! ? ) , or", "did what?!?), or"),
        ('" catch me " feels " right , " he said .', '"catch me" feels "right," he said.'),
        ('one of " grease " \'s most unjust', 'one of "grease"\'s most unjust'),
        ("seeing 'analyze that , ' i feel", "seeing 'analyze that,' i feel"),
        ("`hey arnold ! ' has gags", "'hey arnold!' has gags"),
        ("hard- boiled and less- than-likely", "hard-boiled and less-than-likely"),
        ("heidegger- and nietzsche-referencing", "heidegger- and nietzsche-referencing"),
        ("character- and- relationship study", "character-and-relationship study"),
        ("animated films- hence why", "animated films - hence why"),
        ("all-too -inevitable remake", "all-too-inevitable remake"),
        ("it's a taunt -a call for justice", "it's a taunt - a call for justice"),
        ("a high +2 on the -4 to +4 scale .", "a high +2 on the -4 to +4 scale."),
        ("beer -- and more", "beer -- and more"),
        ("a $4 . 25 ticket , 8 / 10 , 1 . 85 : 1", "a $4.25 ticket, 8/10, 1.85:1"),
        ("$200 , 000 , 000 in 1995 , 101 dalmatians", "$200,000,000 in 1995, 101 dalmatians"),
        ("the u . s . and e . t . by j . lawton", "the u.s. and e.t. by j. lawton"),
        ("i laughed : )", "i laughed :)"),
        ("a * very * stale summer , * * * out of four", "a *very* stale summer, *** out of four"),
        ("interwoven\x85 \x96 well", "interwoven... – well"),
        ("ron howard=92s film", "ron howard’s film"),
        ("what the director can&#8217; t do", "what the director can’t do"),
        ("harry & tonto , s&m and pb& j", "harry & tonto, s&m and pb&j"),
        ("one .\ntwo , three .", "one.\ntwo, three."),
        ("", ""),
    ],
)
def test_spacing_is_restored(tokenised: str, wanted: str) -> None:
    assert restore_spacing(tokenised) == wanted


def _letters(text: str) -> str:
    return re.sub(r"\s+", "", text)


def _words(text: str) -> list[str]:
    return re.findall(r"[^\W_]+", text.replace(" n't", "n't"))


@pytest.mark.slow
def test_no_character_or_word_of_the_package_is_lost() -> None:
    for raw, _ in _movie_reviews()["rotten_tomatoes"]:
        text = restore_spacing(raw)
        assert _letters(text) == _letters(mend(raw))
        assert _words(text) == _words(mend(raw))
        assert not re.search(r"\s[,;?!]|\s\.(?!\.|\w)|[\x80-\x9f]|  ", text), text


_PIECES = st.sampled_from(
    [*"'\",..!?()[]-$5:;/*&é", "it", "'s", "n't", "don't", "--", "well-", "known", "all-too", "-inevitable", "000", "u"]
)


@given(st.lists(_PIECES | st.text("abcdefghijkl", min_size=1, max_size=6), max_size=30))
def test_restoring_only_moves_white_space(pieces: list[str]) -> None:
    text = " ".join(pieces)
    restored = restore_spacing(text)
    # Two apostrophes in a row are a quotation mark in TeX's spelling; `mend` turns them into one.
    assert _letters(restored) == _letters(mend(text))
    assert restored == restored.strip()
    assert "  " not in restored
