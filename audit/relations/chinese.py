"""The seven relations of the study of Chinese systems, each written once for its three tasks.

Source: Jin, Ding, Zhou, "Evaluation of Chinese natural language processing system based on metamorphic testing"
(Mathematics 10(8), 1276, 2022), sections 3.1 and 4. A relation of number N is MRN.1 of similarity, MRN.2 of
summarization and MRN.3 of classification. Section 4.2 prints the relation between summaries as sum(Ts) =
Replace(sum(Tf)), section 5.1 as Replace(sum(Ts)) = sum(Tf). Only the latter can hold where the new word is in the text
already; it is what is checked.
"""

from collections.abc import Callable, Mapping, Sequence

from audit.relations.base import CheckParams, Rewrite, Rewriting, WordsCheck
from audit.relations.carry import Carry, unchanged
from audit.relations.expect import same_interval, same_label, same_text
from audit.relations.registry import register

TASKS: Mapping[str, tuple[int, WordsCheck]] = {
    "similarity": (1, same_interval),
    "summarization": (2, same_text),
    "classification": (3, same_label),
}
"""Tasks of the study, their place in the relations' names, and the check that "consistent outputs" means there."""


def wrong_count(params: Mapping[str, object], name: str) -> str | None:
    """What is wrong with a parameter that says how many things change; None: nothing.

    >>> wrong_count({"words": 0}, "words")
    'words is 0; allowed are whole numbers from 1 to 1000'
    """
    count = params[name]
    fits = isinstance(count, int) and 1 <= count <= 1000
    return None if fits else f"{name} is {count}; allowed are whole numbers from 1 to 1000"


def chinese(
    number: int,
    *,
    family: str,
    tasks: Sequence[str] = tuple(TASKS),
    carry: Carry = unchanged,
    version: str = "1",
    params: Mapping[str, object] | None = None,
    check_params: CheckParams | None = None,
) -> Callable[[Rewrite], Rewrite]:
    """Register the decorated rewriting for these tasks; the first line of its docstring is the summary.

    A rewriting with parameters takes them by name after the texts and the choices.
    """

    def keep(rewrite: Rewrite) -> Rewrite:
        summary = (rewrite.__doc__ or "").strip().splitlines()[0]
        for task in tasks:
            place, check = TASKS[task]
            register(
                Rewriting(
                    task=task,
                    name=f"MR{number}.{place}",
                    family=family,
                    summary=summary,
                    unit="any",
                    carry=carry,
                    languages=("zh",),
                    version=version,
                    params=params or {},
                    check_params=check_params,
                    rewrite=rewrite,
                    check=check,
                )
            )
        return rewrite

    return keep
