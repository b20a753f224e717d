"""Carrying out a plan: run, set up judging, draw, let gold answer. The same as the single commands would do.

Every step can be repeated: a run goes on where it stopped, a draw keeps what was drawn, gold answers nothing twice. So
a plan that was interrupted anywhere is carried out again from its beginning, and ends as if it had not been.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy import Engine

from audit.annotation.settings import change_settings, settings_of
from audit.corpora import get_corpus
from audit.false_satisfaction.questions import queue_length
from audit.judging.gold import Gilded, answer_with_gold
from audit.judging.samples import draw
from audit.runner.executors import Executor
from audit.runner.run import Ran, Watcher, fitting, run
from audit.sampling.draw import Drawn
from audit.studies.plan import SETTINGS, Plan, read_plan
from audit.studies.primary import name_primary, primary_named, resolve

STEPS = ("run", "sample", "gold")
"""What is done, in this order; `gold` only where the plan asks for it."""


@dataclass(frozen=True)
class CarriedOut:
    """What carrying out a plan did."""

    plan: str
    ran: Ran
    drawn: Drawn
    gilded: Gilded | None
    waiting: int
    """Questions of all samples that wait for an answer."""
    audits: int
    """Questions that only audit what relations carry."""

    def as_json(self) -> dict[str, Any]:
        """For `audit study run --json`: the parts are those of `run`, `sample` and `gold`."""
        return {
            "plan": self.plan,
            "run": self.ran.as_json(),
            "sample": asdict(self.drawn),
            "gold": None if self.gilded is None else asdict(self.gilded),
            "waiting": self.waiting,
            "audits": self.audits,
        }


def carry_out(
    engine: Engine,
    plan: Plan,
    executor: Executor,
    *,
    watcher: Watcher | None = None,
    begin: Callable[[str], None] = lambda step: None,
    by: int | None = None,
) -> CarriedOut:
    """Carry out a plan, or go on with it. `begin` hears each step of `STEPS`, `watcher` how far the run is.

    `by` is the account of the manager who asked for it, in whose name settings change and gold answers; with one, the
    plan may name registered corpora and systems only. Raises BadFile where the plan does not hold any more (its corpus
    has other content, a system is not there), NotAllowed, and what the steps raise.
    """
    plan = read_plan({"name": plan.name, **plan.content()}, f"the plan {plan.name!r}", registered_only=by is not None)
    change_settings(engine, by, _new_settings(engine, plan))  # asks for the role before anything is done
    study, sample = plan.study, plan.sample
    corpus = get_corpus(study["corpus"], study["task"], study["unit"], study["language"])
    relations = fitting(corpus, study["relations"], study["document_share"], study["set"])
    begin("run")
    ran = run(
        engine,
        corpus,
        study["systems"],
        relations,
        executor,
        seed=study["seed"],
        limit=study["limit"],
        watcher=watcher,
    )
    begin("sample")
    primary = primary_named(plan.report["primary"], plan.report["primary_relation"])
    named = resolve(engine, primary, ran.study.id) if primary else {}
    drawn = draw(
        engine,
        ran.study.id,
        plan.size(),
        sample["design"],
        sample["seed"],
        plan.judging["annotators"],
        plan.audits(),
        plan.judging["protocol"],
        sample["domain"],
        by=by,
    )
    for one, ids in named.items():
        name_primary(engine, one, ids, by)
    gilded = None
    if plan.judging["gold"]:
        begin("gold")
        gilded = answer_with_gold(engine, by=by)
    return CarriedOut(plan.name, ran, drawn, gilded, *queue_length(engine))


def _new_settings(engine: Engine, plan: Plan) -> dict[str, Any]:
    """Settings of judging that the plan wants and that are not so."""
    with engine.connect() as connection:
        now = asdict(settings_of(connection))
    return {name: plan.judging[name] for name in SETTINGS if plan.judging[name] != now[name]}
