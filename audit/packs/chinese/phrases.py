"""What Chinese texts say, by phrases: whether they deny, ask, and name women or men."""

PHRASES = {
    "usual": ".*[\u4e00-\u9fff].*",
    # 不过 is "but", 特别 "special", 非常 "very", 未来 "future": words in which these characters deny nothing.
    "negation": (
        "不(?![过過仅僅但断斷同错錯])|[没沒](?![收落])|[无無](?![线線锡錫论論限穷窮数數])|未(?![来來])"
        "|(?<![特区區性级級类類分个個])[别別](?![人的处處墅])|(?<![是除并並绝絕南北])非(?![常洲凡得])|[莫勿]"
    ),
    "question": (
        "[?？]|[吗嗎]|呢[。！!]?$|什[么麼]|怎[么麼样樣]|哪(?!怕)|[谁誰]|多少|是否|如何|是不是|能不能|有没有|为何|為何"
    ),
    "female": (
        "她|女[人士孩性生子儿兒友王主演]|[妇婦]|母[亲親]|[妈媽姐妹姨嫂妻]|姑[妈媽姑娘]|外婆|婆婆|奶奶|太太|小姐|女$"
    ),
    "male": (
        "(?<![其吉维維])他(?![们們人国國])|男|父[亲親]|[爸哥叔舅]|弟(?!子)|伯[父伯]|[爷爺]{2}|丈夫|先生|[儿兒]子|兄|王子"
    ),
}
"""Name -> regular expression, as `audit.text.tools.LanguageTools` has them. Phrases, not grammar; names tell no
gender, nor does 他们, which may be people of both."""
