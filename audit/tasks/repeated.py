"""What a system says when it is asked the same input several times: whether it says the same, and what it says most."""

from collections.abc import Hashable, Sequence
from dataclasses import replace
from statistics import fmean, median_low

from audit.tasks.base import Output
from audit.tasks.question_answering import normalised

FIRST, MAJORITY = "first", "majority"
TAKES = (FIRST, MAJORITY)
"""Which of a system's calls on an input makes the output that counts."""


def what_is_said(task: str, output: Output) -> Hashable:
    """Return what two outputs of a task have in common where they say the same: the label, or the text.

    Texts of question answering are the same as `normalised` says, other texts where they differ by spaces alone. Scores
    are not looked at: of a similarity its interval counts.
    """
    if output.label is not None or output.text is None:
        return output.label
    return normalised(output.text) if task == "question-answering" else " ".join(output.text.split())


def majority(task: str, outputs: Sequence[Output]) -> Output:
    """Return the output that counts of several calls on one input, in their order.

    What most calls that answered say; of what equally many say, what was said first. Its score is the mean of the calls
    that say it, its text that of the first of them. Of a similarity it is the output with the median score (of an even
    number the lower one). Where no call answered it is the first error. Raises ValueError without any output.

    >>> majority("sentiment", [Output("neutral", 0.5), Output("positive", 0.75), Output("positive", 0.25)])
    Output(label='positive', score=0.5, text=None, error=None)
    >>> majority("similarity", [Output("weak", 0.3), Output(error="busy"), Output("strong", 0.7)]).label
    'weak'
    """
    answered = [output for output in outputs if output.error is None]
    if not answered:
        if not outputs:
            raise ValueError("the majority of no outputs")
        return outputs[0]
    if task == "similarity" and all(output.score is not None for output in answered):
        middle = median_low(output.score or 0.0 for output in answered)
        return next(output for output in answered if output.score == middle)
    alike: dict[Hashable, list[Output]] = {}
    for output in answered:
        alike.setdefault(what_is_said(task, output), []).append(output)
    most = max(alike.values(), key=len)  # the first one of equally long ones: a dict keeps the order
    scores = [output.score for output in most if output.score is not None]
    # The mean of equal numbers is just that one, without the error of its last bit.
    mean = scores[0] if len(set(scores)) == 1 else fmean(scores) if scores else None
    return replace(most[0], score=mean)
