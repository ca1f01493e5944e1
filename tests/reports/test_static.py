"""What can be read of a page whose script does not run."""

import re
from html import unescape

import pytest


def core(report):
    return re.search(r"<main[^>]*>(.*)</main>", report.html, re.DOTALL)[1]


def texts(html, pattern):
    return [unescape(re.sub("<[^>]*>", "", each)) for each in re.findall(pattern, html, re.DOTALL)]


@pytest.mark.parametrize("kind", ["runs", "classifiers", "hostile"])
def test_the_finding_and_the_table_are_in_the_html(pages, kind) -> None:
    facts, html = pages[kind].facts, core(pages[kind])
    part = facts["sections"][0]
    assert part["kind"] == "results"
    assert texts(html, "<h1>(.*?)</h1>") == [facts["title"]]
    assert texts(html, r'<p class="lead">(.*?)</p>') == [facts["sentence"]]
    assert texts(html, r'<th scope="col">(.*?)</th>') == [part["of"], *part["metrics"]]
    named = [facts["systems"][row["system"]] for row in part["rows"]]
    assert texts(html, r'<th scope="row">(.*?)</th>') == named
    every = [
        f"{cell['text']}{cell['marks']} {cell['interval']}".rstrip()
        for row in part["rows"]
        for cell in row["cells"]
    ]
    assert [cell for cell in texts(html, r"<td>(.*?)</td>") if len(cell) > 1] == every
    assert part["note"].startswith(texts(html, r'<p class="note">(.*?)</p>')[0])
