"""Chinese words and tags by jieba: nothing of a text is lost, and persons are persons."""

import subprocess
import sys

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from audit.errors import UnknownName
from audit.packs.chinese.people import surname, surnames
from audit.packs.chinese.taggers import PEOPLES_DAILY, by_characters, chinese, from_entity, from_jieba, from_treebank
from audit.text.tools import tagger_of, version_of

TEXTS = st.text(
    st.sampled_from(
        "我们在北京见到了王小明和比尔·盖茨，iPhone 15发布会。PSV埃因霍温３．５％ＡＢ…—“”！？"
        "\n\u3000 😀👨\u200d👩🏽Mr.2,000"
    )
    | st.characters(),
    max_size=40,
)


def tagged(text):
    return [(token.text, token.tag) for token in chinese(text)]


@settings(max_examples=60)
@given(TEXTS)
@example("iPhone 15发布会")
@example("PSV埃因霍温　\r\n")
@example("张·")
@example("……——")
@example("周总理")
def test_tokens_are_the_text_without_its_white_space(text):
    tokens = chinese(text)
    at = 0
    for token in tokens:
        assert not text[at : token.start].strip()
        assert text[token.start : token.end] == token.text
        assert token.start < token.end
        assert token.tag in PEOPLES_DAILY
        at = token.end
    assert not text[at:].strip()


def test_mixed_text_keeps_english_words_and_numbers_whole():
    assert tagged("iPhone 15发布会😀") == [("iPhone", "nx"), ("15", "m"), ("发布会", "n"), ("😀", "x")]
    assert tagged("ＰＳＶ ３．５") == [("ＰＳＶ", "nx"), ("３．５", "m")]
    assert tagged("他……来——") == [("他", "r"), ("……", "w"), ("来", "v"), ("——", "w")]


def test_tags_of_other_sets_become_those_of_the_peoples_daily():
    assert [
        from_jieba(*pair) for pair in [("的", "uj"), ("这", "rz"), ("a", "x"), ("12", "x"), ("＋", "x"), ("字", "?")]
    ] == (["u", "r", "nx", "m", "x", "x"])
    assert [from_treebank(tag) for tag in ("NN", "NR", "PN", "VC", "PU", "new")] == ["n", "nz", "r", "v", "w", "x"]
    assert [from_entity(kind) for kind in ("PERSON", "GPE", "nt", "DATE")] == ["nr", "ns", "nt", None]
    assert [by_characters(word) for word in ("（", "❤️", "３．５", "a·b")] == ["w", "x", "", ""]


def test_family_names():
    assert [surname(name) for name in ("欧阳修", "王", "爱新觉罗溥仪", "天气", "")] == [
        "欧阳",
        "王",
        "爱新觉罗",
        None,
        None,
    ]
    assert len(surnames()) > 500
    assert all(1 <= len(name) <= 4 and name.isalpha() for name in surnames())


@pytest.mark.parametrize("name", ["stanza", "jieba:x", "hanlp", "hanlp:", ""])
def test_a_tagger_that_is_not_known_is_named_with_those_that_are(name):
    with pytest.raises(UnknownName, match="known are: hanlp:MODEL, jieba"):
        chinese("好", name)


def test_a_tagger_is_made_once_and_has_a_version():
    assert tagger_of("jieba") is tagger_of("jieba")
    assert version_of("jieba") == "jieba 0.42.1, rules 2"


def test_jieba_says_nothing_on_its_own():
    code = "from audit.packs.chinese.taggers import chinese; chinese('我来了')"
    done = subprocess.run([sys.executable, "-W", "default", "-c", code], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("", "")
