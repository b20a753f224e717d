"""Files of recorded pivot chains: what is odd is counted and told, what cannot be read is refused."""

from pathlib import Path

import pytest

from audit.errors import BadFile
from audit.packs.translation.analysis import read_chains

PIVOTS = Path(__file__).parents[3].parent / "shared" / "data" / "mcmt" / "pivot_runs.csv"
HEAD = "system,source,pivot,target,direct,alternate,levenshtein,bleu,cosine"


def read(folder, *lines, head=HEAD):
    path = folder / "chains.csv"
    path.write_text("\n".join([head, *lines]), encoding="utf-8")
    return read_chains(path)


def rows(note):
    return int(note.split()[0].replace(",", ""))


def test_what_is_useless_is_left_out_and_told(tmp_path):
    chains = read(
        tmp_path,
        "a,S,fr,zh,甲,乙,0.5,0,0",
        "a,S,fr,zh,甲,乙,0.5,0,0",  # repeats
        "a,T,zh,zh,甲&quot;,R&D;,high,0,nan",  # pivot is target
        "a,T,fr,zh,,乙,0.5,0,0",
        ",T,fr,zh,甲,乙,0.5,0,0",
        "a,T,fr",
    )
    assert [(rows(note), ": left out" in note) for note in chains.notes] == [(1, True)] * 3 + [(1, False)] * 3
    assert (chains.rows, chains.frame["line"].tolist()) == (6, [2, 3, 4])
    lacking = read(tmp_path, "a,zh,甲,乙", head="system,target,direct,alternate")
    assert (lacking.lacking[:2], lacking.frame["source"].tolist()) == (["source", "pivot"], [""])


def test_what_cannot_be_used_is_refused(tmp_path):
    with pytest.raises(BadFile, match=r"column\(s\) target, direct, alternate missing"):
        read(tmp_path, "a,b", head="system,source")
    with pytest.raises(BadFile, match="none of the 1 rows has all of system, target, direct, alternate"):
        read(tmp_path, ",S,fr,zh,甲,乙,1,1,1")


def test_the_study_s_own_sheet():
    if not PIVOTS.exists():
        pytest.skip("the study's recorded sheets (../shared/data/mcmt) are not here")
    chains = read_chains(PIVOTS)
    assert (chains.rows, len(chains.frame), chains.lacking) == (3752, 3752, [])
    assert [rows(note) for note in chains.notes] == [59, 184, 252]
