"""A frame with the methods of a Spark frame that prframe uses, whose workers are this process."""

import re
from dataclasses import dataclass, field
from types import SimpleNamespace

import polars as pl
import pyarrow as pa

_WORDS = {
    pl.Boolean(): "boolean",
    pl.Int8(): "tinyint",
    pl.Int16(): "smallint",
    pl.Int32(): "int",
    pl.Int64(): "bigint",
    pl.Float32(): "float",
    pl.Float64(): "double",
    pl.String(): "string",
    pl.Binary(): "binary",
    pl.Date(): "date",
    pl.Datetime("us", "UTC"): "timestamp",
    pl.Datetime("us"): "timestamp_ntz",
    pl.List(pl.Int64()): "array<bigint>",
    pl.Struct({"a": pl.Int64()}): "struct<a:bigint>",
    pl.Time(): "time(6)",
    pl.Duration("us"): "interval day to second",
    pl.Decimal(10, 2): "decimal(10,2)",
    pl.Decimal(38, 18): "decimal(38,18)",
}
_KINDS = {"timestamp_ltz": "timestamp"}
_FIELD = re.compile(r"`((?:[^`]|``)*)` ([^`]+?)(?:, (?=`)|$)")
_BATCH = 7


@dataclass
class DataFrame:
    """Rows in partitions; nothing is computed before they are asked for."""

    dtypes: list[tuple[str, str]]
    partitions: object
    jobs: list[str]
    settings: dict[str, str] = field(default_factory=dict)

    @property
    def sparkSession(self):  # noqa: N802 - as in Spark
        conf = {"get": self.settings.get, "set": self.settings.__setitem__}
        return SimpleNamespace(conf=SimpleNamespace(**conf))

    @classmethod
    def of(cls, frame: pl.DataFrame) -> "DataFrame":
        """Return the rows in three partitions."""
        dtypes = [(name, _WORDS[dtype]) for name, dtype in frame.schema.items()]
        return cls(dtypes, lambda: [frame.gather_every(3, i) for i in range(3)], [])

    @property
    def columns(self) -> list[str]:
        return [name for name, _ in self.dtypes]

    def selectExpr(self, *expressions: str) -> "DataFrame":  # noqa: N802 - as in Spark
        pairs = [expression.rsplit(" AS ", 1) for expression in expressions]
        names = {alias: _unquoted(quoted) for quoted, alias in pairs}
        kinds = dict(self.dtypes)
        return self._with(
            [(alias, kinds[name]) for alias, name in names.items()],
            lambda: [
                part.select(pl.col(name).alias(alias) for alias, name in names.items())
                for part in self.partitions()
            ],
        )

    def where(self, condition: str) -> "DataFrame":
        kept = pl.sql_expr(condition)
        return self._with(self.dtypes, lambda: [part.filter(kept) for part in self.partitions()])

    def repartition(self, *by) -> "DataFrame":
        def partitions():
            rows = pl.concat(self.partitions())
            if by == (1,):
                return [rows]
            place = rows.select(by).hash_rows(seed=1) % 4
            return [rows.filter(place == i) for i in range(4)]

        return self._with(self.dtypes, partitions)

    def repartitionByRange(self, *by) -> "DataFrame":  # noqa: N802 - as in Spark
        def partitions():
            rows = pl.concat(self.partitions()).sort(by, nulls_last=False)
            # Rows that are equal in all columns stay together.
            ranks = rows.select(pl.struct(by).rle_id().alias("at")).to_series()
            place = ranks * 4 // (ranks.max() + 1 if rows.height else 1)
            return [rows.filter(place == i) for i in range(4)]

        return self._with(self.dtypes, partitions)

    def mapInArrow(self, function, schema: str) -> "DataFrame":  # noqa: N802 - as in Spark
        assert all(name.isidentifier() for name in self.columns)
        dtypes = [(_unquoted(name), _KINDS.get(kind, kind)) for name, kind in _fields(schema)]

        def partitions():
            self.jobs.append(schema)
            return [
                _frame(list(function(iter(_batches(part)))), dtypes) for part in self.partitions()
            ]

        return self._with(dtypes, partitions)

    def transform(self, function, *args, **options):
        return function(self, *args, **options)

    def toArrow(self) -> pa.Table:  # noqa: N802 - as in Spark
        return pl.concat(self.partitions()).to_arrow()

    def _with(self, dtypes, partitions) -> "DataFrame":
        return DataFrame(dtypes, partitions, self.jobs, self.settings)


# Spark's classes are recognised by the name of their module.
DataFrame.__module__ = "pyspark.sql.likeness"


def _unquoted(name: str) -> str:
    return (name[1:-1] if name.startswith("`") else name).replace("``", "`")


def _fields(schema: str) -> list[tuple[str, str]]:
    return _FIELD.findall(schema) or [tuple(schema.split(" "))]


def _batches(rows: pl.DataFrame) -> list[pa.RecordBatch]:
    table = rows.to_arrow(compat_level=pl.CompatLevel.oldest())
    return table.to_batches(max_chunksize=_BATCH) if rows.height else []


def _frame(batches: list[pa.RecordBatch], dtypes: list[tuple[str, str]]) -> pl.DataFrame:
    dtype = {words: dtype for dtype, words in _WORDS.items()}
    like = pl.DataFrame(schema={name: dtype[kind] for name, kind in dtypes})
    if not batches:
        return like
    rows = pl.from_arrow(pa.Table.from_batches(batches))
    assert rows.schema == like.schema
    return rows
