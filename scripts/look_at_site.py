"""Look at the built pages in a browser, and list what is cut off, empty, broken or heavy.

python scripts/look_at_site.py docs/_build/html                 # needs playwright and chromium
python scripts/look_at_site.py docs/_build/html --shots FOLDER  # the main pages as pictures too
"""

import argparse
import re
import shutil
import sys
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from urllib.parse import unquote

from playwright.sync_api import Page, sync_playwright

LARGEST = 300_000
VIEWS = {"1280": (1280, False), "390": (390, False), "dark": (1280, True)}
NARROW = 600
MAIN = {
    *("index", "quickstart", "cite", "benchmarks", "evidence/coverage", "gallery/index"),
    *("guide/index", "guide/cookbook", "guide/intervals", "guide/comparing", "guide/bands"),
    *("guide/metrics", "guide/trec", "guide/spark", "guide/sources", "reference/verbs/evaluate"),
}
# What is wrong with a page, as lines of text: it is wider than the window, code or tables are cut
# off, the header has several lines, the navigation is shown and empty, or a picture is for the
# other ground.
MEASURE = """([narrow, dark]) => {
  const wrong = [], width = document.documentElement.clientWidth;
  for (const fold of document.querySelectorAll("details")) fold.open = true;
  const shown = (one) => one.getClientRects().length > 0;
  const named = (one) => one.textContent.trim().slice(0, 50).replaceAll("\\n", " ");
  if (document.documentElement.scrollWidth > width)
    wrong.push(`the page is ${document.documentElement.scrollWidth} wide`);
  if (!narrow) for (const pre of document.querySelectorAll("div.highlight pre"))
    if (shown(pre) && pre.scrollWidth > pre.clientWidth + 1)
      wrong.push(`code of ${pre.scrollWidth} in ${pre.clientWidth}: ${named(pre)}`);
  for (const table of document.querySelectorAll("article table")) {
    let box = table.parentElement;
    while (box && !/auto|scroll/.test(getComputedStyle(box).overflowX)) box = box.parentElement;
    const room = narrow && box ? Infinity : table.parentElement.getBoundingClientRect().right + 1;
    if (shown(table) && table.getBoundingClientRect().right > room)
      wrong.push(`a table is cut off: ${named(table)}`);
  }
  const header = document.querySelector(".bd-header");
  if (header && header.offsetHeight > 84) wrong.push(`the header is ${header.offsetHeight} high`);
  const side = document.querySelector(".bd-sidebar-primary");
  if (!narrow && side && shown(side) && ![...side.querySelectorAll("a[href]")].some(shown))
    wrong.push("an empty navigation");
  for (const image of document.querySelectorAll(dark ? ".only-light" : ".only-dark"))
    if (shown(image)) wrong.push("a picture for the other ground");
  return wrong;
}"""


def faults_of_files(site: Path) -> Iterator[str]:
    """Say which pages are heavy, and which links within the site lead nowhere."""
    anchors: dict[Path, set[str]] = {}
    pages = {path: path.read_text(encoding="utf-8") for path in sorted(site.rglob("*.html"))}
    for path, text in pages.items():
        anchors[path] = set(re.findall(r'\b(?:id|name)="([^"]+)"', text))
    for path, text in pages.items():
        name = path.relative_to(site)
        if path.stat().st_size > LARGEST:
            yield f"{name}: {path.stat().st_size:,} bytes"
        for link in set(re.findall(r'<a\b[^>]*?\bhref="([^"]+)"', text)):
            target, _, anchor = unquote(unescape(link)).partition("#")
            if re.match(r"[a-z]+:|//", target):
                continue
            linked = (path.parent / target.partition("?")[0]).resolve() if target else path
            linked = linked / "index.html" if linked.is_dir() else linked
            if not linked.exists() or (anchor and anchor not in anchors.get(linked, {anchor})):
                yield f"{name}: {link} leads nowhere"


def faults_of_views(site: Path, pages: list[str], page: Page, shots: Path | None) -> Iterator[str]:
    """Say what is wrong with each page in each view, in the window that is open."""
    for name in pages:
        for view, (width, dark) in VIEWS.items():
            page.set_viewport_size({"width": width, "height": 900})
            mode = "dark" if dark else "light"
            page.add_init_script(f"localStorage.mode = localStorage.theme = '{mode}'")
            page.goto((site / f"{name}.html").as_uri())
            if shots and name in MAIN:
                shots.mkdir(parents=True, exist_ok=True)
                page.screenshot(path=shots / f"{name.replace('/', '-')}-{view}.png")
            for fault in page.evaluate(MEASURE, [width < NARROW, dark]):
                yield f"{name} ({view}): {fault}"


def names(site: Path) -> list[str]:
    """Return the pages that are looked at: all that are written by hand, and those of verbs."""
    folders = [".", "guide", "evidence", "reference", "reference/verbs", "gallery"]
    paths = [path for folder in folders for path in sorted((site / folder).glob("*.html"))]
    left_out = ("genindex", "search", "report-of-", "sg_execution")
    pages = [path.relative_to(site).with_suffix("").as_posix() for path in paths]
    return [name for name in pages if not name.split("/")[-1].startswith(left_out)]


def said(faults: Iterator[str]) -> int:
    """Print faults as they are seen, and return how many there are."""
    count = 0
    for count, fault in enumerate(faults, 1):  # noqa: B007 - the last one is returned
        print(fault, flush=True)
    return count


def main() -> int:
    """Print the faults, and fail if there are any."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("site", type=Path)
    parser.add_argument("--only", nargs="+", help="pages, as in guide/bands; all by default")
    parser.add_argument("--shots", type=Path)
    given = parser.parse_args()
    site = given.site.resolve()
    count = said(faults_of_files(site))
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        pages = given.only or names(site)
        count += said(faults_of_views(site, pages, browser.new_page(), given.shots))
        browser.close()
    print(f"{count} faults")
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
