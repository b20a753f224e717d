"""The Streamlit app: log in, judge, adjudicate, browse, see results.

Pages are thin. What they may do is decided in `audit.judging` and `audit.false_satisfaction`, in the transaction
that does it; a page that is not in somebody's menu refuses them all the same.
"""


def start() -> None:
    """Run the app against the database that AUDIT_DB names (a path or an SQLAlchemy URL; default `audit.db`).

    Called by `app.py` on every rerun of the script.
    """
    from audit.ui.main import run

    run()
