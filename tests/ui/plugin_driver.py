"""A database with questions of the example plug-in's task."""

from pathlib import Path

from app_driver import PASSWORD, Prepared

from audit import registry
from audit.annotation.accounts import add_account
from audit.judging.samples import draw_all
from audit.runner.executors import InProcess
from audit.runner.run import fitting, run
from audit.sampling.draw import SampleRequest, Size
from audit.store import open_store


def prepare_inference(path: Path) -> Prepared:
    """A run of the example, which is loaded: every satisfied group drawn, and the accounts of `app_driver.prepare`."""
    engine = open_store(str(path), create=True)
    corpus = registry.corpora.get("tiny-inference")()
    with InProcess() as executor:
        run(engine, corpus, ["overlap"], fitting(corpus, []), executor)
    draw_all(engine, SampleRequest(Size(share=1.0)))
    names = {"ann": "annotator", "ben": "annotator", "judge": "adjudicator", "boss": "manager"}
    return Prepared(engine, path, **{name: add_account(engine, name, role, PASSWORD) for name, role in names.items()})
