"""Accounts, the queue, judgements, adjudication, gold and answers: what the app may do, without Streamlit.

This room never reads a system's outputs, so it cannot show them to an annotator. Which questions are worth asking is
decided in `audit.false_satisfaction`, which writes their priority.
"""
