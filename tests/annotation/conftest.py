"""Fixtures of the tests of judging: those of the people who judge."""

from question_world import where, who

__all__ = ["where", "who"]
