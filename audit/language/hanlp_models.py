"""HanLP's components by name or directory, loaded quietly and on the processor."""

import hashlib
import io
import warnings
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from importlib.metadata import version
from pathlib import Path
from typing import Any

from audit.errors import BadFile, NotInstalled, first_line
from audit.files import parse_json

MISSING = 'this needs HanLP; run: pip install "audit[chinese]"'
OURS = frozenset({"audit.language.constituency.hanlp_encoder.WordsAndLetters"})
"""The project's own parts of models, which are loaded as HanLP's are."""
_LIST = "https://hanlp.hankcs.com/docs/api/hanlp/pretrained"


def hanlp() -> Any:
    """The package; raises NotInstalled where it, or torch, is absent."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import hanlp
            import torch  # noqa: F401  (HanLP does without until a component is made)
    except ImportError as problem:
        raise NotInstalled(MISSING) from problem
    return hanlp


def load(model: str) -> Any:
    """The component that `hanlp.load` makes of a directory, or of a name that it may download.

    Raises NotInstalled where there is no such model, BadFile for a directory that holds none or a damaged one.
    """
    package = hanlp()
    folder = Path(model)
    if folder.is_dir():
        _refuse_foreign(folder)
    elif model not in package.pretrained.ALL:
        raise NotInstalled(
            f"there is no directory {model!r}, and HanLP has no model of this name; make one with: audit hanlp train "
            f"--out DIRECTORY, or take a name of {_LIST}"
        )
    one_thread()
    said = io.StringIO()
    try:
        with redirect_stdout(said), redirect_stderr(said), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return package.load(model, devices=-1, verbose=False)
    except (Exception, SystemExit) as problem:  # whatever a download, a file or a version of it makes HanLP raise
        if folder.is_dir():
            raise BadFile(
                f"{model}: HanLP cannot load this model ({first_line(problem)}); train or download it again"
            ) from problem
        raise NotInstalled(
            f"HanLP's model {model!r} could not be downloaded or loaded ({first_line(problem)}); download and unpack "
            f"{package.pretrained.ALL[model]} and name its directory instead"
        ) from problem


def one_thread() -> None:
    """One thread for torch, in this process from now on: sentences are too short for more to gain anything, which then
    wait for each other, and the order of sums stays the same. It is not put back: OpenMP would start threads again, and
    a process that is forked from this one would wait for them for ever, because it does not have them."""
    import torch

    if torch.get_num_threads() != 1:
        torch.set_num_threads(1)


def model_version(model: str) -> str:
    """Names a model: a directory by what its files hold, another one by the file that HanLP downloads."""
    package = hanlp()
    folder = Path(model)
    if not folder.is_dir():
        return f"hanlp {version('hanlp')}, {Path(package.pretrained.ALL[model]).stem}"
    state = hashlib.blake2b(digest_size=6)
    for file in sorted(folder.iterdir()):
        if file.is_file() and file.suffix in (".pt", ".json") and file.name != "scores.json":
            state.update(file.name.encode())
            state.update(hashlib.blake2b(file.read_bytes()).digest())
    return f"hanlp {version('hanlp')}, model {state.hexdigest()}"


def _refuse_foreign(folder: Path) -> None:
    """Raise for a directory that names code outside of HanLP: to load it would run that code."""
    file = folder / "config.json"
    try:
        config = parse_json(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise BadFile(
            f"{folder}: there is no config.json in it, so it is no model of HanLP 2.1; make one with: audit hanlp "
            "train --out DIRECTORY"
        ) from None
    except (OSError, ValueError) as problem:
        raise BadFile(f"{file}: cannot be read ({problem}); train or download the model again") from problem
    for path in _classpaths(config):
        if not path.startswith("hanlp.") and path not in OURS:
            raise BadFile(f"{file}: it names {path!r}, which is no component of HanLP; it is not loaded")


def _classpaths(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        for name, one in value.items():
            if name in ("classpath", "class_path"):
                yield str(one)
            yield from _classpaths(one)
    elif isinstance(value, list):
        for one in value:
            yield from _classpaths(one)
