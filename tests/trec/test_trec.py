"""TREC files: what is read, what is refused, what is written."""

import bz2
import gzip
import io
import lzma
import os
from math import inf
from pathlib import Path

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from polars.testing import assert_frame_equal

from prframe import MissingColumnError, PrframeError
from prframe.trec import read_qrels, read_run, reading, write_run

RUN = {
    "query_id": pl.String,
    "doc_id": pl.String,
    "rank": pl.Int64,
    "score": pl.Float64,
    "system": pl.String,
}
QRELS = {"query_id": pl.String, "doc_id": pl.String, "label": pl.Int64}
ROWS = [("007", "d1", 1, 2.5, "bm25"), ("007", "d2", 2, -0.001, "bm25")]
LINES = b"007 Q0 d1 1 2.5 bm25\n007 Q0 d2 2 -1e-3 bm25\n"
SAME_FOLDER = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
EXPECTED = pl.DataFrame(ROWS, schema=RUN, orient="row")


def saved(folder: Path, content: bytes, name: str = "run.txt") -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


VALID = {
    "regular": LINES,
    "no final newline": LINES[:-1],
    "tabs": LINES.replace(b" ", b"\t"),
    "runs of white space": LINES.replace(b" ", b" \t \v\f"),
    "leading and trailing": b"  " + LINES.replace(b"\n", b" \t\n\t "),
    "Windows": LINES.replace(b"\n", b"\r\n"),
    "Windows with a trailing space": LINES.replace(b"\n", b" \r\n"),
    "old Mac": LINES.replace(b"\n", b"\r"),
    "blank lines": b"\n\n" + LINES.replace(b"\n", b"\n \n\n\t\n"),
    "byte order mark": b"\xef\xbb\xbf" + LINES,
    "byte order marks, from files put together": b"\xef\xbb\xbf"
    + LINES.replace(b"\n0", b"\n\xef\xbb\xbf0"),
    "byte order mark and comment": b"\xef\xbb\xbf# made up\n" + LINES,
    "UTF-16": LINES.decode().encode("utf-16"),
    "UTF-16, big end first": b"\xfe\xff" + LINES.decode().encode("utf-16-be"),
    "comments": b"# by hand\n" + LINES.replace(b"\n", b"\n # a b c 1 2 d\n#\n"),
    "comments of six words": b"#7 Q0 d1 1 2,5 x\n" + LINES + b"# Q0 d1 1 2 x\n",
    "a comment last, without newline": LINES + b"#",
    "a comment that is no UTF-8": b"# caf\xe9\n" + LINES,
    "more than six fields": LINES.replace(b"\n", b" and more\n"),
    "more than six fields with tabs": LINES.replace(b"\n", b"\tand more\n"),
    "one longer line": LINES[:-1] + b" and more\n",
    "plus signs": LINES.replace(b" 1 2.5", b" +1 +2.5"),
    "long numbers": LINES.replace(b"2.5", b"2.500000000000000000000000000000001"),
}


@pytest.mark.parametrize("content", VALID.values(), ids=VALID)
def test_what_a_run_may_look_like(content: bytes, tmp_path: Path) -> None:
    path = saved(tmp_path, content)
    assert_frame_equal(read_run(path), EXPECTED)
    assert_frame_equal(read_run(str(path)), EXPECTED)
    zipped = saved(tmp_path, gzip.compress(content), "zipped")
    assert_frame_equal(read_run(zipped), EXPECTED)
    assert_frame_equal(read_run([path, zipped]), pl.concat([EXPECTED] * 2))


@pytest.mark.parametrize("content", VALID.values(), ids=VALID)
def test_every_way_of_reading_agrees(content: bytes, tmp_path: Path, monkeypatch) -> None:
    path = saved(tmp_path, content)
    monkeypatch.setattr(reading, "_BLOCK", 7)
    assert_frame_equal(read_run(path), EXPECTED)
    monkeypatch.setattr(reading, "_regular", lambda *_: None)
    assert_frame_equal(read_run(path), EXPECTED)


def test_qrels(tmp_path: Path) -> None:
    expected = pl.DataFrame([("007", "d1", 1), ("007", '"d2', -1)], schema=QRELS, orient="row")
    for content in (
        b'007 0 d1 1\n007 0 "d2 -1\n',
        b'007 0 d1 1 \n007 0 "d2 -1 \n',
        b'007\t0\td1  +1\n\n007 Q0 "d2 -1',
    ):
        assert_frame_equal(read_qrels(saved(tmp_path, content)), expected)


