"""Machine translation: parsers, proposers of words, the relations of four studies, and engines."""

from audit import registry

registry.systems.register("apertium", "audit.packs.translation.apertium:Apertium", argument="[MODE+MODE]")
registry.systems.register("seq2seq", "audit.packs.translation.seq2seq:Seq2Seq", argument="MODEL", listed=False)
