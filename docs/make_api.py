"""Write docs/reference/api.md from the docstrings of what `import audit` offers: python docs/make_api.py"""

import ast
import enum
import functools
import inspect
import re
import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import audit

PAGE = Path(__file__).parent / "reference" / "api.md"
WIDTH = 88
GROUPS = {
    "Run and judge": ["run", "open", "Study"],
    "Results": ["Report", "Comparison", "Estimate", "compare", "rerank"],
    "Agreement": ["agreement", "Agreement"],
    "Relations": ["relation", "equivalent", "different", "stronger", "opinionated", "Verdict", "Outcome"],
    "What there is": ["all_relations", "all_systems", "all_corpora"],
    "Values and errors": ["Input", "Output", "AuditError"],
}
HEAD = """# Python API

What `import audit` offers, from its docstrings. [The notebook](../tutorial/notebook.md) shows most of it at work.
"""


def definition(thing: Any) -> Any:
    """The function or class as it is written: annotations and defaults keep their names."""
    node = ast.parse(textwrap.dedent(inspect.getsource(thing))).body[0]
    if isinstance(node, ast.FunctionDef):
        spread_out(node, inspect.signature(thing).parameters)
    return node


def spread_out(node: ast.FunctionDef, parameters: Mapping[str, inspect.Parameter]) -> None:
    """Put the fields of options (`audit.options.spread`) in the place of the parameters that they are passed in."""
    written = {arg.arg for arg in [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]}
    if "Options" not in ast.unparse(node.args):
        return
    pairs = list(zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True))
    pairs = [(arg, default) for arg, default in pairs if arg.arg in parameters]
    for name, parameter in parameters.items():
        if name in written:
            continue
        annotation = re.sub(r"\b(collections\.abc|typing)\.", "", inspect.formatannotation(parameter.annotation))
        arg = ast.arg(name, ast.parse(annotation, mode="eval").body)
        default = ast.parse(repr(parameter.default), mode="eval").body
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY:
            pairs.append((arg, default))
        else:
            node.args.args.append(arg)
            node.args.defaults.append(default)
    node.args.kwonlyargs, node.args.kw_defaults = [arg for arg, _ in pairs], [default for _, default in pairs]


def call(name: str, node: ast.FunctionDef, *, method: bool) -> str:
    """The signature as it stands in the source, without `self` or `cls`; where it is long, one parameter a line."""
    if method:
        node.args.args.pop(0)
    parts, depth = [""], 0
    for letter in ast.unparse(node.args):
        depth += (letter in "[(") - (letter in "])")
        if letter == "," and not depth:
            parts.append("")
        else:
            parts[-1] += letter
    parts = [re.sub(r"^(\w+: [^=]+)=", r"\1 = ", part.strip()) for part in parts if part.strip()]
    result = f" -> {ast.unparse(node.returns).strip(chr(39))}" if node.returns else ""
    line = f"{name}({', '.join(parts)}){result}"
    return line if len(line) <= WIDTH else f"{name}(\n" + "".join(f"    {part},\n" for part in parts) + f"){result}"


def prose(thing: Any) -> str:
    """The docstring as Markdown: examples become blocks of code."""
    lines, shown, inside = [], inspect.getdoc(thing) or "", False
    for line in shown.splitlines():
        if line.startswith(">>>") and not inside:
            lines.append("```pycon")
            inside = True
        elif inside and not line.strip():
            lines.append("```")
            inside = False
        lines.append(line)
    return "\n".join([*lines, *(["```"] if inside else [])])


def fields(cls: type) -> str:
    """The annotated fields of a class, each with the docstring that follows it in the source."""
    rows, body = [], definition(cls).body
    for node, after in zip(body, [*body[1:], None], strict=True):
        if isinstance(node, ast.AnnAssign) and not ast.unparse(node.target).startswith("_"):
            told = ast.get_docstring(ast.Module([after], [])) if isinstance(after, ast.Expr) else None
            default = f" = {ast.unparse(node.value)}" if node.value else ""
            rows.append(
                f"- `{ast.unparse(node.target)}: {ast.unparse(node.annotation)}{default}`{': ' + told if told else ''}"
            )
    return "\n".join(rows)


def public(name: str) -> str:
    thing = getattr(audit, name)
    parts = [f"### `{name}`"]
    if inspect.isfunction(thing):
        shown = call(f"audit.{name}", definition(thing), method=False)
        return "\n\n".join([*parts, f"```python\n{shown}\n```", prose(thing)])
    parts += [prose(thing)]
    if isinstance(thing, enum.EnumType):
        parts.append("Members: " + ", ".join(f"`{member.name}`" for member in thing) + ".")
    elif listed := fields(thing):
        parts.append(f"Fields:\n\n{listed}")
    for key, value in vars(thing).items():
        if key.startswith("_") or isinstance(thing, enum.EnumType):
            continue
        if isinstance(value, property | functools.cached_property):
            getter = value.fget if isinstance(value, property) else value.func
            parts += [f"#### `{name}.{key}`", prose(getter)]
        elif inspect.isfunction(value) or isinstance(value, classmethod):
            inner = value.__func__ if isinstance(value, classmethod) else value
            owner = name if isinstance(value, classmethod) else ""
            shown = call(f"{owner}.{key}", definition(inner), method=True)
            parts += [f"#### `{name}.{key}`", f"```python\n{shown}\n```", prose(inner)]
    return "\n\n".join(parts)


def page() -> str:
    told = {name for names in GROUPS.values() for name in names}
    missing = sorted(set(audit.__all__) - told - {"__version__"})
    groups = GROUPS | ({"More": missing} if missing else {})
    parts = [HEAD]
    for title, names in groups.items():
        parts.append(f"## {title}\n")
        parts += [public(name) + "\n" for name in names]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(parts))


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
