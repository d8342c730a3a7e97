"""Names, places and goods of the demo shop, in English and Chinese. All are made up."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Goods:
    """Something the demo shop sells; the price is in cents of the words' currencies."""

    sku: str
    name: str
    price_cents: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """What the generator draws from. Names are pairs: as written, and as they stand in an e-mail address."""

    locale: str
    given: tuple[tuple[str, str], ...]
    family: tuple[tuple[str, str], ...]
    currencies: tuple[str, ...]
    cities: tuple[str, ...]
    streets: tuple[str, ...]
    goods: tuple[Goods, ...]


def _latin(names: str) -> tuple[tuple[str, str], ...]:
    return tuple((name, name.lower()) for name in names.split())


def _chinese(names: str) -> tuple[tuple[str, str], ...]:
    pairs = (pair.split(":") for pair in names.split())
    return tuple((written, spelt) for written, spelt in pairs)


def _goods(lines: str) -> tuple[Goods, ...]:
    rows = (line.strip().split("|") for line in lines.strip().splitlines())
    return tuple(Goods(sku=sku, name=name, price_cents=int(price)) for sku, name, price in rows)


ENGLISH = Words(
    locale="en",
    given=_latin(
        "Ada Ben Clara David Elena Felix Grace Hugo Irene Jonas Karen Liam Maya Nora Oscar Paula Quinn Rosa Simon Tara"
    ),
    family=_latin("Adams Becker Costa Dubois Evans Farrell Green Hansen Ivers Jensen Keller Lopez Murphy Novak Owens"),
    currencies=("EUR", "USD"),
    cities=("Dublin 4", "Cork", "Berlin 10115", "Vienna 1070", "Boston, MA", "Portland, OR", "Utrecht", "Galway"),
    streets=("Harbour Lane", "Mill Road", "Station Street", "Oak Avenue", "Church Street", "Garden Row", "Hill Road"),
    goods=_goods(
        """
        HD-210|Wireless headphones|7990
        KT-100|Electric kettle|3450
        LM-045|Desk lamp|2790
        BP-300|Travel backpack|6480
        CM-900|Espresso machine|74900
        MS-022|Wireless mouse|1995
        KB-077|Mechanical keyboard|8900
        YM-012|Yoga mat|2400
        WB-033|Steel water bottle|1850
        RC-500|Rain coat|5900
        SP-110|Bluetooth speaker|4550
        TB-240|Electric toothbrush|3990
        PN-018|Set of three pans|9950
        CH-064|USB-C charger|2290
        BL-150|Wool blanket|4700
        """
    ),
)

CHINESE = Words(
    locale="zh",
    given=_chinese(
        "伟:wei 芳:fang 秀英:xiuying 敏:min 静:jing 强:qiang 磊:lei 洋:yang 艳:yan 杰:jie"
        " 涛:tao 明:ming 超:chao 霞:xia 平:ping 桂英:guiying 浩然:haoran 子轩:zixuan 雨桐:yutong 欣怡:xinyi"
    ),
    family=_chinese(
        "王:wang 张:zhang 刘:liu 陈:chen 杨:yang 赵:zhao 黄:huang 周:zhou 吴:wu 徐:xu 孙:sun 胡:hu 朱:zhu 高:gao 林:lin"
    ),
    currencies=("CNY",),
    cities=(
        "上海市徐汇区",
        "北京市海淀区",
        "广州市天河区",
        "杭州市西湖区",
        "成都市武侯区",
        "南京市鼓楼区",
        "武汉市洪山区",
    ),
    streets=("人民路", "解放路", "中山路", "建设路", "和平路", "文化路", "长江路"),
    goods=_goods(
        """
        HD-210|无线耳机|49900
        KT-100|电热水壶|15900
        LM-045|护眼台灯|18800
        BP-300|旅行双肩包|29900
        CM-900|意式咖啡机|569900
        MS-022|无线鼠标|8900
        KB-077|机械键盘|45900
        YM-012|瑜伽垫|12900
        WB-033|不锈钢保温杯|9900
        RC-500|防水冲锋衣|39900
        SP-110|蓝牙音箱|26900
        TB-240|电动牙刷|19900
        PN-018|三件套锅具|52900
        CH-064|快充充电器|11900
        BL-150|羊毛毯|33900
        """
    ),
)
