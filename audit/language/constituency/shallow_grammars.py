"""Which words make a noun, verb, prepositional or adverb phrase: our grammars of chunks, in NLTK's notation.

Kinds of words are those of `shallow_words`. A rule names the words and chunks, in angle brackets, that become a chunk.
Chunks whose names are not those of phrases are on the way only: `GROUP` (verbs that belong together) becomes part of
its verb phrase, `OFP` (a phrase with *of*, *de*) and `RELP` (*in which*) prepositional phrases.

A phrase with *of* belongs to the noun phrase before it, every other one to the verb before it, and a verb phrase goes
on to the next verb, mark or conjunction: where a parser would weigh, these always do. What is joined by *and* is one
phrase only for adjectives.
"""

_ADJECTIVES = "(<ADJ|ADJP>*<CC><ADJ|ADJP>)?<ADJ|ADJP"
"""Before a noun, with what else may stand there behind it."""
_PHRASES = r"""
  OFP: {<OF><NP>}
       {<OFDET><NP>}
  NP: {<NP><OFP>+}
  PP: {<PR|TO|PRDET>+<OF>?<NP>}
      {<PR|OF>+<GROUP>}
      {<PRPRN>}
  RELP: {<PR|PRDET|OF|OFDET><REL>+}
  VP: {<GROUP><NP|PP|OFP|ADVP|ADJP|ADJ>*}
"""

ROMANCE = (
    r"""
  ADJP: {<PREADV>+<ADJ|PART>}
        {<ADV><ADJ>}
  NP: {<PREDET>?<DET>*<NUM>*$ADJECTIVES>*<N|NAME|UNKNOWN>+<ADJ|ADJP|PART|NAME|UNKNOWN|NUM>*(<CC><ADJ|ADJP>)?}
      {<PREDET>?<DET|NUM>+<ADJ|ADJP|PART>+}
      {<PREDET>?<DET>*<NUM>}
      {<PREDET>?<PRN>}
  GROUP: {<NOT>*<WEAK>*<V>(<NOT|ADV>*<PART|INF|GER>)*<NOT>?}
         {<NOT>*<WEAK>*<INF|GER><PART>*}
         {<PART>}
  ADVP: {<PREADV|ADV|NOT>+}
"""
    + _PHRASES
)

ENGLISH = (
    r"""
  ADJP: {<PREADV>+<ADJ|PART>}
        {<ADV><ADJ>}
  NP: {<PREDET>?<DET|NUM>+$ADJECTIVES|PART|GER|NUM>*<N|NAME|UNKNOWN>+<NUM>?}
      {<NUM>*<ADJ|ADJP>*<N|NAME|UNKNOWN>+<NUM>?}
      {<DET|NUM>+<ADJ|ADJP>*}
      {<PREDET>?<PRN|WEAK>}
  NP: {<NP><GEN><NP>}
  GROUP: {<ADV|NOT>*<V>(<ADV|NOT>*<TO>?<PART|INF|GER>)*}
         {<NOT>*<TO>?<ADV>?<INF>(<ADV>*<PART|GER>)*}
         {<GER><PART>*}
         {<PART>}
  ADVP: {<PREADV|ADV|NOT>+}
"""
    + _PHRASES
)

GRAMMARS = {
    language: grammar.replace("$ADJECTIVES", _ADJECTIVES)
    for language, grammar in (("en", ENGLISH), ("es", ROMANCE), ("ca", ROMANCE), ("fr", ROMANCE))
}
"""Language -> its grammar of chunks."""
