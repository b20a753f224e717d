"""The house of DESIGN section 4: rooms import only from rooms before them, and importing audit costs nothing."""

import ast
import subprocess
import sys
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "audit"
ROOMS = [
    "text", "tasks", "corpora", "relations", "systems", "statistics", "store", "runner", "sampling",
    "false_satisfaction", "judging", "studies", "reports", "exchange", "library", "packs", "api", "ui", "cli",
]  # fmt: skip
GROUND = {
    "errors", "messages", "options", "registry", "keys", "resources", "files", "new_files", "model_cache",
    "user_models",
}  # Modules that every room may use; they use none but each other  # fmt: skip
HEAVY = {"streamlit", "pandas", "numpy", "scipy", "sklearn", "sqlalchemy", "sqlmodel", "nltk", "textblob", "altair"}


def imports(path: Path) -> set[str]:
    """Names of audit's rooms (or ground modules) that a module imports, at the top or inside functions."""
    rooms = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            names = [node.module] + [f"{node.module}.{alias.name}" for alias in node.names if node.module == "audit"]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            continue
        rooms |= {name.split(".")[1] for name in names if name.startswith("audit.")}
    return rooms


def modules() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def test_every_folder_is_a_room():
    folders = {path.parent.relative_to(PACKAGE).parts[0] for path in modules() if path.parent != PACKAGE}
    assert folders == set(ROOMS)


def test_rooms_import_only_from_rooms_before_them():
    wrong = {}
    for path in modules():
        place = path.relative_to(PACKAGE).parts
        if place == ("__init__.py",):
            continue  # the front door, which hands names of all rooms on
        room = place[0] if len(place) > 1 else None
        allowed = set(GROUND) | (set(ROOMS[: ROOMS.index(room) + 1]) if room else set())
        if path == PACKAGE / "__main__.py":  # which begins the last room
            allowed.add(ROOMS[-1])
        if beyond := imports(path) - {"__version__"} - allowed:
            wrong["/".join(place)] = beyond
    assert wrong == {}


def test_the_rooms_before_the_app_know_nothing_of_streamlit():
    for room in ROOMS[:-2]:
        for path in (PACKAGE / room).rglob("*.py"):
            assert "streamlit" not in path.read_text(encoding="utf-8").replace("Streamlit", "")


def test_importing_audit_loads_nothing_heavy():
    code = "import sys, audit, audit.cli; audit.cli.application(); print({name.split('.')[0] for name in sys.modules})"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert HEAVY & set(ast.literal_eval(shown)) == set()
