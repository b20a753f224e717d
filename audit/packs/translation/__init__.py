"""Machine translation: parsers, proposers of words, the relations of four studies, and engines."""

from audit import registry

registry.parsers.register("hanlp", "audit.packs.translation.constituency.hanlp_parser:HanlpParser", argument="MODEL")
registry.parsers.register("link-grammar", "audit.packs.translation.constituency.link_grammar:LinkGrammar")
registry.parsers.register(
    "benepar", "audit.packs.translation.constituency.benepar_parser:BeneparParser", argument="MODEL"
)
registry.parsers.register("shallow", "audit.packs.translation.constituency.shallow:Shallow")

registry.proposers.register("ngram", "audit.packs.translation.ngrams:ngram_proposer", argument="[FILE]")
registry.proposers.register("fill-mask", "audit.packs.translation.fill_mask:FillMask", argument="MODEL")

registry.systems.register("apertium", "audit.packs.translation.apertium_system:Apertium", argument="[MODE+MODE]")
registry.systems.register("seq2seq", "audit.packs.translation.seq2seq:seq2seq", argument="MODEL", listed=False)
