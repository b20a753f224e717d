"""The example plug-in: in this process for one test, and installed in a folder of its own."""

import os
import shutil
import sys
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import audit
from audit import registry, resources
from audit.corpora.slices import SLICES
from audit.relations.validity import MEASURES
from audit.store import brought
from audit.systems import _CALLER
from audit.text.tools import LANGUAGES

EXAMPLE = Path(__file__).parent / "example_plugin"
MODULE = "audit_example.plugin"
_KINDS = (registry.tasks, registry.relations, registry.systems, registry.corpora)
_DICTS = (LANGUAGES, MEASURES, SLICES)
"""What a plug-in may add to, too."""


@contextmanager
def registries_kept() -> Iterator[pytest.MonkeyPatch]:
    """Whatever is registered or loaded in this block is forgotten at its end."""
    with pytest.MonkeyPatch.context() as patch:
        for kind in _KINDS:
            kind.names()  # audit's own things are there, and are kept
            # What another test's calls of the library offered under a name of the plug-in's is no plug-in's concern.
            kept = {name: entry for name, entry in kind._entries.items() if entry.origin != _CALLER}
            patch.setattr(kind, "_entries", kept)
        patch.setattr(registry, "_plugins", {registry.GROUP})
        patch.setattr(registry, "_problems", [])
        patch.setattr(registry, "_said", set())
        patch.setattr(registry, "EXPECTED", {})
        patch.setattr(brought, "_expected", {})
        patch.setattr(sys, "path", list(sys.path))
        patch.setattr(resources, "_folders", list(resources._folders))
        before_dicts = [dict(things) for things in _DICTS]
        patch.setenv(registry.VARIABLE, "")
        before = set(sys.modules)
        try:
            yield patch
        finally:
            for things, before_it in zip(_DICTS, before_dicts, strict=True):
                things.clear()  # type: ignore[attr-defined]
                things.update(before_it)  # type: ignore[attr-defined]
            for name in set(sys.modules) - before:
                if name.split(".")[0] == "audit_example" or name.startswith("plugin_"):
                    del sys.modules[name]


@contextmanager
def plugged() -> Iterator[None]:
    """The example is loaded by its name, as `--plugin` does."""
    with registries_kept() as patch:
        patch.syspath_prepend(str(EXAMPLE))
        registry.load_plugin(MODULE)
        yield


def install(folder: Path) -> Path:
    """What `pip install --target FOLDER` makes of the example: its package, and metadata with its entry points."""
    with (EXAMPLE / "pyproject.toml").open("rb") as file:
        project = tomllib.load(file)["project"]
    shutil.copytree(EXAMPLE / "audit_example", folder / "audit_example")
    info = folder / f"audit_example-{project['version']}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n", encoding="utf-8"
    )
    lines = []
    for group, points in project["entry-points"].items():
        lines += [f"[{group}]", *(f"{name} = {where}" for name, where in points.items()), ""]
    (info / "entry_points.txt").write_text("\n".join(lines), encoding="utf-8")
    return folder


def environment(*folders: Path, plugins: str = "") -> dict[str, str]:
    """Of a process that imports from these folders and from this checkout."""
    here = Path(audit.__file__).parents[1]
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(map(str, (*folders, here))),
        registry.VARIABLE: plugins,
    }
