"""The files of the page: what was taken from others says so, and both languages say the same things."""

import re

import pytest

from hermes_bot.workspace.client_api import PAGE
from tests.browser.seat import Seats

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]


@pytest.mark.parametrize("name", sorted(path.name for path in (PAGE / "vendor").glob("*.js")))
async def test_every_vendored_module_names_its_version_and_licence(name: str) -> None:
    notes = (PAGE / "vendor" / "README.md").read_text(encoding="utf-8")

    cells = next(line for line in notes.splitlines() if f"`{name}`" in line).split("|")

    assert any(cell.strip().replace(".", "").isdigit() for cell in cells)
    licence = next(part for part in cells[5].split("`") if part.startswith("LICENSE"))
    assert (PAGE / "vendor" / licence).stat().st_size > 500


async def test_both_languages_have_every_string(seats: Seats) -> None:
    seat = await seats.take()

    english, chinese = await seat.page.evaluate(
        """async () => {
            const { strings } = await import("/page/js/strings.js");
            const keys = (table, at = "") => Object.entries(table).flatMap(([key, value]) =>
                typeof value === "object" ? keys(value, `${at}${key}.`) : [`${at}${key}: ${typeof value}`]);
            return [keys(strings("en")), keys(strings("zh"))];
        }"""
    )

    assert english == chinese


async def test_every_string_is_used(seats: Seats) -> None:
    seat = await seats.take()
    names = await seat.page.evaluate("async () => Object.keys((await import('/page/js/strings.js')).strings('en'))")
    code = "".join(path.read_text(encoding="utf-8") for path in (PAGE / "js").glob("*.js"))

    unused = [name for name in names if f"t.{name}" not in code]

    assert unused == []


@pytest.mark.parametrize("way", ["innerHTML", "outerHTML", "insertAdjacentHTML", "dangerouslySetInnerHTML", "eval("])
async def test_no_script_of_the_page_makes_elements_of_text(way: str) -> None:
    own = {path.name: path.read_text(encoding="utf-8") for path in (PAGE / "js").glob("*.js")}

    assert [name for name, code in own.items() if way in code] == []


async def test_every_stylesheet_is_linked_and_the_policy_names_no_other_server() -> None:
    page = (PAGE / "index.html").read_text(encoding="utf-8")
    policy = page.partition('content="default-src')[2].partition('"')[0]

    assert {path.name for path in (PAGE / "css").glob("*.css")} == set(re.findall(r'href="/page/css/([^"]+)"', page))
    assert policy.startswith(" 'none'")
    assert not re.search(r"http|\*|unsafe|data:|blob:", policy)


async def test_each_link_that_leaves_the_page_keeps_its_opener_to_itself() -> None:
    code = "".join(path.read_text(encoding="utf-8") for path in (PAGE / "js").glob("*.js"))

    opening = re.findall(r'target="_blank"[^>]*>?', code)
    assert opening
    assert [one for one in opening if 'rel="noopener noreferrer"' not in one] == []
