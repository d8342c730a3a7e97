"""The words by which small talk, follow-ups and answers are known, as alternatives of regular expressions.

All are matched on lower-case text whose signs are blanks, so that they hold words and spaces only.
"""

GREETING = (
    r"hi+|hey+|hello+|hiya|howdy|yo|greetings|good (?:morning|afternoon|evening|day)"
    r"|how are you(?: doing)?(?: today)?|how(?: i|')s it going|what'?s up|sup"
    r"|(?:is )?(?:anyone|anybody|someone) (?:there|here)|are you there|there|all|team|everyone|hola"
    r"|bonjour|hallo|ciao|你好啊?|您好啊?|哈喽|嗨|哈啰|早上好|上午好|下午好|晚上好|早|在吗|在么|在不在|有人吗|有人在吗|客服在吗|亲"
)
THANKS = (
    r"(?:many |ok |okay |great |perfect )?thank(?:s| you)(?: again)?(?: so much| very much| a lot| a million| a bunch)?"
    r"(?: for (?:your|the|all your) (?:help|time|support|assistance|information|info))?"
    r"|thx|ty|cheers|much appreciated|(?:i )?(?:really )?appreciate (?:it|your help|that)|you too"
    r"|that'?s (?:all|it|everything)(?: i needed)?|got it|great|perfect|awesome|gracias|merci|danke|grazie"
    r"|谢谢(?:你|您|啦|了|哈)?|多谢|感谢|非常感谢|太感谢了|辛苦了|辛苦|好的|好|知道了|明白了|收到|没事了|没问题了|麻烦了"
)
BYE = (
    r"(?:good ?)?bye+(?: bye)?|see (?:you|ya)(?: later| soon)?"
    r"|have a (?:great|good|nice|lovely) (?:day|one|evening|weekend)|good night|再见|拜拜|回见|晚安"
)
WHO = (
    r"who (?:are|r) (?:you|u)|what are you"
    r"|are you (?:a |an )?(?:real |actual )?(?:human|person|bot|robot|machine|ai)(?: or .{1,30})?"
    r"|am i (?:talking|speaking|chatting) (?:to|with) (?:a |an )?(?:real )?(?:human|person|bot|robot|machine|ai)"
    r"|what(?:'s| is) your name|what (?:can|do) you do(?: for me)?"
    r"|(?:what can you )?help(?: me)?(?: with)?|你是谁|你是(?:真人|机器人|人工|人|ai)(?:吗|还是.{1,10})?"
    r"|你叫什么(?:名字)?|你能做什么|你会做什么|你能帮我什么|帮助"
)
FILLER = r"please|pls|ok|okay|well|oh|the|and|so|again|啊|呀|哦|嗯|哈|呢|的|了|吧"
BARE = (
    r"y|yes|yep|yeah|yup|sure|no|nope|ok|okay|correct|right|exactly|please do|go ahead|confirm(?:ed)?"
    r"|that one|this one|the (?:first|second|last|latest) one"
    r"|any (?:news|update|updates|progress)(?: on (?:this|that|it))?|(?:any )?updates?|and now"
    r"|still (?:nothing|waiting)|what about (?:it|this|that)"
    r"|是|是的|对|对的|不是|没有|好|好的|行|可以|嗯|确认|就是这个|这个|那个"
    r"|有消息吗|有进展吗|有结果了吗|怎么样了|怎样了|现在呢|然后呢|还没好吗|还要多久"
)
CALL = (
    r"help|assist(?:ance)?|support|look|check|handle|answer|reply|respond|deal|sort|take (?:care|over)|(?:step|jump) in"
    r"|see|read|escalate|log|fyi|thoughts|ideas?|any (?:thoughts?|ideas?|news|updates?|progress)|what do you think"
    r"|(?:open|make|create|file|raise|start) (?:up )?(?:a |an |the )?(?:ticket|case|request)"
    r"|帮忙|帮帮|帮我|看下|看看|看一下|处理|解决|跟进|回复|回答|求助|怎么办|怎么处理|见上|上面"
    r"|(?:开|建|提|创建|新建|登记)(?:一)?(?:个|张)?(?:工单|单子|单|票)"
)
BESIDE_A_CALL = (
    r"can|could|would|will|may|might|you|u|we|i|someone|somebody|anyone|anybody|one of you|have|take|need|want|do|does"
    r"|something|a|an|me|us|him|her|them|my|our|their|his|this|that|it|these|here|above|below|thread|messages?|post"
    r"|questions?|problem|issue|matter|one|with|into|at|of|out|to|on|about|for|from|in|up|over|is|by|kindly|quick(?:ly)?"
    r"|一下|下|个|这个|这|那个|那|它|他|她|我们?|你们?|您|谁|有人|大家|问题|事情?|消息|帖子|能不能|可不可以|能|可以|请"
    r"|麻烦|帮|给|为|面|里|在|来|请看|看|吗|么"
)
PERSON = (
    r"(?:please |can i |could i |may i |i(?:'d| would) like to |i (?:want|need) to |let me )*"
    r"(?:talk (?:to|with) |speak (?:to|with) |get |i want |i need |connect me (?:to|with) )?(?:a |an |the )?"
    r"(?:real |live )?(?:human|person|agent|operator|representative)(?: being)?(?: please)?"
    r"|(?:请|麻烦)?(?:帮我|给我|我要|我想|我想要)?(?:转|找|接)?(?:一下)?(?:人工|真人)(?:客服)?(?:吧)?"
)
YES = (
    r"(?:y|yes|yep|yeah|yup|sure|ok|okay|correct|right|exactly|please|go ahead|confirm(?:ed)?|do it|absolutely)\b"
    r"|(?:是|对|好|行|可以|嗯)(?![不吗像]|什么)|确认|提交|退吧|麻烦|请提交"
)
NO = (
    r"(?:n|no|nope|not now|never ?mind|don'?t|forget it|leave it)\b"
    r"|不用|不要(?!了)|不了|不改|不换了|不取消|不是|不需要|算了|先不|先别|别退"
)
ASKS_ABOUT_REFUND = (
    r"\b(?:how|what|when|which|why|policy|policies|possible|eligible|allowed|rules?|conditions?)\b"
    r"|\b(?:can|could|may) (?:i|it|this|that|we) (?:still |also )?(?:be )?(?:return|refund)"
    r"|\bdo you (?:accept|offer|allow)"
    r"|条件|规则|政策|多久|几天|怎么退|怎样退|如何退|能退|可以退|可不可以|能不能|能否|还能|支持退|自动退|退到哪"
)
ASKS_ABOUT_ORDER = (
    r"\b(?:where|when|track(?:ing)?|status|arriv\w*|deliver\w*|shipp\w*|cancel\w*|address)\b"
    r"|到哪|哪了|物流|快递|什么时候|多久能到|发货|取消|地址|催"
)
