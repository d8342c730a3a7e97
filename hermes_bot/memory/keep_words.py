"""The words by which the rules know what is worth keeping, in English and Chinese."""

from __future__ import annotations

import re
from collections.abc import Mapping

_I = r"\b(?:i|we)(?:'d|'ll|'ve|'m| would| will| have| am| really| also| just| usually| normally| always| generally)*"


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns), re.IGNORECASE)


ADDRESS = _any(
    r"\b(?:my|our)(?: new| current| correct| home| office| shipping| delivery| postal)* address (?:is|has changed to|"
    r"changed to|should be|will be)(?: now)?:? \S+",
    rf"{_I} (?:moved|relocated) to \S+",
    rf"{_I} (?:live|reside) (?:at|in) \S+",
    r"\bfrom now on (?:please )?(?:ship|send|deliver)\b.* to \S+",
    r"我(?:们)?的?(?:新的?|现在的?|收货|家庭|公司|邮寄|快递)*地址(?:现在)?(?:是|为|改成|改为|换成|变成|：|:)\s*\S+",
    r"我(?:们)?(?:已经|刚|刚刚)?搬(?:家)?(?:到|去)了?\s*\S+",
    r"我(?:们)?(?:现在)?住在\s*\S+",
    r"以后(?:都|请|全部)*(?:寄|送|发)到\s*\S+",
)

PREFERENCES = _any(
    r"\b(?:call|address) me\b (?!back|on|at|when|later|now|asap|today|tomorrow)\w+",
    rf"{_I} (?:prefer|rather not|like to be (?:contacted|called|reached|addressed)|rather be (?:contacted|called))\b",
    rf"{_I} (?:want|like|need) (?:all|every|my) (?:future |my )?(?:parcels?|packages?|orders?|deliver\w+|invoices?)\b",
    r"\bplease,? (?:always|never|only|don't ever|do not ever)\b",
    r"\b(?:always|never) (?:ship|send|deliver|leave|ring|call|write|use|wrap|pack|contact|email|text)\b",
    r"\b(?:from now on|in (?:the )?future|going forward|every time)\b",
    rf"{_I} (?:speak|only speak|read) (?:only )?[a-z]+",
    rf"{_I} (?:wear|take) (?:an? )?(?:size )?(?:[0-9]{{1,2}}|x{{0,3}}[sml]|small|medium|large)\b",
    r"\bmy (?:shoe |shirt |dress |ring )?size is\b",
    r"\b(?:i|we)(?:'m| am| are) (?:allergic|vegan|vegetarian|colou?r[- ]?blind|deaf|blind|left[- ]handed)\b",
    rf"{_I} (?:don't|do not|never) (?:want|like|eat|use|need) (?:any )?(?:plastic|gift|phone|calls?|emails?|\w+ing)\b",
    rf"{_I} (?:love|hate|dislike|can't stand) \w+",
    r"\bmy (?:preferred|favou?rite) \w+ (?:is|are)\b",
    r"(?:请)?(?:叫|称呼)我\s*\S+",
    r"以后(?:请|都|就|别|不要|只|一律|全部)",
    r"请(?:一直|总是|务必|永远|每次|只|统一)",
    r"我(?:们)?(?:比较|更|一直|一般|平时|通常|还是|很|最|都|只|不)*(?:喜欢|偏好|习惯|希望|倾向|讨厌|受不了)",
    r"我(?:们)?(?:对\S+过敏|吃素|是素食|不吃|色盲|听力不好)",
    r"我(?:们)?(?:穿|戴|的?(?:鞋码|尺码|码数|尺寸)(?:是|为)?)\s*\S*(?:码|号|[0-9]|[SMLX])",
    r"我(?:们)?(?:只)?(?:会说|说|讲|看得懂)(?:英|中|德|法|日|韩|粤|普通)\S+",
    r"(?:别|不要|请勿)(?:再)?(?:给我)?(?:打电话|发邮件|发短信|按门铃)",
)

DECISIONS = _any(
    rf"{_I} decided\b",
    rf"{_I} (?:keep|return|exchange|wait for|go with|take) (?:the |it|them|this|that|a )",
    rf"{_I} (?:rather|prefer to) (?:have|get|keep|take|return|exchange|receive) ",
    r"\blet'?s (?:go with|do|take|leave it|keep)\b",
    rf"{_I} (?:don't|do not|no longer) (?:want|need) (?:a |the |any )?(?:refund|replacement|return|exchange|it)\b",
    r"\bno (?:refund|replacement|return) (?:is )?(?:needed|necessary|required)\b",
    r"我(?:们)?(?:已经)?(?:决定|想好了|考虑好了|选择)",
    r"(?:算了|那就|还是).{0,12}(?:不退|不换|留着|留下|退货|换货|退款|保留).{0,6}(?:吧|了)?",
    r"我(?:们)?(?:就|要|还是)?(?:不退|不换|留着|留下|保留)(?:了|吧|这)",
)

