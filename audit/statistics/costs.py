"""What judging costs: questions times people times the pace of one answer."""

from dataclasses import dataclass

from audit.errors import AuditError


@dataclass(frozen=True, slots=True)
class Cost:
    """Work in answers, hours of people and money; None where no pace or no price was given."""

    answers: int
    hours: float | None
    price: float | None


def cost(questions: int, annotators: int = 2, pace: float | None = None, price_per_hour: float | None = None) -> Cost:
    """The cost of `questions` that `annotators` people answer each, at `pace` seconds an answer.

    `price_per_hour` is in any currency; the price has the same. Adjudication is not in it: how many questions will be
    disputed is not known before. Raises AuditError on a negative count, pace or price, and on a price without a pace.

    >>> cost(1200, annotators=2, pace=6, price_per_hour=20)
    Cost(answers=2400, hours=4.0, price=80.0)
    """
    if questions < 0:
        raise AuditError(f"{questions} questions are impossible; a count is 0 or more")
    if annotators < 1:
        raise AuditError(f"{annotators} annotators per question are impossible; at least 1 is needed")
    if pace is not None and not 0 < pace < float("inf"):
        raise AuditError(f"a pace of {pace:g} seconds an answer is impossible; it is above 0, for example 6")
    if price_per_hour is not None and not 0 <= price_per_hour < float("inf"):
        raise AuditError(f"a price of {price_per_hour:g} per hour is impossible; it is 0 or more, for example 20")
    if price_per_hour is not None and pace is None:
        raise AuditError("a price per hour needs a pace: say how many seconds an answer takes")
    answers = questions * annotators
    hours = None if pace is None else answers * pace / 3600
    return Cost(answers, hours, None if hours is None or price_per_hour is None else hours * price_per_hour)
