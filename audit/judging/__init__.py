"""Accounts, the queue, judgements, adjudication, gold and answers: what the app may do, without Streamlit."""