_THING_DID = r"(?:arrived|came|is|was|are|were|got|has|have|had)(?: been)?(?: all| totally| completely| already| also)?"

PROBLEMS = _any(
    rf"\b{_THING_DID} (?:broken|damaged|defective|faulty|torn|cracked|dead|wrong|missing|leaking|scratched|dented|bent|"
    r"stained|incomplete|mouldy|moldy|expired|smashed|ripped|loose|too (?:small|big|large|tight|short|long|loud))\b",
    r"\b(?:doesn't|does not|don't|do not|won't|will not|didn't|can't|cannot) (?:work|turn on|fit|charge|start|"
    r"switch on|open|close|connect|pair|boot|hold)\b",
    r"\b(?:stopped|quit) (?:working|charging)\b",
    r"\b(?:never|not|hasn't|has not|didn't|did not) (?:yet )?(?:arrived?|show(?:ed)? up|delivered|received?)\b",
    r"\bkeeps? (?:crashing|falling|disconnecting|breaking|restarting|overheating|leaking)\b",
    r"\b(?:wrong|missing) (?:item|size|colou?r|part|parts|product|model|charger|cable|lid|screw|screws|piece|pieces)\b",
    r"(?:坏|破|裂|碎|断|漏|掉色|褪色|变形|发霉|过期|生锈)(?:了|掉|损|开)?(?:$|[，,。！!的了])",
    r"(?:损坏|破损|故障|缺货少件|少件|漏发|发错|寄错|缺少|少了|弄丢|有问题|有瑕疵|质量问题|划痕|刮花)",
    r"(?:没法|不能|无法|用不了|没办法)(?:用|使用|开机|充电|打开|启动|连接)?|打不开|开不了机|充不[进上]电|连不上",
    r"(?:一直|还|都|从来)?没(?:有)?(?:收到|到货|送到)",
    r"(?:太|偏)(?:小|大|紧|松|短|长|吵)了?",
)

SUBJECTS: Mapping[str, re.Pattern[str]] = {
    "name": _any(r"\b(?:call|address) me\b", "(?:叫|称呼)我"),
    "size": _any(r"\bsize\b", rf"{_I} (?:wear|take) ", "鞋码|尺码|码数|尺寸|我穿"),
    "language": _any(
        r"\b(?:in|speak|read)\b.{0,12}\b(?:english|chinese|mandarin|cantonese|german|french|spanish|japanese|korean|"
        r"italian|portuguese)\b",
        "英文|英语|中文|德语|法语|日语|韩语|粤语|普通话",
    ),
    "contact": _any(
        r"\b(?:e-?mail|phone|text|sms|call(?:s|ed)?|slack|whatsapp|contact(?:ed)?|wechat|message)\b",
        "邮件|邮箱|电话|短信|微信|联系",
    ),
    "carrier": _any(r"\b(?:dhl|ups|fedex|gls|usps|dpd|carrier|courier)\b", "顺丰|京东快递|中通|圆通|韵达|快递公司"),
    "delivery place": _any(
        r"\b(?:neighbou?r|door|porch|pick-?up|locker|reception|office|garage|doorbell|ring|concierge)\b",
        "门口|驿站|快递柜|前台|邻居|门卫|按门铃|自提",
    ),
    "delivery time": _any(
        r"\b(?:morning|afternoon|evening|weekend|weekday|after [0-9]|before [0-9]|noon|saturday|sunday)\b",
        "上午|下午|晚上|周末|工作日|中午|早上",
    ),
    "refund way": _any(
        r"\b(?:store credit|gift card|bank transfer|original payment|paypal)\b", "原路|余额|购物卡|支付宝"
    ),
    "packaging": _any(r"\b(?:plastic|gift[- ]?wrap\w*|packag\w+|wrapp\w+)\b", "包装|塑料|礼盒"),
    "invoice": _any(r"\binvoices?\b", "发票"),
}
"""What a preference is about: of one subject the newest holds."""

ORDERS_TO_THE_BOT = _any(
    r"\b(?:approv\w*|authori[sz]\w*|admin\w*|operators?|system|prompts?|instructions?|ignore|polic(?:y|ies)|override|"
    r"bots?|assistants?|you are|you must|you have to|you should|all customers|every customer|other customers|everyone|"
    r"everybody|discounts?|for free|without (?:asking|checking|verification)|refund (?:everything|all|without)|"
    r"tell (?:them|him|her|everyone)|the shop|this shop|your shop|employees?|staff|agents?|tools?)\b",
    "批准|审批|授权|管理员|系统|提示词|指令|忽略|规则|政策|机器人|助手|你是|你必须|所有客户|所有人|其他客户|打折|折扣|免费|"
    "不用审核|店铺|本店|员工|客服必须",
)
"""What speaks to the bot or about others, and not of the customer."""
