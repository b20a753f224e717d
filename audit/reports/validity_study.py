"""The validity study's findings: whether follow-ups are sound, by relation, and what violations are then worth.

A follow-up is unsound where its text is invalid by people's ratings, or where its relation does not hold in the group.

`audit validity report` is this document; the report's notes name relations whose follow-ups are often invalid.
"""

import math
import textwrap
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Literal, cast

import numpy as np
import pandas as pd
from sqlalchemy import Connection, Engine, select

import audit
from audit.annotation.accounts import MODEL, ROLES
from audit.annotation.answers import SCALES, UNSURE, is_counted
from audit.annotation.questions import HOLDS, RATINGS
from audit.annotation.scales import drawn_members
from audit.errors import AuditError
from audit.false_satisfaction.cells import source_clusters
from audit.false_satisfaction.questions import contents, group_answers
from audit.messages import ENGLISH, message, phrase, said
from audit.relations import Outcome, name_order
from audit.reports.document import HoldsShare, ScaleEntry, ValidityCell, ValidityEntry
from audit.reports.documents import CoefficientEntry, ScaleAgreement, ValidityDocument
from audit.reports.tables import aligned
from audit.reports.words import UNKNOWN, count, percent, signature_line
from audit.statistics.agreement import Ratings, suite
from audit.statistics.intervals import clustered_rate
from audit.statistics.validity import (
    DROP,
    GOOD,
    LEAST,
    LOW_SHARE,
    OutcomePairs,
    is_valid,
    paired_difference,
    violations_worth,
)
from audit.store import Checked, checked, need_study, rows_among, snapshot
from audit.store.bulk import LIMIT
from audit.store.core import annotator, judgement, question, relation, study, system, validity_study, verdict
from audit.tasks import wording

By = Literal["people", "models", "all"]
"""Whose ratings count."""
WIDTH = 100
_NO_PEOPLE: tuple[By, By] = ("people", "models")


@dataclass(frozen=True, eq=False)
class ValidityRecord:
    """What was drawn and how it was rated.

    `pairs` has a row a drawn pair: study, task, relation_id, relation, group_id, source and follow_up (inputs), cluster
    and holds (1 or 0: whether the relation holds in the group, NaN while nobody has settled that). `ratings` has a row
    a rating that counts: input_id, scale, annotator, model (bool), rating (1 to 5, or unsure).
    `verdicts` a row a drawn group and system: group_id, system_id, violated (bool). `cells` a row a cell: study,
    relation_id, system_id, system, satisfied, violated. `wanted` is how many people rate each text, by study.
    """

    pairs: pd.DataFrame
    ratings: pd.DataFrame
    verdicts: pd.DataFrame
    cells: pd.DataFrame
    wanted: Mapping[int, int]

    @property
    def is_judged(self) -> bool:
        """Whether somebody has rated a text, or a question about a group is settled."""
        return bool(len(self.ratings)) or bool(self.pairs["holds"].notna().any())