@pytest.mark.parametrize("content", [b"", b"\n", b" \r\n\t\n", b"# nothing\n", b"\xef\xbb\xbf"])
def test_files_without_rows(content: bytes, tmp_path: Path) -> None:
    path = saved(tmp_path, content)
    assert_frame_equal(read_run(path), pl.DataFrame(schema=RUN))
    assert_frame_equal(read_qrels([path, path]), pl.DataFrame(schema=QRELS))


def test_quotes_and_other_characters_are_ordinary(tmp_path: Path) -> None:
    ids = ['"q', "d#1,;'", "ä\u00a0\u2028", "x^\x01\x00"]
    content = "".join(f"{a} {b} {a} 1 1 {b}\n" for a in ids for b in ids).encode()
    expected = [(a, a, 1, 1.0, b) for a in ids for b in ids]
    assert read_run(saved(tmp_path, content)).rows() == expected
    # A byte order mark is one only as the very first character of a line.
    for space in (b" ", b"\t", b"\xef\xbb\xbf"):
        path = saved(tmp_path, space + b"\xef\xbb\xbfq Q0 d 1 1 t\n")
        assert read_run(path)["query_id"].to_list() == ["\ufeffq"]
    # Such a start is also that of compressed data.
    for start in (b"x^", b"x\x01"):
        path = saved(tmp_path, start + b"2 Q0 d 1 1 t\n")
        assert read_run(path)["query_id"].to_list() == [start.decode() + "2"]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1e5", 1e5),
        ("1E-5", 1e-5),
        (".5", 0.5),
        ("5.", 5.0),
        ("inf", inf),
        ("-Infinity", -inf),
        ("-0.0", -0.0),
        ("00012", 12.0),
    ],
)
def test_numbers(text: str, value: float, tmp_path: Path) -> None:
    for space in " \t":
        content = f"q Q0 d 1 {text} t\n".replace(" ", space).encode()
        assert read_run(saved(tmp_path, content))["score"].to_list() == [value]
    layout = reading.RUN
    assert layout.parse(content)[4] == value


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes with names are those of Unix")
def test_pipes(tmp_path: Path) -> None:
    from threading import Thread

    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = Thread(target=path.write_bytes, args=[LINES * 1000])
    writer.start()
    rows = read_run(path)
    writer.join()
    assert rows.height == 2000


