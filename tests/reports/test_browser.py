"""The page in a real browser, without a network."""

import json
import os
import shutil
import sys
import time
import warnings
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import prframe
from prframe.reports.page import Report

from .cases import classified, hostile_report, qrels, runs

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

# Each test opens a page, which takes more than a third of a second.
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not shutil.which("chromium"), reason="chromium is not installed"),
    pytest.mark.skipif(os.name != "posix", reason="the options of the browser are for Linux"),
    pytest.mark.filterwarnings("ignore::prframe.CoverageWarning"),
]

ARGUMENTS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
)
DESKTOP, PHONE = (1280, 900), (390, 844)
# The row and the column of the cell that has the focus.
FOCUSED = """[document.activeElement.closest('tr').sectionRowIndex,
    document.activeElement.closest('td').cellIndex]"""


@dataclass
class Seen:
    """A page with what it has said and asked for."""

    page: object
    messages: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def is_quiet(self, path: Path) -> bool:
        return not self.messages and self.requests == [path.as_uri()]


@pytest.fixture(scope="module")
def browser():
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=ARGUMENTS.split()
        )
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def paths(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    reports = {
        "runs": prframe.report(runs(60, ["best", "middle", "worse", "worst"]), qrels(60)),
        "models": prframe.report(classified(), item="item", by="region"),
        "hostile": hostile_report(),
    }
    for name, report in reports.items():
        report.save(folder / f"{name}.html")
    return {name: folder / f"{name}.html" for name in reports}


@contextmanager
def opened(browser, path, size=DESKTOP, **options):
    """Open a page and listen to it."""
    context = browser.new_context(
        viewport=dict(zip(("width", "height"), size, strict=True)), **options
    )
    page = context.new_page()
    seen = Seen(page)
    page.on("console", lambda message: seen.messages.append(message.text))
    page.on("pageerror", lambda error: seen.messages.append(str(error)))
    page.on("request", lambda request: seen.requests.append(request.url))
    page.goto(path.as_uri())
    yield seen
    context.close()


def overflow(page) -> int:
    return page.evaluate(
        "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    )


def painted(page) -> float:
    """Wait until the page is painted, and return after how many milliseconds it was."""
    # The page forbids to evaluate text, which waiting for a condition would do.
    return page.evaluate(
        """() => new Promise(resolve => {
            const look = () => {
                const paints = performance.getEntriesByType("paint");
                if (paints.length) resolve(paints.at(-1).startTime);
                else setTimeout(look, 20);
            };
            look();
        })"""
    )


@pytest.mark.parametrize("name", ["runs", "models", "hostile"])
@pytest.mark.parametrize(("size", "scheme"), [(DESKTOP, "light"), (PHONE, "dark")])
def test_pages_open_quietly_and_fit(browser, paths, name, size, scheme) -> None:
    with opened(browser, paths[name], size, color_scheme=scheme) as seen:
        page = seen.page
        button = page.query_selector(".queries tbody th button")
        if button:
            button.click()
        assert overflow(page) == 0
        assert seen.is_quiet(paths[name]), (seen.messages, seen.requests)
        titles = page.locator("section > h2").all_inner_texts()
        assert titles[0] == "Results"
        assert titles[-1] == "Provenance"
        assert page.locator("svg[role=img]").count() >= 2


@pytest.mark.parametrize("name", ["runs", "models", "hostile"])
@pytest.mark.parametrize("size", [DESKTOP, (320, 640)])
def test_without_scripts_the_results_are_read(browser, paths, name, size) -> None:
    with opened(browser, paths[name], size, java_script_enabled=False) as seen:
        page = seen.page
        assert page.locator("main table tbody tr").count() >= 3
        assert page.locator("main table b").first.is_visible()
        assert page.locator("p.lead").is_visible()
        assert page.locator("noscript p").is_visible()
        assert not page.locator("nav").is_visible()
        # Without scripts nothing can measure the page but its whole picture.
        picture = page.screenshot(full_page=True)
        assert int.from_bytes(picture[16:20]) == size[0]


def test_what_the_page_of_runs_shows(browser, paths) -> None:
    with opened(browser, paths["runs"]) as seen:
        page = seen.page
        assert page.locator("h1").inner_text() == "4 runs, 60 queries"
        assert page.locator("table.results tbody tr").count() == 4
        assert page.locator("table.results .best").count() == 3
        assert page.locator("table.matrix tbody tr").count() == 4
        assert page.locator("table.matrix tbody button").count() == 12
        assert page.locator(".queries tbody tr").count() == 25
        page.get_by_role("button", name="Show 100 more").click()
        assert page.locator(".queries tbody tr").count() == 60
        page.get_by_label("Find a query").fill("q17")
        assert page.locator(".queries tbody tr").count() == 1
        page.locator(".queries tbody tr").click()
        assert page.locator(".rankings ol").count() == 4
        assert page.locator(".rankings ol").first.locator("li").count() == 20
        assert page.locator(".rankings li.relevant").count() > 0
        assert page.locator(".rankings i", has_text="?").count() > 0


def test_a_cell_of_the_matrix_leads_to_the_queries_of_its_pair(browser, paths) -> None:
    with opened(browser, paths["runs"]) as seen:
        page = seen.page
        page.locator("#comparison").get_by_role("button", name="P@10", exact=True).click()
        label = (
            page.locator(".matrix tbody tr")
            .nth(1)
            .locator("button")
            .nth(2)
            .get_attribute("aria-label")
        )
        page.locator(".matrix tbody tr").nth(1).locator("button").nth(2).click()
        chosen = page.locator("#queries select").evaluate_all(
            "nodes => nodes.map(node => node.selectedOptions[0].textContent)"
        )
        assert label.startswith(f"{chosen[0]} minus {chosen[1]}: ")
        pressed = page.locator("#queries [aria-pressed=true]").inner_text()
        assert pressed == "P@10"
        assert page.evaluate("document.activeElement.id") == "queries-title"


def test_sorting(browser, paths) -> None:
    with opened(browser, paths["runs"]) as seen:
        page = seen.page
        page.locator(".queries thead button").first.click()
        first = page.locator(".queries tbody th").first
        assert first.inner_text() == "q0"
        assert page.locator(".queries thead th").first.get_attribute("aria-sort") == "ascending"
        page.locator(".queries thead button").first.click()
        assert first.inner_text() == "q59"
        page.locator(".queries thead button").nth(1).click()
        values = page.locator(".queries tbody tr td:nth-child(2)").all_inner_texts()
        assert values == sorted(values, reverse=True)


def test_results_are_sorted_and_copied(browser, paths) -> None:
    with opened(browser, paths["runs"]) as seen:
        page = seen.page
        systems = page.locator(".results tbody th bdi")
        best_first = systems.all_inner_texts()
        page.locator(".results thead button").nth(1).click()
        assert systems.all_inner_texts() == best_first[::-1]
        page.locator(".results thead button").first.click()
        assert systems.all_inner_texts() == sorted(best_first)
        assert page.locator(".results thead th").first.get_attribute("aria-sort") == "ascending"
        page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
        page.get_by_role("button", name="Copy as CSV").click()
        copied = page.locator("#results textarea").input_value()
        assert copied.startswith("key,system,metric,estimate,")
        assert all(f",{name}," in copied for name in best_first)


def test_a_document_is_marked_in_all_rankings(browser, paths) -> None:
    with opened(browser, paths["runs"]) as seen:
        page = seen.page
        page.locator(".queries tbody button").first.click()
        page.locator(".rankings li").first.hover()
        name = page.locator(".rankings li bdi").first.inner_text()
        marked = page.locator(".rankings .same bdi").all_inner_texts()
        everywhere = page.locator(".rankings li bdi").all_inner_texts()
        assert marked == [name] * everywhere.count(name)


def test_keyboard_alone(browser, paths) -> None:
    with opened(browser, paths["runs"]) as seen:
        page = seen.page
        reached, cell = [], None
        for _ in range(200):
            page.keyboard.press("Tab")
            state = page.evaluate(
                """() => {
                    const node = document.activeElement, style = getComputedStyle(node);
                    return [node.tagName, node.getAttribute("aria-label") || node.textContent,
                            style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2];
                }"""
            )
            reached.append(state)
            if state[1].endswith("Show the queries.") and cell is None:
                cell = state[1]
                page.keyboard.press("Enter")
                assert page.evaluate("document.activeElement.id") == "queries-title"
            if state[0] == "BUTTON" and page.evaluate(
                "document.activeElement.hasAttribute('aria-expanded')"
            ):
                page.keyboard.press("Enter")
                break
        assert cell is not None
        assert reached[0][1] == "Skip to the results"
        assert all(visible for _, _, visible in reached)
        assert page.locator(".rankings").count() == 1
        assert page.evaluate("document.activeElement.getAttribute('aria-expanded')") == "true"
        page.keyboard.press("Enter")
        assert page.locator(".rankings").count() == 0
        assert page.evaluate("document.activeElement.getAttribute('aria-expanded')") == "false"


@pytest.mark.parametrize("name", ["runs", "models"])
def test_everything_has_a_name(browser, paths, name) -> None:
    with opened(browser, paths[name], PHONE) as seen:
        nameless = seen.page.evaluate(
            """() => [...document.querySelectorAll("button, input, select, svg[role=img], [role=region]")]
                .filter(node => !(node.getAttribute("aria-label") || node.labels?.length || node.textContent.trim()))
                .map(node => node.outerHTML)"""
        )
        assert nameless == []
        scopeless = seen.page.evaluate("document.querySelectorAll('th:not([scope])').length")
        assert scopeless == 0


def test_intervals_of_lines_are_shown_and_hidden(browser, paths) -> None:
    with opened(browser, paths["runs"]) as seen:
        page = seen.page
        assert page.locator("#curves .area").count() == 2
        page.locator("#curves .keys button").nth(3).click()
        assert page.locator("#curves .area").count() == 3


def test_dark_and_light_have_grounds_of_their_own(browser, paths) -> None:
    grounds = []
    for scheme in ("light", "dark"):
        with opened(browser, paths["runs"], color_scheme=scheme) as seen:
            grounds.append(seen.page.evaluate("getComputedStyle(document.body).backgroundColor"))
    assert grounds == ["rgb(255, 255, 255)", "rgb(21, 24, 28)"]


def test_charts_follow_the_width(browser, paths) -> None:
    with opened(browser, paths["models"]) as seen:
        page = seen.page
        wide = page.locator("#curves svg[role=img]").first.bounding_box()["width"]
        page.set_viewport_size({"width": 340, "height": 700})
        page.wait_for_timeout(300)
        narrow = page.locator("#curves svg[role=img]").first.bounding_box()["width"]
        assert narrow < 340 < wide
        assert overflow(page) == 0
        sizes = page.evaluate(
            "[...document.querySelectorAll('svg .tick')].map(node => parseFloat(getComputedStyle(node).fontSize))"
        )
        assert min(sizes) >= 12


def test_hostile_names_are_text(browser, paths) -> None:
    with opened(browser, paths["hostile"]) as seen:
        page = seen.page
        page.get_by_label("Find a query").fill("script")
        page.locator(".queries tbody th button").first.click()
        page.locator(".matrix button").first.click()
        assert page.evaluate("window.hit") is None
        assert page.locator("img, iframe, main script, [onerror], [onmouseover]").count() == 0
        assert page.evaluate("document.querySelectorAll('script').length") == 2
        assert "</script><script>window.hit = 1" in page.locator("h1").inner_text()
        assert page.title() == "</script><script>window.hit = 1</script>"
        assert seen.is_quiet(paths["hostile"]), (seen.messages, seen.requests)


def test_the_policy_blocks_what_gets_in_all_the_same(browser, paths) -> None:
    with opened(browser, paths["runs"]) as seen:
        page, failures = seen.page, {}
        page.on("requestfailed", lambda request: failures.update({request.url: request.failure}))
        blocked = page.evaluate(
            """async () => {
                const blocked = [];
                document.addEventListener("securitypolicyviolation", event => blocked.push(event.effectiveDirective));
                const image = document.createElement("img");
                image.src = "https://example.org/x.png";
                const script = document.createElement("script");
                script.textContent = "window.hit = 1";
                document.body.append(image, script);
                const style = document.createElement("style");
                style.textContent = "body { background: red }";
                document.head.append(style);
                await fetch("https://example.org/").catch(() => null);
                await new Promise(done => setTimeout(done, 300));
                return blocked;
            }"""
        )
        assert {"img-src", "script-src-elem", "style-src-elem", "connect-src"} <= set(blocked)
        assert page.evaluate("window.hit") is None
        assert failures == dict.fromkeys(seen.requests[1:], "csp")


def test_ten_thousand_queries(browser, tmp_path) -> None:
    n, depth, rng = 10_000, 10, np.random.default_rng(1)
    query = [f"query-{number:05d}" for number in range(n) for _ in range(depth)]
    document = [f"document-{number}" for number in rng.integers(0, 10**6, n * depth)]
    frame = pl.concat(
        pl.DataFrame(
            {"system": system, "query_id": query, "doc_id": document, "score": rng.random(n * depth), "label": rng.random(n * depth) < 0.4}
        )
        for system in ("one", "two")
    ).unique(["system", "query_id", "doc_id"], maintain_order=True)  # fmt: skip
    frame = frame.filter(pl.col("label").any().over("system", "query_id"))
    frame = frame.filter(pl.col("system").n_unique().over("query_id") == 2)
    path = tmp_path / "many.html"
    report = prframe.report(
        frame, over="query_id", item="doc_id", metrics=["AP", "P@5"], output=path
    )
    n_kept = len(next(part for part in report.facts["sections"] if part["id"] == "queries")["ids"])
    assert n_kept > 9_000
    assert path.stat().st_size < 4e6
    with opened(browser, path, PHONE) as seen:
        page = seen.page
        paint = painted(page)
        started = time.perf_counter()
        page.get_by_label("Find a query").fill("99")
        page.locator(".queries thead button").nth(1).click()
        page.locator(".queries tbody th button").first.click()
        assert page.locator(".rankings, .detail .note").count() > 0
        lasted = time.perf_counter() - started
        sys.stdout.write(
            f"{n_kept} queries: {path.stat().st_size / 1e3:.0f} kB, painted after {paint:.0f} ms, "
            f"sought, sorted and opened in {lasted:.2f} s\n"
        )
        assert overflow(page) == 0
        assert seen.is_quiet(path)


@pytest.fixture(scope="module")
def many_systems(tmp_path_factory):
    """The page of 300 systems on a few queries."""
    path = tmp_path_factory.mktemp("systems") / "many.html"
    names = [f"team{number % 30:02d}-run{number:03d}" for number in range(300)]
    with warnings.catch_warnings():
        # Few queries may have skewed differences by chance, or equal values.
        warnings.simplefilter("ignore", prframe.SkewedDifferencesWarning)
        warnings.simplefilter("ignore", prframe.CoverageWarning)
        warnings.simplefilter("ignore", prframe.UndefinedMetricWarning)
        prframe.report(runs(12, names, depth=12), qrels(12, depth=12), output=path)
    return path


@pytest.mark.parametrize("size", [DESKTOP, PHONE, (320, 640)])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_three_hundred_systems_fit(browser, many_systems, size, scheme) -> None:
    with opened(browser, many_systems, size, color_scheme=scheme) as seen:
        page = seen.page
        paint = painted(page)
        sys.stdout.write(
            f"300 systems: {many_systems.stat().st_size / 1e3:.0f} kB, painted after {paint:.0f} ms\n"
        )
        assert many_systems.stat().st_size < 2e6
        assert overflow(page) == 0
        # No section is longer than a few screens before someone asks for more.
        heights = page.evaluate(
            "[...document.querySelectorAll('section')].map(node => node.getBoundingClientRect().height)"
        )
        assert max(heights) < 6_000
        assert page.locator("table.results tbody tr").count() == 30
        names = page.locator("table.results tbody th").first
        assert names.bounding_box()["height"] < 100
        page.get_by_role("button", name="Show all 300").click()
        assert page.locator("table.results tbody tr").count() == 300
        assert page.evaluate("document.activeElement.textContent") == (
            page.locator("table.results tbody th").nth(30).inner_text()
        )
        page.get_by_text("282 more, in grey").click()
        assert page.locator("#curves .keys button:visible").count() == 300
        assert page.locator("table.matrix tbody tr").count() == 60
        assert overflow(page) == 0
        assert seen.is_quiet(many_systems), (seen.messages, seen.requests)


def test_the_headings_of_a_large_matrix_stay_in_sight(browser, many_systems) -> None:
    with opened(browser, many_systems) as seen:
        page = seen.page
        frame = page.locator("#comparison .scroll")
        frame.evaluate("node => node.scrollTo(2000, 2000)")
        outer = frame.bounding_box()
        top = page.locator(".matrix thead th").nth(30).bounding_box()
        side = page.locator(".matrix tbody th").nth(30).bounding_box()
        assert abs(top["y"] - outer["y"]) < 3
        assert abs(side["x"] - outer["x"]) < 3


def test_arrows_move_in_the_matrix_which_takes_one_step_of_tab(browser, many_systems) -> None:
    with opened(browser, many_systems) as seen:
        page = seen.page
        reachable = page.locator(".matrix tbody button[tabindex='0']")
        assert reachable.count() == 1
        reachable.focus()
        assert page.evaluate(FOCUSED) == [0, 2]
        # The cells of the diagonal are stepped over, and the headings are an end.
        for key, expected in (
            ("ArrowRight", [0, 3]),
            ("ArrowDown", [1, 3]),
            ("ArrowLeft", [1, 1]),
            ("ArrowUp", [1, 1]),
            ("ArrowDown", [2, 1]),
            ("ArrowLeft", [2, 1]),
        ):
            page.keyboard.press(key)
            assert page.evaluate(FOCUSED) == expected, key
        assert reachable.count() == 1
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.closest('.matrix')") is None
        assert seen.is_quiet(many_systems)


@pytest.mark.parametrize("name", ["runs", "models"])
@pytest.mark.parametrize("width", [688, 712], ids=["A4", "Letter"])
def test_what_is_printed_is_whole_and_can_be_seen(browser, paths, name, width) -> None:
    with opened(browser, paths[name], (width, 900), color_scheme="dark") as seen:
        page = seen.page
        painted(page)
        page.emulate_media(media="print", color_scheme="dark")
        page.wait_for_timeout(300)
        assert overflow(page) == 0
        wide = "nodes => nodes.filter(node => node.scrollWidth > node.clientWidth + 1).length"
        assert page.locator(".scroll").evaluate_all(wide) == 0
        colours = page.locator(".results .best b").first.evaluate(
            "node => [node, document.body].map(part => [getComputedStyle(part).color, "
            "getComputedStyle(part).backgroundColor])"
        )
        dark, white, clear = "rgb(27, 30, 35)", "rgb(255, 255, 255)", "rgba(0, 0, 0, 0)"
        assert colours == [[dark, clear], [dark, white]]


@pytest.mark.filterwarnings("ignore::prframe.NoNegativesWarning")
def test_wins_are_those_of_values_that_are_not_rounded(browser, tmp_path) -> None:
    rows = pl.concat(
        pl.DataFrame({"system": name, "query": range(40), "score": 1.0, "label": 1})
        for name in "ab"
    )
    page = prframe.report(rows, over="query", metrics="AP")
    facts = json.loads(json.dumps(page.facts))
    matrix = next(part for part in facts["sections"] if part["id"] == "comparison")
    assert matrix["metrics"][0]["pairs"][0][6:] == [0, 40, 0]
    matrix["metrics"][0]["pairs"][0][6:] = [25, 0, 15]
    path = tmp_path / "rounded.html"
    Report.of(facts).save(path)
    with opened(browser, path) as seen:
        painted(seen.page)
        assert "better on 25, equal on 0, worse on 15 of 40" in seen.page.inner_text("#queries")
