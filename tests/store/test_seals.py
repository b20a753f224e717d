"""Where a file was changed is found, to the line or the block of lines."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.errors import BadFile
from audit.store.dump import BLOCKS, check, described, seal


def refusal(folder, sealed):
    with pytest.raises(BadFile) as refused:
        check(folder, "a.txt", sealed)
    return str(refused.value)


def test_a_change_is_found_to_the_line(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("one\ntwo\nthree\n")
    sealed = described(path)
    assert (sealed["lines"], sealed["bytes"], sealed["block"]) == (3, 14, 1)
    check(tmp_path, "a.txt", sealed)
    path.write_text("one\ntwO\nthree\n")
    assert "a.txt, line 2: changed" in refusal(tmp_path, sealed)
    path.write_text("one\ntwo\n")
    assert "a.txt, line 2: the file ends here, but had 3 lines" in refusal(tmp_path, sealed)
    path.write_text("one\ntwo\nthree\nfour\n")
    assert "a.txt, line 4: the file goes on" in refusal(tmp_path, sealed)
    path.write_text("")
    assert "a.txt, line 0: the file ends here" in refusal(tmp_path, sealed)
    path.unlink()
    assert "the file is missing" in refusal(tmp_path, sealed)


def test_a_change_in_a_long_file_is_found_to_its_block(tmp_path):
    path = tmp_path / "a.txt"
    lines = [f"{n}\n" for n in range(2 * BLOCKS + 1)]  # 2,001 lines: blocks of 3
    path.write_text("".join(lines))
    sealed = described(path)
    assert sealed["block"] == 3
    lines[9] = "other\n"
    path.write_text("".join(lines))
    assert "lines 10 to 12: changed" in refusal(tmp_path, sealed)
    path.write_text("".join(lines[:5]))
    assert "line 5: the file ends here, but had 2,001 lines" in refusal(tmp_path, sealed)


@given(st.lists(st.binary(max_size=4).filter(lambda one: b"\n" not in one), max_size=30), st.binary(max_size=40))
def test_every_other_content_is_refused(tmp_path_factory, before, after):
    folder = tmp_path_factory.mktemp("seal")
    path = folder / "a.txt"
    content = b"\n".join(before)
    path.write_bytes(content)
    sealed = described(path)
    check(folder, "a.txt", sealed)
    if after != content:
        path.write_bytes(after)
        assert "a.txt, line" in refusal(folder, sealed)


def test_the_seal_of_a_manifest_is_of_all_but_itself():
    assert seal({"a": 1}) == seal({"a": 1, "seal": "x"}) != seal({"a": 2})
