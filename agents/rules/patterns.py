"""The words by which wishes of an order and of a refund are known, each line an alternative.

They are RE2's, because they overlap and a backtracking engine would take long on a hostile text; and they are matched
on lower-case text whose signs are blanks.
"""

from __future__ import annotations

from typing import Any

import re2


def _any(*alternatives: str) -> Any:
    return re2.compile("|".join(alternatives))


CANCEL = _any(
    r"\bcancel(?:l?ing|lation|l?ed)?\b.{0,40}\b(?:orders?|purchases?|it|them|that|both|one|items?|everything)\b",
    r"\b(?:orders?|purchases?)\b.{0,40}\bcancel",
    r"\bcancel (?:#|\d)",
    r"^cancel$",
    r"\bcancel (?:the|my|that|this) \w+",
    r"取消.{0,12}(?:订单|单|吧|掉|了它|就行)",
    r"(?:订单|那单|这单|单子|单).{0,20}取消",
    r"(?:要|想|帮我|帮忙|能|可以)取消",
    r"不想要了.{0,6}取消",
    r"^取消",
)
NO_CANCEL = _any(
    r"(?:^|\b(?:please|no|stop|and|but|so|just|wait|sorry|actually|then|ok) )(?:do not|don'?t|never) cancel",
    r"\b(?:do not|don'?t|did not|didn'?t|never|no longer) (?:want|wanted|need|wish|ask|asked|mean|meant|plan|intend)"
    r"(?: (?:you|any|a|for|to|have|be|get|see)){0,5} cancel",
    r"(?:\bnot|n't|\bnever) want(?:ed)? (?:it|this|that|(?:my |the |this )?order(?: \d+)?) (?:to be )?cancell?ed",
    r"(?:不要|别|先别|不用|不需要|不想|不必|没有?要|没说要|从没)(?:再|给我|帮我|把.{1,12})?取消",
    r"不取消(?:\d|了|订单|这| |$)",
)
NO_REFUND = _any(
    r"(?:^|\b(?:please|no|stop|and|but|so|just|wait|sorry|actually|then|ok) )(?:do not|don'?t|never) refund"
    r"(?: (?:it|me|this|that|order|\d+|the order|my order|anything|any more|anymore|yet|now|please))*$",
    r"\b(?:do not|don'?t|did not|didn'?t|never|no longer) (?:want|wanted|need|wish|ask|asked|mean|meant)"
    r"(?: (?:you|the|my|any|a|for|to|have|be|get|your)){0,5} (?:refund|money back)",
    r"\bno refund (?:is )?(?:needed|necessary|required|wanted|please)\b|\bno need (?:for|to) (?:a )?refund",
    r"(?:不要|别|先别|不用|不需要|不想|不必|无需|没有?要)(?:再|给我|帮我|申请|办理)?(?:退款|退钱)",
    r"不退(?:款)?了",
)
WAS_CANCELLED = _any(r"\b(?:was|is|been|got|why)\b.{0,30}\bcancelled", r"为什么.{0,10}取消", r"被取消")
ADDRESS = _any(
    r"\b(?:chang(?:e|ing)|updat(?:e|ing)|correct|edit|modify|fix|switch|new|wrong|different|another)\b.{0,40}\baddress",
    r"\b(?:chang(?:e|ing)|updat(?:e|ing)|correct|edit|modify)\b.{0,40}\b(?:shipping|delivery) details",
    r"\baddress\b.{0,40}\b(?:change|changed|update|updated|wrong|incorrect|different|mistake)",
    r"(?:改|换|修改|更改|变更|填错|写错).{0,12}(?:地址|收货|电话)",
    r"(?:地址|收货人|收货电话|收货).{0,10}(?:改|换|错)",
    r"改成.{1,20}地址",
    r"\bwrong (?:house|street|flat|apartment|door|zip|post ?code|postal code)\b",
    r"\bi(?: have|'ve)? (?:just )?moved\b",
    r"搬家",
    r"寄[到往去][^哪]{0,40}(?:[省市区县].{0,40}[路街道巷号镇村])",
)
INVOICE = _any(r"\binvoices?\b", r"\breceipts?\b", r"\bbill for\b", r"发票", r"收据", r"账单")
LIST = _any(
    r"\b(?:list|show|see|view|what are|which are)\b.{0,30}\bmy (?:recent |latest |last |past )?orders\b",
    r"\border history\b",
    r"\ball (?:of )?my orders\b",
    r"\bmy (?:recent|latest|past) orders\b",
    r"\b(?:what|which) orders\b",
    r"(?:所有|全部|最近|历史)的?订单",
    r"订单(?:列表|记录)",
    r"有哪些订单",
    r"哪几个订单",
    r"买过(?:什么|哪些)",
)
MISSING = _any(
    r"\b(?:delivered|arrived|signed for)\b.{0,60}\b(?:not|never|no|nothing|hasn'?t|haven'?t|didn'?t|isn'?t)\b",
    r"\b(?:never|not|didn'?t|haven'?t|hasn'?t)\b.{0,30}\b(?:received?|arrived?|got|get|came)\b.{0,60}\bdelivered\b",
    r"\b(?:not|never|didn'?t|haven'?t|hasn'?t) (?:yet |even |actually )?(?:arrived?|come|came|turned up|showed up)\b",
    r"\b(?:not|never|didn'?t|haven'?t) (?:yet |even )?(?:received?|got|gotten|get) (?:\w+ )?"
    r"(?:it|orders?|parcels?|packages?|delivery|goods|anything|\d+)\b",
    r"(?:没|没有|未)(?:收到|拿到|见到|送到)(?:货|它|包裹|快递|东西|订单)?[了呢啊呀]?\s*(?:[，。！？,.!?；;]|$)",
    r"(?:还没|没有|一直没)(?:到货|到手)",
    r"(?:没收到|没有收到|未收到).{0,12}(?:签收|送达)",
    r"(?:签收|送达|妥投).{0,12}(?:没收到|没有收到|未收到|没拿到|没见)",
    r"丢件",
    r"丢了吗",
    r"弄丢",
)
WRONG_GOODS = _any(
    r"\bwrong (?:item|product|article|goods|colou?r|size|model|parcel|package)s?\b",
    r"\b(?:sent|send|got|gave|received?|delivered|shipped)\b(?: \w+){0,3} wrong\b",
    r"\b(?:items?|pieces?|products?|articles?|parts?|one|half)\b.{0,20}\b(?:is|are|was|were) (?:still )?missing\b",
    r"\bmissing (?:an?|one|two|some|the)? ?(?:items?|pieces?|products?|articles?|parts?)\b",
    r"\bonly (?:\w+ ){1,4}(?:arrived|came)\b|\bonly (?:got|received) (?:one|half|part|the|a)\b",
    r"只(?:收到|到了|寄了)",
    r"\bnot what i (?:ordered|bought)\b",
    r"发错|寄错|送错|错发|少发|漏发|少寄|漏寄",
    r"少了?(?:一|两|二|三|几|\d)(?:件|个|样|只|台|双|条|瓶|包|盒)",
    r"缺了?(?:一|两|\d)?(?:件|个|货)|货不对|不是我(?:要|订|点)的",
)
HURRY = _any(
    r"\bexpedite\b",
    r"\bhurry\b",
    r"\bspeed (?:it |this |things )?up\b",
    r"\bfaster\b",
    r"\burgent(?:ly)?\b",
    r"\bsooner\b",
    r"催",
    r"加急",
    r"尽快",
    r"快点",
    r"早点",
)
CONTENTS = _any(
    r"\bhow much\b.{0,40}\b(?:pay|paid|cost|was|total)\b",
    r"\btotal\b",
    r"\bwhat (?:did|was) i (?:order|buy|bought)\b",
    r"\bwhich .{1,40} i (?:ordered|bought)\b",
    r"\bwhat (?:is|was|s) in\b",
    r"\bdetails\b",
    r"多少钱",
    r"买了什么",
    r"买的什么",
    r"有什么商品",
)
MODIFY = _any(
    r"\b(?:chang\w*|modif\w*|switch\w*|updat\w*)\b.{0,40}\b(?:colou?r|size|items?|model|version|order|quantity|products?)\b",
    r"\b(?:remov\w*|add)\b.{0,40}\b(?:from|to) (?:(?:my|the|this|that) )?(?:\w+ )?order\b",
    r"\bordered\b.{0,40}\binstead of\b",
    r"\bsplit\b.{0,20}\bpayment\b",
    r"\b(?:change|switch|different|another)\b.{0,20}\bpayment method\b",
    r"(?:改|换).{0,4}(?:颜色|尺码|型号|数量|规格|款式)",
    r"(?:加|减|删)(?:一|两|掉|个|件)",
)
TRACKING = _any(r"\btracking\b", r"\btrack\b", r"\bcarrier\b", r"快递单号", r"运单号?", r"物流单号", r"哪家快递")

