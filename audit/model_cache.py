"""Trained models in the cache, as arrays (`.npz`) and what is said about them (`.json`): never a pickle, which could
run code when it is read."""

import io
import json
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any

from audit.errors import BadFile
from audit.new_files import alone, write_file

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True)
class Kept:
    """Arrays by name, and how they were made."""

    arrays: Mapping[str, "np.ndarray"]
    about: Mapping[str, Any]


def as_array(texts: tuple[str, ...]) -> "np.ndarray":
    r"""Texts as one array of bytes; none of them may have a line end.

    >>> texts_of(as_array(("一", "two")))
    ('一', 'two')
    """
    import numpy as np

    return np.frombuffer("\n".join(texts).encode("utf-8"), dtype=np.uint8)


def texts_of(array: "np.ndarray") -> tuple[str, ...]:
    """The texts that `as_array` was given."""
    return tuple(array.tobytes().decode("utf-8").split("\n"))


def write(model: Kept, folder: Path, name: str) -> None:
    """Keep a model as `name.npz` and `name.json`; the JSON comes last and holds the other's hash. Raises BadFile."""
    import numpy as np

    buffer = io.BytesIO()
    np.savez(buffer, **model.arrays)  # type: ignore[arg-type]
    content = buffer.getvalue()
    about = {**model.about, "blake2b": blake2b(content, digest_size=16).hexdigest()}
    write_file(folder / f"{name}.npz", content, parents=True)
    write_file(folder / f"{name}.json", json.dumps(about, indent=2, sort_keys=True), parents=True)


def read(folder: Path, name: str) -> Kept | None:
    """The kept model, None where there is none. Raises ValueError when its files are damaged."""
    import numpy as np

    try:
        about = json.loads((folder / f"{name}.json").read_text("utf-8"))
        content = (folder / f"{name}.npz").read_bytes()
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as problem:
        raise ValueError(f"unreadable: {problem}") from problem
    if not isinstance(about, dict) or about.get("blake2b") != blake2b(content, digest_size=16).hexdigest():
        raise ValueError("its content is not what was written")
    with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
        return Kept({name: arrays[name] for name in arrays.files}, about)


def cached_model(system: str, version: str, folder: Path, make: Callable[[], Kept]) -> Kept:
    """The system's model from the cache, made and kept there when it is absent or damaged; of several processes that
    ask at once, one makes it, and the others wait. Says on stderr what is wrong with the cache, and goes on without it.
    """
    name = f"{system}-{version}"
    try:
        if (model := read(folder, name)) is not None:
            return model
    except ValueError as problem:
        say(f"the kept model {folder / name}.npz is damaged ({problem}); training it again")
    with alone(folder / name):
        with suppress(ValueError):
            if (model := read(folder, name)) is not None:
                return model
        model = make()
        try:
            write(model, folder, name)
        except BadFile as problem:
            say(f"{system} cannot be kept ({problem}): every run trains anew")
    return model


def say(line: str) -> None:
    """A line for whoever waits."""
    print(line, file=sys.stderr, flush=True)
