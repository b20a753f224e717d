"""`streamlit run app.py`, or `audit app`: starts the annotation app."""

from audit.ui import start

start()