DISPUTE = _any(
    r"\b(?:charged|billed|debited|paid|deducted)\b.{0,40}\b(?:twice|two times|double|again|too much|more than)\b",
    r"\b(?:double|duplicate|twice)\b.{0,20}\b(?:charged?|charges|bill(?:ed)?|payments?)\b",
    r"\b(?:unauthori[sz]ed|unknown|unrecogni[sz]ed|fraudulent|wrong)\b.{0,20}\b(?:charges?|payments?|transactions?)\b",
    r"\b(?:do not|don'?t|did not|didn'?t|never)\b.{0,9}\b(?:recogni[sz]e|authori[sz]ed?|made)\b.{0,20}\bcharge",
    r"\bcharges?\b.{0,40}\b(?:not|don'?t|didn'?t|never|cannot|can'?t)\b.{0,9}\b(?:recogni[sz]e|authori[sz]ed?|ma[dk]e)\b",
    r"\b(?:dispute|chargeback)\b",
    r"扣.{0,6}(?:两次|2次|二次|双份|两遍|三次)",
    r"(?:重复|多|乱)(?:扣|收)(?:款|费|钱)?",
    r"盗刷",
    r"不是我(?:买|付|下|操作|本人)",
    r"扣错",
)
EXCHANGE = _any(
    r"\bexchang(?:e|ed|ing)\b",
    r"\bswap(?:ped|ping)?\b",
    r"\breplac(?:e|ement|ed)\b",
    r"\b(?:different|another|bigger|smaller|larger) (?:size|colou?r|model)\b",
    r"换货",
    r"换(?:一|个|台|件|双|大|小|新|成|别)",
    r"想换",
    r"补发",
)
REFUND_STATUS = _any(
    r"\b(?:where|when|status|still|yet|progress|update|track|waiting)\b.{0,60}\b(?:refund(?:ed)?|money)\b",
    r"\b(?:refund(?:ed)?|money)\b.{0,60}\b(?:status|yet|still|arriv\w*|progress|pending|processed|show|shown|showing|appear\w*|received?|when)\b",
    r"\b(?:not|never|haven'?t|hasn'?t|didn'?t)\b.{0,30}\b(?:received?|got|get|see|seen)\b.{0,30}\b(?:refund|money)\b",
    r"(?:退款|退的钱|钱).{0,16}(?:到账|进度|没到|没退|没收到|卡了|状态|到哪|什么时候|多久|几天|怎么还)",
    r"(?:到账|进度).{0,10}退款",
    r"(?:还没|没有|没)(?:收到)?退款",
    r"(?:退款|钱)呢",
)
STILL_WAITS = _any(
    r"\b(?:where|status|still|yet|progress|update|track|waiting|pending|processed|how long)\b",
    r"\bwhen (?:will|do|does|is|are|am|can|should)\b",
    r"\b(?:not|never|haven'?t|hasn'?t|didn'?t)\b.{0,30}\b(?:refund|money)\b",
    r"\b(?:refund|money)\b.{0,12}\b(?:not|never|haven'?t|hasn'?t|didn'?t)\b",
)
ASKS_FOR_MONEY = _any(
    r"\b(?:want|need|like|request|demand|claim|get|give|issue|have)\b.{0,20}\b(?:refund|money back)\b",
    r"^(?:please )?refund\b",
    r"\b(?:it|they|items?|goods|order|parcel|package|which|that|product|everything)\b.{0,15}\barriv",
)
RETURN = _any(
    r"\breturn(?:s|ed|ing)?\b",
    r"\bsend(?:ing)? .{0,30}\bback\b",
    r"\bgive .{0,20}\bback\b",
    r"\breturn label\b",
    r"退货",
    r"退回",
    r"寄回",
    r"退掉",
    r"退换",
)
MONEY_BACK = _any(
    r"\brefund(?:s|ed|ing|able)?\b",
    r"\bmoney back\b",
    r"\breimburs",
    r"\bmy money\b",
    r"退款",
    r"退钱",
    r"还钱",
    r"退费",
    r"赔",
    r"仅退款",
)