@pytest.mark.parametrize("word", ["inf", "-inf", "+Inf", "-Infinity", "INFINITY"])
@pytest.mark.parametrize("more", [b"", b" and more"])
def test_infinite_scores(word: str, more: bytes, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(reading, "_BLOCK", 100)
    scores = [word if i % 7 in {0, 3} else f"{i}.5" for i in range(50)]
    lines = [f"q Q0 d{i} {i} {score} t".encode() + more for i, score in enumerate(scores)]
    for end in (b"\n", b"\r\n", b"  \n\n"):
        path = saved(tmp_path, end.join(lines))
        assert read_run(path)["score"].to_list() == [float(score) for score in scores]


@pytest.mark.parametrize("text", ["1e999", "-1E+999", "+9" + "9" * 400 + ".", "nan", "-NaN"])
def test_infinite_scores_hide_no_malformed_ones(text: str, tmp_path: Path, monkeypatch) -> None:
    lines = "q Q0 d 1 -inf t\n" * 20
    path = saved(tmp_path, (lines + f"q Q0 d 1 {text} t\n" + lines).encode())
    for block in (1 << 23, 100):
        monkeypatch.setattr(reading, "_BLOCK", block)
        with pytest.raises(PrframeError, match="line 21: the score must"):
            read_run(path)


ADVICE = ". Mend the line, or put # and a space in front of it to leave it out."
OF_COMMENTS = (
    ". Put a space behind the # if it is a comment, or change the id of the query, which must not "
    "begin with #."
)
MALFORMED_RUNS = {
    "a line of a run must have 6 fields, 'query Q0 document rank score tag'; got 5, in 'q Q0 d 1 2.5'": b"q Q0 d 1 2.5\n",
    "a line of a run must have 6 fields, 'query Q0 document rank score tag'; got 5, in 'q  d 1 2.5 t'": b"q  d 1 2.5 t\n",
    "the rank must be a whole number; got 'e', in 'q Q0 d e 1 2.5 t'": b"q Q0 d e 1 2.5 t\n",
    "the score must fit into a 64-bit float; got '-1e999', in 'q Q0 d 1 -1e999 t'": b"q Q0 d 1 -1e999 t\n",
    "a comment must not have the fields of a run, 'query Q0 document rank score tag'; got a "
    "line that begins with # and has them, in '#7 Q0 d1 1 2 x'": b"#7 Q0 d1 1 2 x\n",
    "the score must be a number; got '2,5', in 'q Q0 d 1 2,5 t'": b"q Q0 d 1 2,5 t\n",
    "the score must be a number; got 'NaN', in 'q Q0 d 1 NaN t'": b"q Q0 d 1 NaN t\n",
    "the score must be a number; got 'null', in 'q Q0 d 1 null t'": b"q Q0 d 1 null t\n",
    "the score must be a number; got '1_0', in 'q Q0 d 1 1_0 t'": b"q Q0 d 1 1_0 t\n",
    r"the text must be UTF-8; got invalid continuation byte, in 'q\\xe9 Q0 d 1 2.5 t'": b"q\xe9 Q0 d 1 2.5 t\n",
    r"the text must be UTF-8; got invalid start byte, in 'q Q0 d 1 2.5 t \\xff'": b"q Q0 d 1 2.5 t \xff\n",
    "a line of a run must have 6 fields, 'query Q0 document rank score tag'; got 5, in 'q Q0 "
    + "d" * 194
    + "...": b"q Q0 " + b"d" * 300 + b" 1 x\n",
}
MALFORMED_QRELS = {
    "a line of qrels must have 4 fields, 'query iteration document label'; got 3, in 'q 0 d'": b"q 0 d\n",
    "the label must be a whole number; got '0.5', in 'q 0 d 0.5'": b"q 0 d 0.5\n",
    "the label must be a whole number; got '\u0663', in 'q 0 d \u0663'": "q 0 d \u0663\n".encode(),
    f"the label must be a whole number; got '{'1' * 199}..., in 'q 0 d {'1' * 193}...": b"q 0 d "
    + b"1" * 5000
    + b"\n",
}


@pytest.mark.parametrize("block", [7, 1 << 24])
@pytest.mark.parametrize(("problem", "line"), MALFORMED_RUNS.items(), ids=MALFORMED_RUNS)
def test_malformed_runs(
    line: bytes, problem: str, block: int, tmp_path: Path, monkeypatch
) -> None:
    monkeypatch.setattr(reading, "_BLOCK", block)
    for before, number in (
        (b"", 1),
        (LINES, 3),
        (b"# one\n\n" + LINES.replace(b" ", b"\t"), 5),
        (LINES.replace(b"\n", b"\r\n") + b"\r\n", 4),
        (LINES.replace(b"\n", b"\r") + b"\r", 4),
    ):
        path = saved(tmp_path, before + line + LINES)
        with pytest.raises(PrframeError) as caught:
            read_run(path)
        advice = OF_COMMENTS if line.startswith(b"#") else ADVICE
        assert str(caught.value) == f"{path}, line {number}: {problem}{advice}"


@pytest.mark.parametrize(("problem", "line"), MALFORMED_QRELS.items(), ids=MALFORMED_QRELS)
def test_malformed_qrels(line: bytes, problem: str, tmp_path: Path) -> None:
    for before in (b"", b"q 0 d 1\n", b"q\t0\td\t1\n"):
        path = saved(tmp_path, before + line)
        with pytest.raises(PrframeError) as caught:
            read_qrels(path)
        assert str(caught.value) == f"{path}, line {1 + bool(before)}: {problem}{ADVICE}"


def test_a_file_without_lines_is_not_read_whole(tmp_path: Path) -> None:
    path = tmp_path / "zeros"
    with path.open("wb") as file:
        file.truncate(1 << 33)
    with pytest.raises(PrframeError, match="zeros has a line of more than 1,000,000 bytes"):
        read_run(path)


@pytest.mark.parametrize("block", [1, 3, 1 << 23])
def test_utf16_in_pieces(block: int, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(reading, "_BLOCK", block)
    content = "q Q0 \U0001f600d 1 1 t\n".encode("utf-16")
    assert read_run(saved(tmp_path, content))["doc_id"].to_list() == ["\U0001f600d"]
    for broken, problem in (
        (content + b"q", "got truncated data"),
        (content + b"\0\xdc" * 2, "got illegal encoding"),
    ):
        with pytest.raises(PrframeError, match=problem):
            read_run(saved(tmp_path, broken))


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (
            gzip.compress(LINES, mtime=0)[:-9],
            "{} starts like a gzip file and must be a whole one; got: Compressed file ended before "
            "the end-of-stream marker was reached. Get or write the file anew.",
        ),
        (
            bz2.compress(LINES),
            "{} starts like a file of bzip2, which is not read here; decompress it, or compress it "
            "with gzip instead.",
        ),
        (
            lzma.compress(LINES),
            "{} starts like a file of xz, which is not read here; decompress it, or compress it "
            "with gzip instead.",
        ),
        (
            b"\xff\xfeq",
            "{} starts with the byte order mark of UTF-16 and must be in it; "
            "got truncated data. Write the file in UTF-8.",
        ),
    ],
)
def test_broken_files(content: bytes, problem: str, tmp_path: Path) -> None:
    path = saved(tmp_path, content)
    with pytest.raises(PrframeError) as caught:
        read_run(path)
    assert str(caught.value) == problem.format(path)