def read_validity(
    connection: Connection, studies: Collection[int] | None = None, checks: Checked | None = None
) -> ValidityRecord | None:
    """All that a validity report needs, of these studies or of all; None where no pairs were drawn.

    `checks` are those of the studies, where they were read before.
    """
    asked = select(validity_study.c.study_id, validity_study.c.annotators).order_by(validity_study.c.study_id)
    wanted = {int(id): int(number) for id, number in connection.execute(asked) if studies is None or id in studies}
    if not wanted:
        return None
    tasks = dict(connection.execute(select(study.c.id, study.c.task)).all())
    names = dict(connection.execute(select(relation.c.id, relation.c.name)).all())
    members = pd.DataFrame(
        drawn_members(connection, list(wanted)),
        columns=["study_id", "relation_id", "rank", "group_id", "role", "input_id"],
    )
    key = ["study_id", "relation_id", "rank", "group_id"]
    pairs = members.pivot(index=key, columns="role", values="input_id").reindex(columns=["source", "follow_up"])
    pairs = pairs.reset_index().rename(columns={"study_id": "study"})
    pairs["task"], pairs["relation"] = pairs["study"].map(tasks), pairs["relation_id"].map(names)
    sources = (pairs["group_id"] // LIMIT**2).to_numpy(np.int64)
    pairs["cluster"] = source_clusters(connection, wanted).of(sources)
    answers, content_of = group_answers(connection), contents(connection, set(pairs["group_id"].tolist()))
    known = {id: answers.get(content) for id, content in content_of.items()}
    pairs["holds"] = [
        math.nan if (answer := known.get(id)) is None else float(HOLDS in answer.allowed) for id in pairs["group_id"]
    ]
    of_texts = (
        select(question.c.input_id, question.c.kind, annotator.c.name, annotator.c.role, judgement.c.answer)
        .join(judgement, judgement.c.question_id == question.c.id)
        .join(annotator, annotator.c.id == judgement.c.annotator_id)
        .where(question.c.kind.in_(SCALES), judgement.c.round == 1, is_counted(judgement))
        .where(annotator.c.role.in_((*ROLES, MODEL)))
        .order_by(judgement.c.id)
    )
    ids = sorted({*pairs["source"].tolist(), *pairs["follow_up"].tolist()})
    ratings = pd.DataFrame(
        list(rows_among(connection, of_texts, question.c.input_id, ids)),
        columns=["input_id", "scale", "annotator", "role", "rating"],
    )
    ratings["model"] = ratings.pop("role") == MODEL
    checks = checks or checked(connection, list(wanted))
    return ValidityRecord(pairs, ratings, *_outcomes(connection, pairs, checks), wanted)


def _outcomes(connection: Connection, pairs: pd.DataFrame, checks: Checked) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The frames `verdicts` and `cells` of a `ValidityRecord`."""
    both = (int(Outcome.SATISFIED), int(Outcome.VIOLATED))
    query = select(verdict.c.group_id, verdict.c.system_id, verdict.c.outcome).where(verdict.c.outcome.in_(both))
    rows = rows_among(connection, query, verdict.c.group_id, sorted(pairs["group_id"].tolist()))
    verdicts = pd.DataFrame(
        [(group, id, outcome == both[1]) for group, id, outcome in rows], columns=["group_id", "system_id", "violated"]
    )
    systems = dict(connection.execute(select(system.c.id, system.c.name)).all())
    cells = []
    for id, relation_id in sorted(set(zip(pairs["study"].tolist(), pairs["relation_id"].tolist(), strict=True))):
        outcome = checks.outcome[(checks.study == id) & (checks.relation == relation_id)]
        for column, system_id in enumerate(checks.systems):
            satisfied, violated = (int((outcome[:, column] == which).sum()) for which in both)
            if satisfied + violated:
                cells.append((id, relation_id, system_id, systems[system_id], satisfied, violated))
    columns = ["study", "relation_id", "system_id", "system", "satisfied", "violated"]
    return verdicts, pd.DataFrame(cells, columns=columns)


def validity_report(
    database: Engine | Connection, study: int | None = None, by: By | None = None, confidence: float = 0.95
) -> ValidityDocument:
    """The document of the validity study, of one study or of all; `by` whose ratings count.

    By default people's, or models' where no person has rated anything. Raises AuditError for a study that is not there,
    and where nothing was drawn or rated by these.
    """
    with snapshot(database) as connection:
        if study is not None:
            need_study(connection, study)
        record = read_validity(connection, None if study is None else [study])
    if record is None:
        raise AuditError(message("validity.none_drawn"))
    by = by or whose_ratings(record)
    rated = ratings_of(record, by)
    if rated.empty and not record.pairs["holds"].notna().any():
        raise AuditError(message(f"validity.none_rated_{by}"))
    entries = validity_entries(record, by, confidence)
    raters = rated.groupby(["annotator", "model"], sort=True).size()
    return {
        "by": by,
        "raters": [
            {"name": str(name), "model": bool(model), "ratings": int(number)}
            for (name, model), number in raters.items()
        ],
        "unsure": int((rated["rating"] == UNSURE).sum()),
        "relations": entries,
        "agreement": [_agreement(rated[rated["scale"] == scale], scale, record, confidence) for scale in SCALES],
        "notes": [*_notes(record, rated, by), *low_notes(entries)],
        "signature": {
            "audit": audit.__version__,
            "by": by,
            "studies": sorted(record.wanted),
            "valid": f"both scales >= {GOOD:g}, or at most {DROP:g} below the source",
            "differences": "t over clusters with two imagined pairs",
            "shares": "exact interval at the effective size of clusters",
            "confidence": confidence,
        },
    }


def whose_ratings(record: ValidityRecord) -> By:
    """Whose ratings count where nobody says it: people's, or models' where no person has rated anything."""
    return _NO_PEOPLE[bool(len(record.ratings)) and bool(record.ratings["model"].all())]


def ratings_of(record: ValidityRecord, by: By) -> pd.DataFrame:
    """The ratings of people, of models, or all."""
    return record.ratings if by == "all" else record.ratings[record.ratings["model"] == (by == "models")]


def validity_entries(record: ValidityRecord, by: By, confidence: float = 0.95) -> list[ValidityEntry]:
    """An entry for each relation of each study of which pairs were drawn, in their order."""
    rated = ratings_of(record, by)
    numbers = rated[rated["rating"] != UNSURE].assign(rating=lambda frame: frame["rating"].astype(float))
    scores = numbers.pivot_table(index="input_id", columns="scale", values="rating").reindex(columns=list(SCALES))
    entries = []
    for (study_id, relation_id), pairs in record.pairs.groupby(["study", "relation_id"], sort=True):
        source, follow_up = (scores.reindex(pairs[role]).to_numpy(float) for role in ("source", "follow_up"))
        cells = record.cells[(record.cells["study"] == study_id) & (record.cells["relation_id"] == relation_id)]
        known = ~np.isnan(np.hstack([source, follow_up])).any(axis=1)
        valid, cluster = is_valid(source[known], follow_up[known]), pairs["cluster"].to_numpy(np.int64)
        share = clustered_rate(*_by_cluster(cluster[known], valid), confidence)
        judged = pairs["holds"].notna().to_numpy()
        broken = pairs["holds"].to_numpy()[judged] == 0
        of_groups = clustered_rate(*_by_cluster(cluster[judged], broken), confidence)
        unsound = {
            by: pd.DataFrame({"group_id": pairs["group_id"].to_numpy()[of], "cluster": cluster[of], "unsound": flags})
            for by, of, flags in (("text", known, ~valid), ("relation", judged, broken))
        }
        entries.append(
            ValidityEntry(
                study=int(study_id),
                task=str(pairs["task"].iloc[0]),
                relation=str(pairs["relation"].iloc[0]),
                by=by,
                pairs=len(pairs),
                rated=int(known.sum()),
                scales=[
                    _scale(name, source[:, at], follow_up[:, at], cluster, confidence) for at, name in enumerate(SCALES)
                ],
                valid=int(valid.sum()),
                share=share.rate,
                low=share.low,
                high=share.high,
                holds=HoldsShare(
                    judged=int(judged.sum()),
                    broken=int(broken.sum()),
                    rate=of_groups.rate,
                    low=of_groups.low,
                    high=of_groups.high,
                ),
                cells=[
                    cell
                    for by, flags in unsound.items()
                    if len(flags) or by == "text"
                    for cell in _cells(cells, cast(Literal["text", "relation"], by), flags, record.verdicts, confidence)
                ],
            )
        )
    return sorted(entries, key=lambda entry: (entry["study"], name_order(entry["relation"])))


def _by_cluster(cluster: np.ndarray, hit: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    if not len(cluster):
        return np.zeros(0), np.zeros(0)
    _, code = np.unique(cluster, return_inverse=True)
    return np.bincount(code, weights=hit), np.bincount(code)


def _scale(name: str, source: np.ndarray, follow_up: np.ndarray, cluster: np.ndarray, confidence: float) -> ScaleEntry:
    """What pairs say on one scale; (pairs,) scores, NaN where a text has none."""
    known = ~(np.isnan(source) | np.isnan(follow_up))
    source, follow_up, cluster = source[known], follow_up[known], cluster[known]
    difference = paired_difference(follow_up - source, cluster, confidence)
    good = clustered_rate(*_by_cluster(cluster, follow_up >= GOOD - 1e-9), confidence)
    return {
        "scale": name,
        "pairs": int(known.sum()),
        "original": float(source.mean()) if known.any() else None,
        "follow_up": float(follow_up.mean()) if known.any() else None,
        "difference": difference.rate if difference else None,
        "low": difference.low if difference else None,
        "high": difference.high if difference else None,
        "good": good.rate,
        "good_low": good.low,
        "good_high": good.high,
    }


def _cells(
    cells: pd.DataFrame,
    by: Literal["text", "relation"],
    unsound: pd.DataFrame,
    verdicts: pd.DataFrame,
    confidence: float,
) -> Iterator[ValidityCell]:
    """What violations of each system are worth, by the judged pairs of the groups that it violates and satisfies."""
    outcomes = unsound.merge(verdicts, on="group_id")
    for cell in cells.sort_values("system").itertuples():
        of_system = outcomes[outcomes["system_id"] == cell.system_id]
        satisfied, violated = (
            OutcomePairs(groups, part["unsound"].to_numpy(bool), part["cluster"].to_numpy(np.int64))
            for groups, part in (
                (int(cell.satisfied), of_system[~of_system["violated"].astype(bool)]),
                (int(cell.violated), of_system[of_system["violated"].astype(bool)]),
            )
        )
        worth = violations_worth(satisfied, violated, confidence)
        yield {
            "system": str(cell.system),
            "by": by,
            "asked_satisfied": len(satisfied.unsound),
            "asked_violated": len(violated.unsound),
            "unsound_violated": int(violated.unsound.sum()),
            "unsound": _known(worth.unsound.rate),
            "unsound_low": worth.unsound.low if violated.groups else None,
            "unsound_high": worth.unsound.high if violated.groups else None,
            "vr_observed": violated.groups / (satisfied.groups + violated.groups),
            "vr_sound": _known(worth.rate.rate),
            "vr_sound_low": worth.rate.low,
            "vr_sound_high": worth.rate.high,
        }


def _known(number: float) -> float | None:
    return None if math.isnan(number) else number


def _agreement(rated: pd.DataFrame, scale: str, record: ValidityRecord, confidence: float) -> ScaleAgreement:
    """Alpha (ordinal) and the weighted kappa (quadratic) of the raters of one scale, over texts."""
    numbers = rated[rated["rating"] != UNSURE]
    coefficients: list[CoefficientEntry] = []
    if len(numbers) and numbers["annotator"].nunique() > 1:
        # Texts of one source go together: the source's own text, and what was made of it.
        pairs = record.pairs
        of_text = {
            **dict(zip(pairs["follow_up"], pairs["cluster"], strict=True)),
            **dict(zip(pairs["source"], pairs["cluster"], strict=True)),
        }
        frame = pd.DataFrame(
            {
                "item": numbers["input_id"],
                "annotator": numbers["annotator"],
                "label": numbers["rating"],
                "cluster": numbers["input_id"].map(of_text),
            }
        )
        ratings = Ratings.of(frame, RATINGS)
        wanted = {(None, "percent_agreement"), ("ordinal", "krippendorff_alpha")}
        wanted |= {("quadratic", "cohen_kappa"), ("quadratic", "fleiss_kappa")}
        found = {
            (one.level, one.name): one
            for level in ("ordinal", "quadratic")
            for one in suite(ratings, level, confidence)
        }
        coefficients = [cast(CoefficientEntry, asdict(one)) for key, one in found.items() if key in wanted]
    return {"scale": scale, "coefficients": coefficients}


def _notes(record: ValidityRecord, rated: pd.DataFrame, by: By) -> Iterator[str]:
    """Who rated, and what is missing."""
    models = rated.loc[rated["model"], "annotator"].nunique()
    people = rated.loc[~rated["model"], "annotator"].nunique()
    if by == "all" and models and people:
        yield message("validity.by_both", people=people, models=models)
    elif models:
        yield message("validity.by_models", count=models)
    if by == "people" and (others := record.ratings.loc[record.ratings["model"], "annotator"].nunique()):
        yield message("validity.models_left_out", count=others)
    texts = {*record.pairs["source"], *record.pairs["follow_up"]}
    most = max(record.wanted.values())
    numbers = rated.groupby(["input_id", "scale"]).size()
    if few := len(texts) * len(SCALES) - int((numbers >= most).sum()):
        yield message("validity.few_ratings", count=few, whole=len(texts) * len(SCALES), wanted=most)


def low_notes(entries: Sequence[ValidityEntry]) -> list[str]:
    """A warning for each relation whose share of valid follow-ups is low, whatever the drawn ones happen to be."""
    return [
        message(
            "validity.low",
            by=message(f"validity.rated_{entry['by']}"),
            relation=entry["relation"],
            valid=entry["valid"],
            rated=entry["rated"],
            high=100 * entry["high"],
            limit=100 * LOW_SHARE,
        )
        for entry in entries
        if entry["high"] is not None and entry["high"] < LOW_SHARE
    ]


def validity_lines(document: ValidityDocument, language: str = ENGLISH) -> list[str]:
    """The document as lines of text: the tables of originals and follow-ups, of violations, and of agreement."""
    say = partial(phrase, language)
    raters = [
        f"{one['name']} ({say('validity.model') if one['model'] else say('validity.person')}, {count(one['ratings'])})"
        for one in document["raters"]
    ]
    lines = textwrap.wrap(say("validity.raters", raters=", ".join(raters), unsure=count(document["unsure"])), WIDTH)
    for title, heads, rows, names in validity_tables(document["relations"], language):
        lines += ["", *textwrap.wrap(title, WIDTH), "", *aligned(heads, rows, names, WIDTH)]
    lines.append("")
    for part in document["agreement"]:
        values = [_coefficient(one, language) for one in part["coefficients"]]
        scale = say(f"scale.name_{part['scale']}")
        lines += textwrap.wrap(f"{scale}: {'; '.join(values) or say('validity.one_rater')}", WIDTH)
    lines.append("")
    for note in document["notes"]:
        lines += textwrap.wrap(f"Note: {said(note, language)}", WIDTH, subsequent_indent="  ")
    return [*lines, "", "signature " + signature_line(document["signature"])]


Table = tuple[str, list[str], list[list[str]], int]
"""What is above a table, its headings, its rows, and how many of its first columns are names."""


def validity_tables(entries: Sequence[ValidityEntry], language: str = ENGLISH) -> Iterator[Table]:
    """For each study the ratings by relation, as the tables of TextFlint's human evaluation have them, and what
    violations are worth where pairs of violated groups were rated."""
    say = partial(phrase, language)
    for study_id in dict.fromkeys(entry["study"] for entry in entries):
        of_study = [entry for entry in entries if entry["study"] == study_id]
        title = say(
            "validity.table",
            study=study_id,
            task=wording(of_study[0]["task"], language).name,
            by=say(f"validity.rated_{of_study[0]['by']}"),
        )
        with_groups = any(entry["holds"]["judged"] for entry in of_study)
        heads = [*_heads(say), *([say("validity.broken")] if with_groups else [])]
        yield title, heads, [_row(entry, with_groups) for entry in of_study], 1
        for by in ("text", "relation"):
            rows = [
                _cell_row(entry["relation"], cell)
                for entry in of_study
                for cell in entry["cells"]
                if cell["by"] == by and cell["asked_violated"]
            ]
            if rows:
                names = ("relation", "system", "vr", "of_violated", "unsound", "vr_sound")
                title = say(f"validity.violations_{by}", least=LEAST)
                yield title, [say(f"validity.{name}") for name in names], rows, 2


def _heads(say: "partial[str]") -> list[str]:
    scales = [name for scale in reversed(SCALES) for name in (f"{scale}_original", f"{scale}_follow_up", "difference")]
    return [say(f"validity.{name}") for name in ("relation", "rated", *scales, "valid")]


def _row(entry: ValidityEntry, with_groups: bool) -> list[str]:
    row = [entry["relation"], f"{count(entry['rated'])}/{count(entry['pairs'])}"]
    for part in reversed(entry["scales"]):
        row += [_points(part["original"]), _points(part["follow_up"]), _difference(part)]
    row.append(_share(entry["share"], entry["low"], entry["high"]))
    holds = entry["holds"]
    return [*row, *([_share(holds["rate"], holds["low"], holds["high"])] if with_groups else [])]


def _cell_row(relation: str, cell: ValidityCell) -> list[str]:
    return [
        relation,
        cell["system"],
        percent(cell["vr_observed"]),
        f"{count(cell['unsound_violated'])}/{count(cell['asked_violated'])}",
        _share(cell["unsound"], cell["unsound_low"], cell["unsound_high"]),
        _share(cell["vr_sound"], cell["vr_sound_low"], cell["vr_sound_high"]),
    ]


def _points(number: float | None) -> str:
    return UNKNOWN if number is None else f"{number:.2f}"


def _difference(part: ScaleEntry) -> str:
    if part["difference"] is None or part["low"] is None or part["high"] is None:
        return UNKNOWN
    return f"{part['difference']:+.2f} [{part['low']:+.2f}, {part['high']:+.2f}]"


def _share(share: float | None, low: float | None, high: float | None) -> str:
    """Per cent with its interval; bounds alone where there is no estimate."""
    if low is None or high is None:
        return UNKNOWN
    return f"{percent(share) if share is not None else ''} [{percent(low)}–{percent(high)}]".strip()


def _coefficient(entry: CoefficientEntry, language: str) -> str:
    name = phrase(language, f"coefficient.{entry['name']}")
    if entry["level"] is not None:
        level = phrase(language, f"validity.{entry['level']}")
        name += f" ({level})"
    if entry["estimate"] is None:
        return f"{name}: {said(entry['note'] or UNKNOWN, language)}"
    if entry["low"] is None or entry["high"] is None:
        return f"{name} {entry['estimate']:.3f}"
    return f"{name} {entry['estimate']:.3f} [{entry['low']:.3f}, {entry['high']:.3f}]"