GOES_BACK = _any(
    r"退 ?#?\d",
    r"\d ?(?:只|都|全)?退(?:我|掉|还)?(?:[一二两三四五六七八九十半\d]|$)",
    r"(?:只|都|全|要|想)退",
    r"退(?:我|还|给我)?.{0,8}(?:块|元|钱)",
)
ASKS = _any(
    r"\b(?:how|what|when|which|why)\b",
    r"\bpolic(?:y|ies)\b",
    r"\b(?:is|are) (?:it|they|there|returns?|refunds?) .{0,20}\b(?:possible|allowed|accepted|free)\b",
    r"\beligible\b",
    r"\b(?:can|could|may) (?:i|we|you|it|one|orders|items|this|that)\b",
    r"\bdo you (?:accept|offer|allow|take|have)\b",
    r"\brules?\b",
    r"\bconditions?\b",
    r"条件",
    r"规则",
    r"政策",
    r"规定",
    r"多久",
    r"几天",
    r"多少天",
    r"怎么",
    r"怎样",
    r"如何",
    r"能不能",
    r"能否",
    r"可不可以",
    r"可以.{0,16}[吗嘛么]",
    r"能.{0,16}[吗嘛么]",
    r"还能",
    r"支持",
    r"退到哪",
    r"自动退",
    r"原路",
)
NAMES_RULE = _any(
    r"\bpolic(?:y|ies)\b", r"\brules?\b", r"\bconditions\b", r"\bterms\b", r"条件", r"规则", r"政策", r"规定"
)
POINTS = _any(
    r"\b(?:it|this|that|these|those|them|my|mine|the order|the one|i (?:bought|ordered|got|received))\b",
    r"这|那|它|我的|我买|我上|我刚|我前|我这|该订单",
)
GENERIC = _any(
    r"\b(?:an order|orders|a purchase|purchases|returns|refunds|cancellations)\b", r"一般|通常|都能|任何订单"
)
OWN = _any(r"\b(?:my|mine|this|that|these|those)\b", r"这|那|它|我")
PAYOUT = _any(
    r"\bhow long\b.{0,60}\b(?:refund(?:ed|s)?|money)\b.{0,30}\b(?:take|takes|arrive|show|appear|processed)\b",
    r"\bhow long\b.{0,30}\b(?:until|till|before|does|will)\b.{0,30}\b(?:refund(?:ed|s)?|money)\b",
    r"\b(?:where|which account|how)\b.{0,30}\b(?:refund(?:ed)?|money)\b.{0,20}\b(?:go|goes|sent|paid|credited)\b",
    r"退到哪",
    r"原路",
    r"(?:退款|钱).{0,8}(?:几天|多久|多长时间)",
    r"自动退款",
)
ONLY_ASKS = _any(
    r"\b(?:can|could|may) (?:i|we|it|this|that)\b.{0,20}\b(?:still |also )?(?:be )?(?:cancel|chang|return|refund)",
    r"\b(?:is it|would it be) (?:still )?possible\b",
    r"\b(?:how|what|when|which|why)\b",
    r"能.{0,20}吗",
    r"可以.{0,20}吗",
    r"能不能",
    r"能否",
    r"可不可以",
    r"还能",
)
