"""The files of a model of Hugging Face's transformers: where they are, what names them, and loading them.

Models are read from a directory, or from the Hugging Face cache where they were downloaded before; nothing is
downloaded here, no code of a model is executed, and weights are read as safetensors or by torch's restricted unpickler.
"""

import hashlib
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from audit.errors import BadFile, first_line
from audit.files import parse_json

_MODEL_FILES = frozenset({".json", ".txt", ".model", ".spm", ".safetensors", ".bin"})
_WHOLE, _PIECES, _PIECE = 1 << 20, 256, 4096


def model_folder(model: str, revision: str | None = None) -> Path | None:
    """Return the directory of a model: the named one, or that of the Hugging Face cache; None where there is none."""
    if Path(model).is_dir():
        return Path(model)
    with suppress(ImportError, OSError, ValueError):
        from huggingface_hub import snapshot_download

        return Path(snapshot_download(model, revision=revision, local_files_only=True))
    return None


def absent_model(model: str) -> str:
    """Return the sentence about a model that is nowhere."""
    return (
        f"there is no directory {model!r} and no model of this name in the Hugging Face cache; download it once with "
        f"`hf download {model}`, or name the directory that it is in"
    )


def model_json(folder: Path, name: str) -> dict[str, Any]:
    """Return the object in a file of a model; empty where it is absent. Raises BadFile."""
    try:
        content = parse_json((folder / name).read_text("utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as problem:
        raise BadFile(f"{folder / name}: cannot be read ({problem})") from problem
    return content if isinstance(content, dict) else {}


def fingerprint_of(folder: Path) -> str:
    """Return twelve hexadecimal digits that name a model by what its files hold: small ones as a whole, of others the
    size and 256 pieces, since whatever is trained further changes nearly all of its weights."""
    state = hashlib.blake2b(digest_size=6)
    for file in sorted(file for file in folder.iterdir() if file.suffix in _MODEL_FILES and file.is_file()):
        size = file.stat().st_size
        state.update(f"{file.name}\0{size}\0".encode())
        with file.open("rb") as opened:
            if size <= _WHOLE:
                state.update(opened.read())
                continue
            for number in range(_PIECES):
                opened.seek((size - _PIECE) * number // (_PIECES - 1))
                state.update(opened.read(_PIECE))
    return state.hexdigest()


def load_part(kind: Any, folder: Path | None, **options: object) -> Any:
    """Return a part of a model (a tokenizer, the weights), which a class of transformers reads from its directory.
    Raises BadFile."""
    try:
        return kind.from_pretrained(str(folder), local_files_only=True, trust_remote_code=False, **options)
    except (Exception, SystemExit) as problem:  # whatever a file or a version of it makes transformers raise
        raise BadFile(f"{folder}: transformers cannot load this model ({first_line(problem)})") from problem


def load_tokenizer(folder: Path | None) -> Any:
    """Return the tokenizer of a model. Raises BadFile, also where its files are absent: transformers then makes one
    that knows no word."""
    from transformers import AutoTokenizer

    tokenizer = load_part(AutoTokenizer, folder)
    names = {"tokenizer.json", *tokenizer.vocab_files_names.values()}
    if folder is not None and tokenizer.vocab_files_names and not any((folder / name).is_file() for name in names):
        raise BadFile(
            f"{folder}: the tokenizer is missing ({' or '.join(sorted(names))}); download the whole model again, or "
            "copy these files from the model that it was trained from"
        )
    return tokenizer


def one_thread() -> None:
    """Give torch one thread, in this process from now on: sentences are too short for more to gain anything, and the
    order of sums stays the same. It is not put back: OpenMP would start threads again, which a process that is forked
    from this one would wait for for ever."""
    import torch

    if torch.get_num_threads() != 1:
        torch.set_num_threads(1)


def by_length(lengths: Iterable[int], size: int) -> list[list[int]]:
    """Return places of texts in batches of about the same length, the shortest first: less is padded.

    >>> by_length([9, 1, 8], 2)
    [[1, 2], [0]]
    """
    known = list(lengths)
    order = sorted(range(len(known)), key=known.__getitem__)
    return [order[start : start + size] for start in range(0, len(order), size)]
