"""What other tools need to perturb the sentences that `perturbation_speed.py` sends; run by the Python that has them.

The first line of standard input is {"texts", "words", "tags"}, words and tags being ours; then each line is the number
of a peer of PEERS, which does one round over all texts. Answered are a line with the peers, each {"does", "tool",
"version"} with "missing" or "without", and a line {"seconds" (CPU), "made"} a round. Imports nothing of audit. What a
tool imports for its other parts and is not installed (models, viewers) is stood in for by nothing: the functions
measured here do not use it, and `without` names it. TextFlint wants data of a server when it is imported: what would
fetch them is such a part, and spaCy's rules alone make its words, as they do for it.
"""

import importlib
import importlib.metadata
import io
import json
import logging
import os
import random
import sys
import time
import types
import warnings
from unittest.mock import MagicMock


def imported(module, *unneeded):
    """The module, and the names of what it imports that is not there, or that is not needed and does not load here."""
    without = list(unneeded)
    for name in unneeded:
        sys.modules.setdefault(name, MagicMock(__path__=[], __spec__=None))
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


def textflint(module, name):
    """A maker for one of TextFlint's transformations, of samples made of a text each time."""

    def make(given):
        fetching = types.ModuleType("textflint.common.preprocess.nltk_res_load")
        fetching.ModelManager, fetching.download_if_needed = MagicMock, MagicMock()
        sys.modules[fetching.__name__] = fetching
        transformation, without = imported(f"textflint.generation.transformation.UT.{module}", fetching.__name__)
        samples, others = imported("textflint.input.component.sample.ut_sample", fetching.__name__)
        processor = importlib.import_module("textflint.common.preprocess.en_processor").EnProcessor
        processor.nlp, processor.initialized = importlib.import_module("spacy").blank("en"), True
        made = getattr(transformation, name)()

        def changed(at):
            text = given["texts"][at]
            follow_ups = made.transform(samples.UTSample({"x": text}), n=1)
            return bool(follow_ups) and follow_ups[0].dump()["x"] != text

        return changed, sorted({*without, *others})

    return make


def nlpaug_alone(given):
    word, without = imported("nlpaug.augmenter.word")
    nltk = importlib.import_module("nltk")
    # Its tagger's weights come from a server; these are the same program's, learnt from NLTK's sample of the treebank.
    tagger = nltk.tag.PerceptronTagger(load=False)
    tagger.train(list(nltk.corpus.treebank.tagged_sents()[:1500]), nr_iter=2)
    augmenter = word.SynonymAug(aug_src="wordnet", aug_max=2)
    augmenter.model.pos_tag = tagger.tag

    def replaced(at):
        text = given["texts"][at]
        return augmenter.augment(text) != [text]

    return replaced, [*without, "its tagger's weights"]


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

    return replaced, [*without, "its words and tags, which are given"]


PEERS = [
    ("scanning-errors", "textflint", textflint("ocr", "Ocr")),
    ("typos", "textflint", textflint("typos", "Typos")),
    ("upper-case", "textflint", textflint("word_case", "WordCase")),
    ("final-mark", "textflint", textflint("punctuation", "Punctuation")),
    ("contractions", "textflint", textflint("contraction", "Contraction")),
    ("contractions", "checklist", checklist),
    ("contractions", "langtest", langtest),
    ("synonyms", "nlpaug", nlpaug_alone),
    ("synonyms", "nlpaug", nlpaug),
]


def prepared(does, tool, make, given):
    """What is said of a peer, and its function of a text's number, None where it does not run."""
    said = {"does": does, "tool": tool}
    try:
        said["version"] = importlib.metadata.version(tool)
        perturb, said["without"] = make(given)
        perturb(0)
    except importlib.metadata.PackageNotFoundError:
        return {**said, "missing": f"not installed: pip install {tool}"}, None
    except (Exception, SystemExit) as problem:  # a peer may fail in any way; the others are measured all the same
        reason = " ".join(str(problem).split())[:200]
        return {**said, "missing": f"installed, but it does not run: {type(problem).__name__}: {reason}"}, None
    return said, perturb


def round_of(perturb, count):
    started, made = time.process_time(), 0
    for at in range(count):
        made += bool(perturb(at))
    return {"seconds": time.process_time() - started, "made": made}


def main():
    answers = sys.stdout
    sys.stdout = io.StringIO()  # peers print
    logging.disable()
    warnings.simplefilter("ignore")
    random.seed(1)
    given = json.loads(sys.stdin.readline())
    peers = [prepared(*peer, given) for peer in PEERS]
    print(json.dumps([said for said, _ in peers]), file=answers, flush=True)
    for line in sys.stdin:
        perturb = peers[int(line)][1]
        print(json.dumps(round_of(perturb, len(given["texts"]))), file=answers, flush=True)


if __name__ == "__main__":
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    main()
