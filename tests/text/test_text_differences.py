"""What differs between two texts: every letter in its text, sentences paired where they went, no heaps of crumbs."""

import pytest
from hypothesis import given, strategies

from audit.text.differences import AFTER, BEFORE, Kind, differences, paired_texts

SIGNS = {Kind.SAME: "{}", Kind.ADDED: "[+{}]", Kind.LEFT_OUT: "[-{}]", Kind.MOVED: "[>{}]", Kind.MOVED_AWAY: "[<{}]"}


def drawn(before: str, after: str, language: str = "") -> str:
    """Both texts in one line: what was added, left out and moved in brackets."""
    return "".join(SIGNS[piece.kind].format(piece.text) for piece in differences(before, after, language))


_SENTENCES = strategies.lists(
    strategies.sampled_from(["It rains. ", "We stay! ", "天黑了。", "他们没来？", "a, b ", "\n", "the end", "Mr. X "]),
    max_size=8,
).map("".join)
_TEXTS = _SENTENCES | strategies.text(max_size=40)


@given(_TEXTS, _TEXTS)
def test_the_pieces_of_a_side_are_its_text(before: str, after: str) -> None:
    pieces = differences(before, after)
    assert "".join(piece.text for piece in pieces if piece.kind in BEFORE) == before
    assert "".join(piece.text for piece in pieces if piece.kind in AFTER) == after


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("One ends. Two stays. Three ends.", "One ends. Three ends.", "One ends. [-Two stays. ]Three ends."),
        ("天黑了。他没来。我走了。", "天黑了。我走了。", "天黑了。[-他没来。]我走了。"),
        ("It's good.", "It is good.", "[-It's][+It is] good."),
        ("Not good, I say.", "Good, I say.", "[-Not good][+Good], I say."),
        ("It is bad.", "It is bad!", "It is bad[-.][+!]"),
        ("A warm film.", "A warm, funny film.", "A warm[+, funny] film."),
        ("他去看了医生。", "他去看了大夫。", "他去看了[-医生][+大夫]。"),
        ("他去过法国。", "他去过中国。", "他去过[-法国][+中国]。"),
        ("Good morning to you all.", "Horrible weather today!",
         "[-Good morning to you all.][+Horrible weather today!]"),
        # The sign that both happen to share does not cut the marks in pieces.
        ("我们大家都听说银行在上周的利率调整。", "我们大家都听说房子突然间的价格变化。",
         "我们大家都听说[-银行在上周的利率调整][+房子突然间的价格变化]。"),
        ("The plot is thin. The music is a joy to hear. I would go again.",
         "The music is a joy to hear. I would go again. The plot is thin.",
         "[<The plot is thin.][- ]The music is a joy to hear. I would go again.[+ ][>The plot is thin.]"),
    ],
)  # fmt: skip
def test_what_is_added_left_out_and_moved(before: str, after: str, expected: str) -> None:
    assert drawn(before, after, "zh" if "他去" in before else "") == expected


def test_a_moved_sentence_tells_what_changed_in_it() -> None:
    pieces = differences("这部电影很好看。我们都很喜欢它的音乐和演员。", "我们都很喜欢它的音乐和演员。这部电影真好看。")
    kinds = {kind: "".join(piece.text for piece in pieces if piece.kind is kind) for kind in Kind}
    assert kinds[Kind.SAME] == "我们都很喜欢它的音乐和演员。"
    assert kinds[Kind.MOVED].rstrip("。") == kinds[Kind.MOVED_AWAY].rstrip("。") == "这部电影好看"
    assert (kinds[Kind.ADDED].rstrip("。"), kinds[Kind.LEFT_OUT].rstrip("。")) == ("真", "很")


def test_texts_that_changed_places_are_paired_where_they_went() -> None:
    assert paired_texts(["银行上调了利率。", "周一下雨。"], ["周一下雨。", "银行上调了利率！"]) == [1, 0]
    assert paired_texts(["a b", "c d"], ["a b", "c d"]) == [0, 1]
    assert paired_texts(["x", "y"], ["p", "q"]) == [0, 1]
    assert paired_texts(["x"], ["x", "y"]) == [0, None]
