"""`streamlit run app.py`, or `audit app`: serves the annotation app.

Streamlit imports this file once to find `app`, the server with its routes, and runs it as a script for every page.
"""

import streamlit as st

from audit.ui import start

if __name__ == "__main__":
    start()
elif __name__ != "__mp_main__":  # a process of `audit.ui.worker` reads this file, too
    from audit.ui.server import lifespan, middleware, routes

    app = st.App(__file__, routes=routes(), middleware=middleware(), lifespan=lifespan)
