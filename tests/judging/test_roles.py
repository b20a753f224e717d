"""Every function of the rooms `annotation` and `judging` that takes an engine asks for the role itself.

The functions are found, not listed: one that is added later is tried with a disabled account and as an annotator too.
Functions that take a connection are parts of a transaction in which another one has asked.
"""

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import audit.judging
from audit.errors import NotAllowed
from audit.judging import accounts, invitations, judges, labels, samples, sign_in, unit
from audit.judging.accounts import Account, add_account
from audit.reports import ratings
from audit.store import open_store

FOR_ANNOTATORS = {
    "next_question", "queue_of", "judge", "undo", "undone", "skip", "flag", "guideline_before",
    "judging_mode", "completion_code", "train", "elsewhere", "own_account", "own_password_link",
    "make_token", "end_tokens", "login_of", "end_logins", "last_block",
    "own_answers", "own_answer", "own_labels", "change", "flag_answer",
}  # fmt: skip
"""What an annotator's account may call, for its own work; a function that is not here must refuse it."""
WITHOUT_ACCOUNT = {
    accounts.list_accounts: "names and roles, for the command line",
    sign_in.log_in: "it is how an account comes in, by its password",
    sign_in.account_of_claims: "it is how an account comes in, by its provider",
    sign_in.account_of: "needs the login itself; it is how the app asks who is there",
    sign_in.bearer_of: "needs the token itself; it is how the API asks who is there",
    sign_in.sign: "what is signed is decided by those that are tried here",
    sign_in.unsign: "needs what was signed itself",
    accounts.reading_as: "it is what asks for the role, for those that are tried here",
    accounts.reading_as_manager: "it is what asks for the role, for those that are tried here",
    accounts.writing_as_manager: "it is what asks for the role, for those that are tried here",
    accounts.changing_accounts: "it is what asks for the role, for those that are tried here",
    invitations.first_account_link: "for whoever starts the app; nothing where a manager can log in",
    invitations.link_of: "needs the secret of the link itself",
    invitations.use: "needs the secret of the link itself; it is how an account is made by its owner",
    unit.unit_of_work: "it is what asks for the role, in the transaction of those that are tried here",
    samples.drawing: "it is what asks for the role, for those that are tried here",
    unit.rebuild: "writes what follows from the history, for the command line",
    labels.import_labels: "for whoever has the database itself, from the command line and the library",
    judges.ask_judge: "stores no vote; for whoever has the database itself, from the command line",
    ratings.attributed: "which relations and systems a question serves: for the command line, nobody's answers",
    ratings.opinions: "for the command line and the library, of whoever has the database itself",
}
PASSWORD = "long enough"


def functions() -> Iterator[Callable[..., Any]]:
    """Public functions of the rooms whose first parameter is an engine."""
    names = [f"audit.judging.{module.name}" for module in pkgutil.iter_modules(audit.judging.__path__)]
    names += ["audit.reports.ratings", "audit.reports.quality"]
    for loaded in map(importlib.import_module, names):
        for name, value in vars(loaded).items():
            if inspect.isfunction(value) and value.__module__ == loaded.__name__ and not name.startswith("_"):
                parameters = list(inspect.signature(value).parameters)
                if parameters and parameters[0] == "engine":
                    yield value


FUNCTIONS = [one for one in functions() if one not in WITHOUT_ACCOUNT]


def account_parameter(function: Callable[..., Any]) -> str | None:
    return next((name for name in ("account_id", "by") if name in inspect.signature(function).parameters), None)


def call(function: Callable[..., Any], engine: Any, account_id: int) -> Any:
    """Call a function with this account and something for every other parameter that it needs."""
    arguments: dict[str, Any] = {}
    for name, parameter in list(inspect.signature(function).parameters.items())[1:]:
        if name == account_parameter(function):
            arguments[name] = account_id
        elif parameter.default is inspect.Parameter.empty:
            arguments[name] = {"name": "ben", "role": "manager", "password": PASSWORD, "answer": "positive"}.get(
                name,
                invitations.Terms()
                if name == "terms"
                else 1
                if parameter.annotation in (int, "int")
                else ["positive"]
                if name == "allowed"
                else "x",
            )
    return function(engine, **arguments)


@pytest.fixture
def world(tmp_path) -> tuple[Any, dict[str, Account]]:
    engine = open_store(str(tmp_path / "audit.db"), create=True)
    roles = {"ann": "annotator", "ben": "annotator", "judge": "adjudicator", "boss": "manager", "gone": "manager"}
    people = {name: add_account(engine, name, role, PASSWORD) for name, role in roles.items()}
    accounts.disable_account(engine, "gone")
    return engine, people


def test_the_walk_finds_what_there_is_and_each_says_for_which_account() -> None:
    names = {function.__name__ for function in FUNCTIONS}
    assert {"judge", "undo", "disputes", "adjudicate", "overview", "stored_ratings", "answer_with_gold"} <= names
    assert {"add_account", "set_password", "disable_account", "enable_account", "account_details"} <= names
    assert names >= FOR_ANNOTATORS
    assert not [function.__name__ for function in FUNCTIONS if not account_parameter(function)], "see WITHOUT_ACCOUNT"


@pytest.mark.slow
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
@pytest.mark.parametrize("who", ["gone", "nobody"])
def test_a_disabled_account_and_one_that_is_none_change_and_see_nothing(world, content, function, who) -> None:
    engine, people = world
    id = people[who].id if who in people else 999
    before = content(engine)
    with pytest.raises(NotAllowed, match="does not exist or is disabled"):
        call(function, engine, id)
    assert content(engine) == before


@pytest.mark.slow
@pytest.mark.parametrize(
    "function",
    [function for function in FUNCTIONS if function.__name__ not in FOR_ANNOTATORS],
    ids=lambda function: function.__name__,
)
def test_an_annotator_changes_and_sees_nothing_of_others(world, content, function) -> None:
    engine, people = world
    before = content(engine)
    with pytest.raises(NotAllowed, match="ann has the role annotator"):
        call(function, engine, people["ann"].id)
    assert content(engine) == before