@pytest.mark.parametrize(("path", "shown"), [(3, "3"), ([], "[]"), ([b"a"], "[b'a']")])
def test_what_is_no_path(path, shown: str) -> None:
    with pytest.raises(PrframeError) as caught:
        read_run(path)
    assert str(caught.value) == f"`path` must be a path or a list of paths; got {shown}."


FIELDS = st.text(
    st.characters(exclude_characters=" \t\n\r\v\f", exclude_categories=["Cs"]),
    min_size=1,
    max_size=4,
).filter(lambda text: text[0] not in "#\ufeff")
SCORES = st.floats(allow_nan=False)
ANY_ROW = st.tuples(FIELDS, FIELDS, st.integers(-(2**63), 2**63 - 1), SCORES, FIELDS)
WHITE = st.text(" \t\v\f", min_size=1, max_size=3)


@pytest.mark.slow
@SAME_FOLDER
@given(data=st.data(), rows=st.lists(ANY_ROW, max_size=6), block=st.integers(1, 80))
def test_white_space_changes_nothing(data, rows, block: int, tmp_path: Path) -> None:
    content = ""
    for query, document, rank, score, tag in rows:
        line = ""
        for field in (query, "Q0", document, str(rank), repr(score), tag):
            line += data.draw(WHITE) + field
        more = data.draw(st.sampled_from(["", " ", "\t more", " # no comment"]))
        end = data.draw(
            st.sampled_from(["\n", "\r\n", "\r", "\n\n", "\n # comment\n", "\n\ufeff"])
        )
        content += line[data.draw(st.integers(0, 1)) if line[1] in " \t\v\f" else 1 :] + more + end
    path = saved(tmp_path, content.encode())
    regular = saved(
        tmp_path,
        "".join(f"{q} Q0 {d} {r} {s!r} {t}\n" for q, d, r, s, t in rows).encode(),
        "regular",
    )
    expected = pl.DataFrame(rows, schema=RUN, orient="row")
    assert_frame_equal(read_run(regular), expected)
    with pytest.MonkeyPatch.context() as patch:
        assert_frame_equal(read_run(path), expected)
        patch.setattr(reading, "_BLOCK", block)
        assert_frame_equal(read_run(path), expected)


@SAME_FOLDER
@given(content=st.lists(st.sampled_from([b" ", b"\t", b"\n", b"\r", b"#", b"q", b"1", b"-1.5", b"nan", b"\xff", b"\x00", b"\xef\xbb\xbf", b"1 q 1 1 1 q"]), max_size=40))  # fmt: skip
def test_every_way_of_reading_agrees_on_anything(content: list[bytes], tmp_path: Path) -> None:
    path = saved(tmp_path, b"".join(content))

    def outcome(read) -> object:
        try:
            return read(path).rows()
        except PrframeError as error:
            return str(error)

    for read in (read_run, read_qrels):
        with pytest.MonkeyPatch.context() as patch:
            quick = outcome(read)
            patch.setattr(reading, "_BLOCK", 5)
            patch.setattr(reading, "_regular", lambda *_: None)
            assert outcome(read) == quick


# Writing


def test_what_is_written(tmp_path: Path) -> None:
    run = pl.DataFrame(
        {
            "qid": [2, 1, 2, 2, 1],
            "docno": ["a", "b", "c", "b", "x"],
            "score": [0.5, 1.0, 2.0, 0.5, -inf],
            "label": [1, 0, 1, 0, 1],
        }
    )
    path = tmp_path / "run.txt"
    write_run(run, path)
    assert path.read_bytes() == (
        b"2 Q0 c 1 2.0 prframe\n2 Q0 b 2 0.5 prframe\n2 Q0 a 3 0.5 prframe\n1 Q0 b 1 1.0 prframe\n"
    )
    write_run(run.filter(pl.col("qid") == 3), path)
    assert path.read_bytes() == b""


