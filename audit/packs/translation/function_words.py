"""Words that are no free choice: negations in five languages, and the function words of English.

Another negation says something else, and no negation is a word among others; a function word belongs to what stands
around it, so that in its place another one seldom leaves the structure as it is. Neither is replaced or proposed.
"""

from audit.text.tokens import words

_NEGATIONS = {
    "en": words(
        "no not n't n’t cannot never none nobody nothing nowhere neither nor without hardly barely scarcely rarely "
        "seldom unlike"
    ),
    "es": words("no ni nunca jamás nada nadie ningún ninguno ninguna ningunos ningunas tampoco sin apenas"),
    "ca": words("no ni mai res ningú cap gens gaire tampoc sense pas"),
    "fr": words(
        "ne n' n’ non ni pas jamais rien personne aucun aucune aucuns aucunes nul nulle nuls nulles guère point plus "
        "sans nullement aucunement"
    ),
    "zh": words(
        "未 无 無 非 别 別 勿 莫 毋 否 休 从未 從未 尚未 并未 並未 毫无 毫無 并非 並非 绝非 絕非 从不 從不 从没 從沒 "
        "毫不 并不 並不 决不 決不 绝不 絕不"
    ),
}
_CHINESE_BEGINNINGS = ("不", "没", "沒")

_CLOSED = words(
    # articles, demonstratives, quantities
    "a an the this that these those some any each every either both all half another other others such same own "
    "several many much more most few fewer fewest little less least enough lot lots bit couple else "
    # pronouns
    "i me my mine myself you your yours yourself yourselves he him his himself she her hers herself it its itself we "
    "us our ours ourselves they them their theirs themselves one ones oneself someone somebody something anyone "
    "anybody anything everyone everybody everything somewhere anywhere everywhere "
    "who whom whose which what whoever whatever whichever when whenever where wherever why how whether "
    # numerals
    "zero two three four five six seven eight nine ten eleven twelve twenty thirty forty fifty sixty seventy eighty "
    "ninety hundred hundreds thousand thousands million millions billion billions dozen dozens first second third "
    "fourth fifth sixth seventh eighth ninth tenth last next once twice "
    # prepositions and conjunctions
    "about above across after against ago along alongside amid among amongst around as at before behind below beneath "
    "beside besides between beyond but by concerning despite down during except for from in inside into like minus "
    "near of off on onto opposite out outside over past per plus regarding round since than through throughout till "
    "to toward towards under underneath until up upon versus via with within and or so yet because although though "
    "unless while whereas lest if "
    # auxiliaries
    "be am is are was were been being ai have has had having do does did done doing will wo would shall should can ca "
    "could may might must ought need let lets "
    # adverbs that point, join or limit
    "here there then now thus hence therefore however moreover also too very quite rather just only even ever still "
    "already always again soon away back forth ahead together apart instead otherwise perhaps maybe almost well "
    # words that need certain ones before or behind them, or that seldom stand both before a noun and behind a verb
    "able unable afraid akin alike alive alone ashamed asleep awake aware course due glad kind likely sorry sort sure "
    "unlikely whole worth"
)


def is_negation(word: str, language: str) -> bool:
    """Return whether a word negates, alone or as a part of what it says; no language but five has any here.

    >>> [is_negation(word, "en") for word in ("Never", "knows")], is_negation("不同", "zh"), is_negation("jamás", "es")
    ([True, False], True, True)
    """
    return word.lower() in _NEGATIONS.get(language, ()) or (language == "zh" and word.startswith(_CHINESE_BEGINNINGS))


def is_function_word(word: str) -> bool:
    """Return whether a word is of a closed class of English, or needs certain words beside it."""
    return word.lower() in _CLOSED
