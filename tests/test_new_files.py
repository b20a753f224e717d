"""What a user gets is put in place whole: a full disk or a kill leaves what was there."""

import errno
import os
import stat

import pytest

from audit.errors import BadFile
from audit.new_files import new_file, new_folder, write_file


def names(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("name", ["report.html", "n" * 250, "报告" * 40 + ".html", "-x"])
def test_a_file_is_replaced_whole(tmp_path, name):
    place = tmp_path / name
    write_file(place, "old")
    with new_file(place) as part:
        part.write_text("new")
        assert place.read_text() == "old"
        assert part.stat().st_dev == place.stat().st_dev
    assert place.read_text() == "new"
    assert names(tmp_path) == [name]


@pytest.mark.parametrize("problem", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()])
@pytest.mark.parametrize("writer", [new_file, new_folder])
def test_a_failure_leaves_what_was_there(tmp_path, writer, problem):
    place = tmp_path / "it"
    if writer is new_file:
        place.write_text("old")
    before = names(tmp_path)

    def half():
        with writer(place) as part:
            (part / "one" if part.is_dir() else part).write_text("half")
            raise problem

    with pytest.raises((BadFile, KeyboardInterrupt)) as caught:
        half()
    if isinstance(problem, OSError):
        assert str(caught.value) == f"cannot write {place}: No space left on device"
    assert names(tmp_path) == before
    if writer is new_file:
        assert place.read_text() == "old"


@pytest.mark.skipif(os.name == "nt", reason="permissions of POSIX")
def test_permissions(tmp_path):
    def mode(name):
        return stat.S_IMODE((tmp_path / name).stat().st_mode)

    before = os.umask(0o027)
    try:
        write_file(tmp_path / "plain", "x")
        write_file(tmp_path / "private", "x", private=True)
        with new_folder(tmp_path / "folder") as part:
            (part / "one").write_text("x")
        with new_folder(tmp_path / "private folder", private=True):
            pass
    finally:
        os.umask(before)
    assert [mode(name) for name in ("plain", "private", "folder", "folder/one", "private folder")] == [
        0o640, 0o600, 0o750, 0o640, 0o700,
    ]  # fmt: skip
    (tmp_path / "plain").chmod(0o604)
    write_file(tmp_path / "plain", "y")
    assert mode("plain") == 0o604


def test_a_new_file_never_replaces_one(tmp_path):
    place = tmp_path / "it"

    def late():
        with new_file(place, new=True) as part:
            part.write_text("new")
            place.write_text("came meanwhile")

    with pytest.raises(BadFile, match="it is there already"):
        late()
    assert place.read_text() == "came meanwhile"
    with pytest.raises(BadFile, match="it is there already"), new_file(place, new=True):
        pytest.fail("the block must not begin")
    assert names(tmp_path) == ["it"]


@pytest.mark.skipif(os.name == "nt", reason="links and pipes of POSIX")
def test_links_are_followed_and_what_is_no_file_stays(tmp_path):
    (tmp_path / "there").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "there" / "real")
    write_file(tmp_path / "link", "x")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "there" / "real").read_text() == "x"
    os.mkfifo(tmp_path / "pipe")
    for place, says in (("pipe", "it is a named pipe"), ("there", "Is a directory"), ("no/it", "No such file")):
        with pytest.raises(BadFile, match=says):
            write_file(tmp_path / place, "x")
    with pytest.raises(BadFile, match="it is a device"):
        write_file("/dev/null", "x")
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)
    assert names(tmp_path) == ["link", "pipe", "there"]
    write_file(tmp_path / "no" / "it", "x", parents=True)
    assert (tmp_path / "no" / "it").read_text() == "x"


def test_a_folder_takes_the_place_of_an_empty_one_alone(tmp_path):
    (tmp_path / "empty").mkdir()
    for place in ("empty", "above/new"):
        with new_folder(tmp_path / place) as part:
            (part / "one").write_text("x")
        assert names(tmp_path / place) == ["one"]
        with pytest.raises(BadFile, match="there already and not empty"), new_folder(tmp_path / place):
            pytest.fail("the block must not begin")
    assert names(tmp_path) == ["above", "empty"]
