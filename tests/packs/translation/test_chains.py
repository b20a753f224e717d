"""Files of recorded pivot chains: what is odd is counted and told, what cannot be read is refused."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.errors import BadFile, BadRow
from audit.packs.translation.chains import SCORES, read_chains

PIVOTS = Path(__file__).parents[3].parent / "shared" / "data" / "mcmt" / "pivot_runs.csv"
HEAD = "system,source,pivot,target,direct,alternate,levenshtein,bleu,cosine"


@pytest.fixture
def written(tmp_path):
    def write(*lines, head=HEAD):
        path = tmp_path / "chains.csv"
        path.write_text("\n".join([head, *lines]), encoding="utf-8")
        return path

    return write


def oddities(chains):
    return {oddity.kind: (oddity.rows, oddity.first, oddity.used) for oddity in chains.oddities}


def test_a_good_file(written):
    chains = read_chains(written("a,It rains.,fr,zh,下雨。,下雨了。,0.9,0,0", "a,It rains.,ja,zh,下雨。,下雨。,,,"))
    assert (chains.name, chains.rows, chains.lacking, chains.oddities) == ("chains.csv", 2, (), ())
    assert chains.frame["line"].tolist() == [2, 3]
    assert chains.frame["alternate"].tolist() == ["下雨了。", "下雨。"]
    assert chains.frame["levenshtein"].tolist()[0] == 0.9
    assert chains.frame[list(SCORES)].iloc[1].isna().all()


def test_every_oddity_is_counted_and_only_useless_rows_are_left_out(written):
    chains = read_chains(
        written(
            "a,S,fr,zh,甲,乙,0.5,0,0",
            "a,S,fr,zh,甲,乙,0.5,0,0",  # repeats
            "a,S,fr,zh,甲,丙,0.5,0,0",  # another alternate
            "a,S,ja,zh,丁,乙,0.5,0,0",  # another direct
            "a,T,zh,zh,甲&quot;,R&D;,high,0,nan",  # entity, pivot is target, two scores that are none
            "a,T,fr,zh,,乙,0.5,0,0",
            ",T,fr,zh,甲,乙,0.5,0,0",
            "a,T,fr",
            "b,,,zh,甲,乙,0.5,0,0",
        )
    )
    assert oddities(chains) == {
        "bad levenshtein": (1, 6, True),
        "bad cosine": (1, 6, True),
        "empty direct": (1, 7, False),
        "empty system": (1, 8, False),
        "fields": (1, 9, False),
        "empty source": (1, 10, True),
        "empty pivot": (1, 10, True),
        "repeated rows": (1, 3, True),
        "entities direct": (1, 6, True),
        "contradicting direct": (4, 2, True),
        "contradicting alternate": (3, 2, True),
        "pivot is target": (1, 6, True),
    }
    assert chains.rows == 9
    assert len(chains.frame) == 6


def test_wanted_columns_may_be_absent(written):
    chains = read_chains(written("a,zh,甲,乙", head="system,target,direct,alternate"))
    assert chains.lacking == ("source", "pivot", "levenshtein", "bleu", "cosine")
    assert chains.frame["source"].tolist() == [""]


@pytest.mark.parametrize(
    ("lines", "head", "says"),
    [
        ((), HEAD, "no rows"),
        (("a,b",), "system,source", r"column\(s\) target, direct, alternate missing; needed are system, target"),
        ((",S,fr,zh,甲,乙,1,1,1",), HEAD, "none of the 1 rows has all of system, target, direct, alternate"),
        (('a,"S',), HEAD, "quotation mark"),
    ],
)
def test_what_cannot_be_used_is_refused(written, lines, head, says):
    with pytest.raises((BadFile, BadRow), match=says):
        read_chains(written(*lines, head=head))


@pytest.mark.slow
@given(st.lists(st.sampled_from(["a,S,fr,zh,x,y,,,", "b,S,fr,zh,x,,,,", "b,S,ko,zh,x&lt;,y,1,1,1", "c"]), min_size=1))
def test_no_row_is_lost_unsaid(tmp_path_factory, lines):
    path = tmp_path_factory.mktemp("chains") / "chains.csv"
    path.write_text("\n".join([HEAD, *lines]), encoding="utf-8")
    try:
        chains = read_chains(path)
    except BadFile:
        assert not any(line.endswith((",,,", "1,1,1")) and "x,,,," not in line for line in lines)
        return
    left_out = sum(oddity.rows for oddity in chains.oddities if not oddity.used)
    assert len(chains.frame) + left_out == chains.rows == len(lines)


def test_the_study_s_own_sheet():
    if not PIVOTS.exists():
        pytest.skip("the study's recorded sheets (../shared/data/mcmt) are not here")
    chains = read_chains(PIVOTS)
    assert (chains.rows, len(chains.frame), chains.lacking) == (3752, 3752, ())
    counted = {oddity.kind: oddity.rows for oddity in chains.oddities}
    assert counted == {"repeated rows": 59, "entities direct": 184, "entities alternate": 252}
