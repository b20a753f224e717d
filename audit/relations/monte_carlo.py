"""MCMT of the task `translation`: directly, and through a third language drawn at random.

Source: Pesu, MacRae, Barnes, Wang, Yan, "A Monte-Carlo approach to automatic metamorphic testing of machine
translation software" (2017), algorithm 1 (its third line translates the intermediate text "to l"; the text around it,
and its figure 1, translate it into the target language, as here).
"""

import random
from collections.abc import Mapping

from audit.language.iso639 import is_code
from audit.relations.agreeing import THRESHOLD, agreement, wrong_score
from audit.relations.base import ANY, Member, Outcome, Source, Steps, Verdict
from audit.relations.carry import nothing
from audit.relations.registry import chained
from audit.tasks import Input

PIVOTS = "en,zh,ja,ko,fr,ru,pt,es,sv,ca"
"""The study's nine languages, and Catalan, which free engines have."""

_NONE = Verdict(Outcome.INAPPLICABLE, reason="the system has no way through any of the pivots")


def _wrong(params: Mapping[str, object]) -> str | None:
    named = pivots_of(str(params["pivots"]))
    if bad := next((code for code in named if not is_code(code)), None):
        return f"pivots have {bad[:40]!r}, which is no code of a language; expected codes with commas, as in {PIVOTS}"
    return wrong_score(params) if named else f"pivots are empty; expected codes of languages, as in {PIVOTS}"


def pivots_of(text: str) -> list[str]:
    """The languages of the parameter `pivots`, each once.

    >>> pivots_of("fr, es,fr")
    ['fr', 'es']
    """
    return list(dict.fromkeys(code for part in text.split(",") if (code := part.strip())))


@chained(
    "MCMT",
    task="translation",
    family="Monte-Carlo pivots",
    unit="any",
    carry=nothing,
    languages=ANY,
    params={"pivots": PIVOTS, "score": "consistency", "threshold": THRESHOLD},
    check_params=_wrong,
)
def monte_carlo(
    source: Source,
    choices: random.Random,
    *,
    pivots: str = PIVOTS,
    score: str = "consistency",
    threshold: float = THRESHOLD,
) -> Steps:
    """Translate directly, and through a third language drawn at random; the two translations agree.

    The pivot is none of source and target language. A system seldom has every pair of languages, and of recorded
    outputs there is one way or a few: so pivots are tried in a random order, each as probes, and the first whose two
    translations are there is the group's. They are its links then, which costs nothing: outputs are stored. So a pivot
    is drawn evenly among those that the system has. The reason of the verdict says which it was.
    """
    given, target = source.input, source.input.target
    if target is None:
        return None
    (direct,) = yield [Member("source", given)]
    through = [code for code in pivots_of(pivots) if code not in (given.languages[0], target)]
    for pivot in choices.sample(through, len(through)):
        first = Input.of(given.text, language=given.languages[0], target=pivot)
        (between,) = yield [Member("probe", first)]
        if between.absent:
            continue
        second = Input.of(str(between.text), language=pivot, target=target)
        (indirect,) = yield [Member("probe", second)]
        if indirect.absent:
            continue
        yield [Member("link", first), Member("link", second)]
        return agreement(str(direct.text), str(indirect.text), score, threshold, f"through {pivot}")
    return _NONE
