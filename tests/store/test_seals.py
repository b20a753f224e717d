"""A file that was changed since its export was made is refused."""

import pytest

from audit.errors import BadFile
from audit.store.dump import check, described, seal


def test_a_changed_file_is_refused(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("one\ntwo\nthree\n")
    sealed = described(path)
    assert (sealed["lines"], sealed["bytes"]) == (3, 14)
    check(tmp_path, "a.txt", sealed)
    for content, reason in (("one\ntwO\nthree\n", "changed since"), ("one\ntwo\n", "2 lines, but the export had 3")):
        path.write_text(content)
        with pytest.raises(BadFile, match=rf"a\.txt: {reason}"):
            check(tmp_path, "a.txt", sealed)
    path.unlink()
    with pytest.raises(BadFile, match="the file is missing"):
        check(tmp_path, "a.txt", sealed)


def test_the_seal_of_a_manifest_is_of_all_but_itself():
    assert seal({"a": 1}) == seal({"a": 1, "seal": "x"}) != seal({"a": 2})
