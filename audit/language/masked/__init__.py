"""Words for a place in a sentence whose word is masked: one module per kind of proposer, all behind one protocol."""

from audit.language.masked.base import PROPOSERS, Masked, Proposer, get_proposer, proposer_of, proposers_in

__all__ = ["PROPOSERS", "Masked", "Proposer", "get_proposer", "proposer_of", "proposers_in"]
