"""Audit metamorphic testing of NLP systems for false satisfactions.

>>> import audit
>>> isinstance(audit.__version__, str)
True
"""

__version__ = "0.1.0"
