"""What a user gets is put in place whole: a full disk or a kill leaves what was there."""

import errno
import os
import stat

import pytest

from audit.errors import BadFile
from audit.new_files import new_file, new_folder, write_file


def names(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("problem", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()])
@pytest.mark.parametrize("writer", [new_file, new_folder])
def test_a_failure_leaves_nothing(tmp_path, writer, problem):
    def half():
        with writer(tmp_path / "it") as part:
            (part / "one" if part.is_dir() else part).write_text("half")
            raise problem

    with pytest.raises((BadFile, KeyboardInterrupt)) as caught:
        half()
    if isinstance(problem, OSError):
        assert str(caught.value) == f"cannot write {tmp_path / 'it'}: No space left on device"
    assert names(tmp_path) == []


@pytest.mark.parametrize("name", ["report.html", "n" * 250, "报告" * 40 + ".html", "-x"])
def test_a_file_is_replaced_whole(tmp_path, name, monkeypatch):
    write_file(tmp_path / name, "old")
    with monkeypatch.context() as patch:
        patch.setattr("os.fsync", lambda handle: os.write(handle, b"fails"))
        with pytest.raises(BadFile):
            write_file(tmp_path / name, "half")
    assert (tmp_path / name).read_text() == "old"
    write_file(tmp_path / name, "new")
    assert (tmp_path / name).read_text() == "new"
    assert names(tmp_path) == [name]


@pytest.mark.skipif(os.name == "nt", reason="permissions, links and pipes of POSIX")
def test_permissions_stay_links_are_followed_and_what_is_no_file_stays(tmp_path):
    (tmp_path / "there").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "there" / "real")
    write_file(tmp_path / "link", "x")
    (tmp_path / "there" / "real").chmod(0o604)
    write_file(tmp_path / "link", "y")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "there" / "real").read_text() == "y"
    with new_file(tmp_path / "private"):
        pass
    with new_folder(tmp_path / "folder"):
        pass
    modes = [stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("link", "private", "folder")]
    assert modes == [0o604, 0o600, 0o700]
    os.mkfifo(tmp_path / "pipe")
    for place, says in ((tmp_path / "pipe", "pipe or socket"), (tmp_path / "there", "Is a directory"),
                        (tmp_path / "no" / "it", "No such file"), ("/dev/null", "a device")):  # fmt: skip
        with pytest.raises(BadFile, match=says):
            write_file(place, "x")
    assert names(tmp_path) == ["folder", "link", "pipe", "private", "there"]
    write_file(tmp_path / "no" / "it", "x", parents=True)
    assert (tmp_path / "no" / "it").read_text() == "x"


def test_a_new_file_or_folder_never_replaces_one(tmp_path):
    place = tmp_path / "it"

    def late():
        with new_file(place):
            place.write_text("came meanwhile")

    with pytest.raises(BadFile, match="it is there already"):
        late()
    assert place.read_text() == "came meanwhile"
    (tmp_path / "empty").mkdir()
    with new_folder(tmp_path / "empty") as part:
        (part / "one").write_text("x")
    for writer, name in ((new_file, "it"), (new_folder, "empty")):
        with pytest.raises(BadFile, match="is there already"), writer(tmp_path / name):
            pytest.fail("the block must not begin")
    assert (names(tmp_path), names(tmp_path / "empty")) == (["empty", "it"], ["one"])
