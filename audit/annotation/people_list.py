"""Lists of people to invite: names, and perhaps the role, languages and studies of each, pasted or from a file."""

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import replace

from audit.annotation.accounts import ROLES
from audit.annotation.invitations import Invitee, Terms
from audit.errors import AuditError, BadFile
from audit.files import refuse_bad_rows
from audit.messages import LANGUAGES, catalogue, message

COLUMNS = ("name", "role", "languages", "study")
"""What a list may say of a person. Several languages or studies have `;` between them."""


def people_of(
    text: str, terms: Terms, studies: Mapping[str, Sequence[int]] | None = None, where: str = "list"
) -> list[Invitee]:
    """The people of a list: names alone, one a line; or CSV, or cells of a spreadsheet, with the columns `COLUMNS`.

    The first line may name the columns. `terms` are those of a person of whom the list says nothing else, `studies` the
    ids that each name of a study stands for. Raises BadRow for one wrong line (`where`, line, reason), and BadFile that
    lists the first ten for more, and for columns that there are not.

    >>> [(one.name, one.terms.role) for one in people_of("ann\\nben, adjudicator", Terms())]
    [('ann', 'annotator'), ('ben', 'adjudicator')]
    """
    rows, bad = _cells(text), list[tuple[int, str]]()
    header: Sequence[str] = COLUMNS
    if rows and rows[0][1][0].casefold() in COLUMNS:
        header = [cell.casefold() for cell in rows.pop(0)[1]]
    if "name" not in header or not set(header) <= set(COLUMNS) or len(set(header)) < len(header):
        raise BadFile(message("invitation.list_columns", file=where, columns=COLUMNS))
    roles, people = _roles(), list[Invitee]()
    by_name = {name.casefold(): ids for name, ids in (studies or {}).items()}
    for line, fields in rows:
        try:
            if len(fields) > len(header):
                raise AuditError(message("file.fields", count=len(fields), expected=len(header), names=header))
            row = dict(zip(header, fields, strict=False))
            people.append(Invitee(row.get("name", ""), _terms(row, terms, roles, by_name), line))
        except AuditError as problem:
            bad.append((line, problem.sentence))
    refuse_bad_rows(where, bad, len(rows))
    return people


def _cells(text: str) -> list[tuple[int, list[str]]]:
    """The lines that are not empty, each with its number; cells of a spreadsheet have tabs between them."""
    text = text.replace("，", ",")
    reader = csv.reader(io.StringIO(text, newline=""), delimiter="\t" if "\t" in text else ",")
    rows, line = list[tuple[int, list[str]]](), 1
    for fields in reader:
        if any(field.strip() for field in fields):
            rows.append((line, [field.strip() for field in fields]))
        line = reader.line_num + 1
    return rows


def _roles() -> dict[str, str]:
    """Each spelling of a role, as the app says it in any language."""
    spelled = {role: role for role in ROLES}
    return spelled | {catalogue(code)[f"role.{role}"].casefold(): role for code in LANGUAGES for role in ROLES}


def _terms(
    row: Mapping[str, str], terms: Terms, roles: Mapping[str, str], studies: Mapping[str, Sequence[int]]
) -> Terms:
    if written := row.get("role", ""):
        terms = replace(terms, role=roles.get(written.casefold(), written))
    if written := row.get("languages", ""):
        terms = replace(terms, languages=_parts(written.replace(" ", ";")))
    if written := row.get("study", ""):
        names = [written] if written.casefold() in studies else _parts(written)
        if unknown := [name for name in names if name.casefold() not in studies]:
            raise AuditError(message("invitation.no_study", name=unknown[0][:80], names=sorted(studies)))
        terms = replace(terms, studies=sorted({id for name in names for id in studies[name.casefold()]}))
    return terms


def _parts(written: str) -> list[str]:
    parts = written.replace("|", ";").replace("；", ";").replace("、", ";").split(";")
    return [part.strip() for part in parts if part.strip()]
