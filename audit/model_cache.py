"""Trained models in the cache, as arrays (`.npz`): never a pickle, which could run code when it is read."""

import io
import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from audit.errors import BadFile
from audit.new_files import write_file

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True)
class Kept:
    """Arrays by name, and how they were made."""

    arrays: Mapping[str, "np.ndarray"]
    about: Mapping[str, Any]


def as_array(texts: tuple[str, ...]) -> "np.ndarray":
    """Return texts as one array of bytes; none of them may have a line end."""
    import numpy as np

    return np.frombuffer("\n".join(texts).encode("utf-8"), dtype=np.uint8)


def texts_of(array: "np.ndarray") -> tuple[str, ...]:
    """Return the texts that `as_array` was given."""
    return tuple(array.tobytes().decode("utf-8").split("\n"))


def read(folder: Path, name: str) -> Kept | None:
    """Return the kept model, None where there is none that can be read; says so on stderr where it is damaged."""
    import numpy as np

    path = folder / f"{name}.npz"
    if not path.exists():
        return None
    try:
        with np.load(path, allow_pickle=False) as loaded:
            arrays = {name: loaded[name] for name in loaded.files}
        return Kept(arrays, json.loads(texts_of(arrays.pop("about"))[0]))
    except Exception as problem:  # whatever a damaged archive makes zipfile and NumPy raise
        say(f"the kept model {path} is damaged ({problem}); training it again")
        return None


def cached_model(system: str, version: str, folder: Path, make: Callable[[], Kept]) -> Kept:
    """Return the system's model from the cache, made and kept there when it is absent or damaged."""
    import numpy as np

    name = f"{system}-{version}"
    if (model := read(folder, name)) is not None:
        return model
    model, buffer = make(), io.BytesIO()
    np.savez(buffer, **model.arrays, about=as_array((json.dumps(model.about, sort_keys=True),)))  # type: ignore[arg-type]
    try:
        write_file(folder / f"{name}.npz", buffer.getvalue(), parents=True)
    except BadFile as problem:
        say(f"{system} cannot be kept ({problem}): every run trains anew")
    return model


def say(line: str) -> None:
    """Tell whoever waits a line, on stderr."""
    print(line, file=sys.stderr, flush=True)
