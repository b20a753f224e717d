"""Rows of an imported run, for the tests of this folder."""


def row(source, follow_up, outputs, verdict="satisfied", relation="MR1.1", system="a", **more):
    """One line of an imported run."""
    return {
        "relation": relation,
        "system": system,
        "source": source,
        "follow_ups": [follow_up] if isinstance(follow_up, str) else follow_up,
        "outputs": outputs,
        "verdict": verdict,
        **more,
    }
