"""How many small faults the tests of a room catch: `python tests/benchmarks/mutants.py [ROOM ...] --number 60`.

A mutant is one change of one expression; the tests of its room run in a copy of the tree. What they do not notice in
time is printed: an equivalent change, code that nobody needs, or a test that is missing.
"""

import argparse
import ast
import os
import random
import shutil
import sys
import tempfile
from collections.abc import Iterator
from multiprocessing import get_context
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
TESTS = {
    "statistics": ["tests/statistics"],
    "sampling": ["tests/sampling", "tests/false_satisfaction/test_rounds.py", "tests/judging/test_validity.py"],
    "false_satisfaction": ["tests/false_satisfaction", "tests/sampling"],
    "judging": ["tests/judging"],
    "runner": ["tests/runner"],
}
SWAPPED = "Lt LtE, Gt GtE, Eq NotEq, Is IsNot, In NotIn, And Or, Add Sub, Mult Div, BitAnd BitOr, FloorDiv Mod"
PAIRS = [[getattr(ast, name) for name in pair.split()] for pair in SWAPPED.split(", ")]
OTHER = {one: other for a, b in PAIRS for one, other in ((a, b), (b, a))} | {ast.Pow: ast.Mult}


def changed(node: ast.AST) -> ast.AST | None:
    """The node with a fault in it; None where it takes none."""
    match node:
        case ast.Compare(left, [op, *ops], right):
            return ast.Compare(left, [OTHER[type(op)](), *ops], right)
        case ast.BinOp(left, op, right) if type(op) in OTHER and "None" not in (ast.unparse(left), ast.unparse(right)):
            return ast.BinOp(left, OTHER[type(op)](), right)
        case ast.BoolOp(op, values):
            return ast.BoolOp(OTHER[type(op)](), values)
        case ast.UnaryOp(ast.Not() | ast.USub() | ast.Invert(), operand):
            return operand
        case ast.Constant(bool(value)):
            return ast.Constant(not value)
        case ast.Constant(int(value) | float(value)):
            return ast.Constant(value + 1)
        case ast.Return(value) if value is not None:
            return ast.Return(ast.Constant(None))
        case ast.Call(function, [ast.expr() as first, ast.expr() as second, *rest], keywords):
            return ast.Call(function, [second, first, *rest], keywords)
    return None


def places(node: ast.AST) -> Iterator[tuple[ast.AST, str, int | None, ast.AST]]:
    """Where code can be changed: a node, its field, the place in that, and what is there."""
    for name, value in ast.iter_fields(node) if getattr(node, "arg", None) != "strict" else ():
        for at, child in enumerate(value) if isinstance(value, list) else [(None, value)]:
            if isinstance(child, ast.AST) and name not in ("annotation", "returns", "decorator_list"):
                if changed(child) is not None:
                    yield node, name, at, child
                yield from places(child)


def mutants(folder: Path, number: int, seed: str) -> Iterator[tuple[Path, str, str]]:
    """Draw mutants of the modules in a folder, in their order: path, what is changed, and the module with the fault."""
    trees: dict[Path, Any] = {path: ast.parse(path.read_text("utf-8")) for path in sorted(folder.rglob("*.py"))}
    everywhere = [(path, *place) for path, tree in trees.items() for place in places(tree)]
    for at in sorted(random.Random(seed).sample(range(len(everywhere)), min(number, len(everywhere)))):
        path, node, name, place, child = everywhere[at]
        before, fault = getattr(node, name), changed(child)
        setattr(node, name, fault if place is None else [*before[:place], fault, *before[place + 1 :]])
        words = " -> ".join(" ".join(ast.unparse(one).split())[:70] for one in (child, fault))
        yield path, f"{child.lineno}: {words}", ast.unparse(ast.fix_missing_locations(trees[path]))
        setattr(node, name, before)


def run_tests(tree: Path, names: list[str]) -> None:
    """End this process as the tests of the tree end."""
    os.chdir(tree)
    sys.path.insert(0, str(tree))
    os.environ |= {"PYTHONPATH": str(tree), "OMP_NUM_THREADS": "1"}
    sys.stdout = sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    import pytest

    os._exit(int(pytest.main(["-x", "-q", "-n", "0", "-p", "no:cacheprovider", "--doctest-modules", *names])))


def main() -> None:
    """Print what survives, and a line for each room."""
    parser = argparse.ArgumentParser()
    parser.add_argument("rooms", nargs="*", metavar="ROOM", help=f"of {', '.join(TESTS)}")
    for option, default in (("number", 40), ("seed", 0), ("limit", 240)):
        parser.add_argument(f"--{option}", type=int, default=default)
    chosen, fork = parser.parse_args(), get_context("fork").Process
    for library in ("pandas", "scipy.stats", "sqlmodel", "hypothesis", "statsmodels.api", "pytest"):
        __import__(library)
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "tree"
        for name in ("audit", "tests"):
            shutil.copytree(ROOT / name, tree / name, ignore=shutil.ignore_patterns("__pycache__"))
        for name in ("data", "docs", "app.py", "pyproject.toml", "README.md", "CHANGELOG.md"):
            (tree / name).symlink_to(ROOT / name)
        (tree.parent / "shared").symlink_to(ROOT.parent / "shared")  # data of published studies, where they are here
        for room in chosen.rooms or TESTS:
            outcomes = []
            for path, what, text in mutants(tree / "audit" / room, chosen.number, f"{chosen.seed} {room}"):
                before, name = path.read_text("utf-8"), str(path.relative_to(tree))
                path.write_text(text, "utf-8")
                (process := fork(target=run_tests, args=(tree, [name, *TESTS[room]]))).start()
                process.join(chosen.limit)
                outcomes.append(process.is_alive() or process.exitcode != 0)
                process.kill()
                path.write_text(before, "utf-8")
                if not outcomes[-1]:
                    print(f"{name}:{what}", flush=True)
            print(f"{room}: {sum(outcomes)} of {len(outcomes)} are killed", flush=True)


if __name__ == "__main__":
    main()
