"""What other tools need to perturb the sentences that `perturbation_speed.py` sends; run by the Python that has them.

Reads {"texts", "words", "tags", "rounds"} from standard input, the words and tags being ours (pre-tagged), and answers
with a list of {"does", "tool", "version", "seconds" (CPU, the least of the rounds), "made" or "missing"}. Imports
nothing of audit. What a tool imports for its other parts and is not installed (models, viewers) is stood in for by
nothing: the functions measured here do not use it, and `without` names it.
"""

import contextlib
import importlib
import importlib.metadata
import io
import json
import os
import sys
import time
import warnings
from unittest.mock import MagicMock


def imported(module, *unneeded):
    """The module, and the names of what it imports that is not there, or that is not needed and does not load here."""
    without = list(unneeded)
    for name in unneeded:
        sys.modules[name] = MagicMock(__path__=[], __spec__=None)
    while True:
        try:
            return importlib.import_module(module), without
        except ModuleNotFoundError as problem:
            own = (problem.name or module).split(".")[0] == module.split(".")[0]
            if problem.name in without or (own and str(problem.name).rpartition(".")[0] not in without):
                raise
            without.append(problem.name)
            sys.modules[problem.name] = MagicMock(__path__=[], __spec__=None)
            for loaded in [name for name in sys.modules if name.split(".")[0] == module.split(".")[0]]:
                if loaded not in without:
                    del sys.modules[loaded]


def checklist(given):
    # The viewer wants a notebook around it.
    perturb, without = imported("checklist.perturb", "checklist.viewer.template_editor")
    return lambda at: perturb.Perturb.contractions(given["texts"][at]), without


def langtest(given):
    robustness, without = imported("langtest.transform.robustness")

    def contracted(at):
        (made,) = robustness.AddContraction.transform([given["texts"][at]])
        return made != given["texts"][at]

    return contracted, without


def textflint(given):
    # The tokeniser and tagger want data from a server; tokens and tags are given here.
    contraction, without = imported(f"{_TEXTFLINT}.contraction", "textflint.common.preprocess")
    made = contraction.Contraction()

    class Sample:
        """What is asked of TextFlint's sample here: tokens that are there already, and joining them."""

        def __init__(self, tokens):
            self.tokens = tokens

        def get_words(self, field):
            return self.tokens

        def unequal_replace_field_at_indices(self, field, indices, new):
            tokens = list(self.tokens)
            for (start, end), one in sorted(zip(indices, new, strict=True), reverse=True):
                tokens[start:end] = [one]
            return " ".join(tokens)

    return lambda at: made._transform(Sample(given["words"][at])), without


def nlpaug(given):
    word, without = imported("nlpaug.augmenter.word")
    now = {}
    augmenter = word.SynonymAug(aug_src="wordnet", aug_max=2, tokenizer=str.split, reverse_tokenizer=" ".join)
    # Pre-tagged like ours; what is no noun is called a determiner, which it leaves alone.
    augmenter.model.pos_tag = lambda tokens: now["tagged"]
    joined = [" ".join(words) for words in given["words"]]
    tagged = [
        [(word, tag if tag in ("NN", "NNS") else "DT") for word, tag in zip(*both, strict=True)]
        for both in zip(given["words"], given["tags"], strict=True)
    ]

    def replaced(at):
        now["tagged"] = tagged[at]
        (made,) = augmenter.augment(joined[at])
        return made != joined[at]

    return replaced, without


def textflint_tense(given):
    tense, without = imported(f"{_TEXTFLINT}.tense", "textflint.common.preprocess")
    made = tense.Tense()

    def changed(at):
        pairs = zip(given["words"][at], given["tags"][at], strict=True)
        return [made._get_candidates(word, pos=tag, n=1) for word, tag in pairs]

    return changed, without


_TEXTFLINT = "textflint.generation.transformation.UT"
PEERS = [
    ("contractions", "checklist", checklist),
    ("contractions", "langtest", langtest),
    ("contractions", "textflint", textflint),
    ("noun synonyms", "nlpaug", nlpaug),
    ("tense", "textflint", textflint_tense),
]


def measured(does, tool, make, given):
    said = {"does": does, "tool": tool}
    try:
        said["version"] = importlib.metadata.version(tool)
    except importlib.metadata.PackageNotFoundError:
        return {**said, "missing": f"not installed: pip install {tool}"}
    try:
        with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings(action="ignore"):
            perturb, without = make(given)
            best = None
            for _ in range(given["rounds"]):
                started, made = time.process_time(), 0
                for at in range(len(given["texts"])):
                    made += bool(perturb(at))
                spent = time.process_time() - started
                best = spent if best is None else min(best, spent)
    except (Exception, SystemExit) as problem:  # a peer may fail in any way; the others are measured all the same
        reason = " ".join(str(problem).split())[:200]
        return {**said, "missing": f"installed, but it does not run: {type(problem).__name__}: {reason}"}
    return {**said, "seconds": best, "made": made, "without": without}


if __name__ == "__main__":
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    content = json.load(sys.stdin)
    json.dump([measured(*peer, content) for peer in PEERS], sys.stdout)