@pytest.mark.parametrize("kind", ["polars", "lazy", "pandas", "pyarrow", "categories"])
def test_kinds_of_frames_and_names_of_columns(kind: str, tmp_path: Path) -> None:
    frame = pl.DataFrame({"a": ["x", "y"], "b": [1, 2], "c": [1, 2], "model": ["m", "n"]})
    given_frame = {
        "polars": lambda: frame,
        "lazy": frame.lazy,
        "pandas": frame.to_pandas,
        "pyarrow": frame.to_arrow,
        "categories": lambda: frame.with_columns(pl.col("a", "model").cast(pl.Categorical)),
    }[kind]()
    path = tmp_path / "run.gz"
    write_run(given_frame, path, query_id="a", doc_id="b", score="c", system="model")
    assert gzip.decompress(path.read_bytes()) == b"x Q0 1 1 1.0 m\ny Q0 2 1 2.0 n\n"
    assert read_run(path).columns == list(RUN)


@SAME_FOLDER
@given(
    rows=st.lists(
        st.tuples(FIELDS, FIELDS, SCORES, st.sampled_from(["x", '"y'])),
        max_size=8,
        unique_by=lambda row: (row[0], row[1], row[3]),
    ),
    name=st.sampled_from(["run.txt", "run.gz"]),
)
def test_what_is_written_reads_back(rows, name: str, tmp_path: Path) -> None:
    columns = ["query_id", "doc_id", "score", "system"]
    schema = {column: RUN[column] for column in columns}
    run = pl.DataFrame(rows, schema=schema, orient="row")
    write_run(run, tmp_path / name, system="system")
    result = read_run(tmp_path / name)
    retrieved = [row for row in rows if row[2] > -inf]
    rankings = list(dict.fromkeys((row[3], row[0]) for row in rows))
    expected = sorted(retrieved, key=lambda row: row[1].encode(), reverse=True)
    expected.sort(key=lambda row: -row[2])
    expected.sort(key=lambda row: rankings.index((row[3], row[0])))
    assert result.select(columns).rows() == expected
    for _, part in result.group_by("system", "query_id"):
        assert part["rank"].to_list() == list(range(1, part.height + 1))
    write_run(result, tmp_path / "again", system="system")
    assert_frame_equal(read_run(tmp_path / "again"), result)


GOOD = pl.DataFrame({"query_id": ["q", "q"], "doc_id": ["a", "b"], "score": [1.0, 2.0]})
REFUSED = {
    "score that is text": (
        {"score": ["1", "2"]},
        {},
        "the score must be numeric; 'score' is String.",
    ),
    "integers that floats merge": (
        {"score": [2**53 + 1, 2**53]},
        {},
        "the integer score 'score' must lie between -2^53 and 2^53: 1 of 2 rows; "
        "scale the scores.",
    ),
    "fractions": (
        {"query_id": [1.0, 2.0]},
        {},
        "the query ids in 'query_id' must be strings or integers; they are Float64. Cast them.",
    ),
    "comment": (
        {"query_id": ["#q", "\ufeffq"]},
        {},
        "the query ids in 'query_id' must not start with '#' or a byte order mark, which readers "
        "of TREC files skip: 2 of 2 rows; change these ids.",
    ),
    "duplicates": (
        {"doc_id": ["a", "a"]},
        {},
        "a ranking must hold a document once: 1 of 2 rows repeat another, for instance "
        "('prframe', 'q', 'a'); drop the rows that do not count, or name the column that tells "
        "the systems apart with system=.",
    ),
    "tag": (
        {},
        {"tag": "my run"},
        "`tag` must be a string without white space; got 'my run'.",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("columns", "options", "message"), REFUSED.values(), ids=REFUSED)
def test_what_is_not_written(columns, options, message: str, tmp_path: Path) -> None:
    path = tmp_path / "run.txt"
    frame = GOOD.with_columns(
        **{name: pl.Series(values, strict=False) for name, values in columns.items()}
    )
    with pytest.raises(PrframeError) as caught:
        write_run(frame, path, **options)
    assert str(caught.value) == message
    assert not path.exists()


def test_no_column_for_the_query(tmp_path: Path) -> None:
    with pytest.raises(MissingColumnError) as caught:
        write_run(GOOD.drop("query_id"), tmp_path / "run.txt")
    assert str(caught.value) == (
        "the run must have a column for the query, named one of 'query_id', 'qid', 'q_id', "
        "'query', 'topic', 'query-id'; its columns are 'doc_id', 'score'. Rename the column that it is."
    )
    with pytest.raises(PrframeError, match=r"`path` must be a path; got <_io\.BytesIO"):
        write_run(GOOD, io.BytesIO())
    with pytest.raises(FileNotFoundError):
        write_run(GOOD, tmp_path / "nowhere" / "run.txt")
