"""The C code of trec_eval: its readers and its measures, as the package pytrec_eval compiles them.

    python -m benchmarks.trec_eval QRELS RUN [MEASURE ...]

prints the means of the measures as trec_eval does, for example ``map``, ``ndcg_cut.10`` and ``P.10``;
without a measure those that trec_eval calls official. The package pytrec_eval-terrier holds trec_eval 9.0.8 but for
its function ``main``, which stands here: it reads both files, finds the judgments of each query, computes
and adds the measures. All else is done by the functions of the C program, so that the time differs from
that of the program by the start of Python, and by the search for the judgments of a query, for which the
program reads its list from the start and this module a dictionary. Where the program itself is at hand,
``benchmarks.command_line --trec-eval PATH`` takes that.
"""

from __future__ import annotations

import ctypes
import importlib.util
import sys
from ctypes import POINTER, Structure, byref, c_char_p, c_double, c_int, c_long, c_void_p
from typing import Any

OFFICIAL = (
    *("num_q", "num_ret", "num_rel", "num_rel_ret", "map", "gm_map", "Rprec", "bpref"),
    *("recip_rank", "iprec_at_recall", "P"),
)


def structure(title: str, /, **fields: Any) -> Any:
    """Return a structure of the program, its fields in the order of its header."""
    return type(title, (Structure,), {"_fields_": list(fields.items())})


# What the program's options set.
Options = structure(
    "Options",
    **dict.fromkeys(("query_flag", "summary_flag", "debug_level"), c_long),
    debug_query=c_char_p,
    **dict.fromkeys(("relation_flag", "average_complete_flag", "judged_docs_only_flag"), c_long),
    **dict.fromkeys(("num_docs_in_coll", "relevance_level", "max_num_docs_per_topic"), c_long),
    **dict.fromkeys(("rel_info_format", "results_format"), c_char_p),
    zscore_flag=c_long,
    meas_arg=c_void_p,
)
# The cut-offs of a measure; a last one without a name ends the list.
Argument = structure("Argument", measure_name=c_char_p, parameters=c_char_p)
Value = structure("Value", name=c_char_p, value=c_double)
# The values of the measures of one query, or their sums.
Values = structure(
    "Values",
    qid=c_char_p,
    num_queries=c_long,
    values=POINTER(Value),
    num_values=c_long,
    max_num_values=c_long,
)
# Ranking and judgments of one query, and of all.
Results = structure(
    "Results", **dict.fromkeys(("qid", "run_id", "ret_format"), c_char_p), q_results=c_void_p
)
Judgments = structure("Judgments", qid=c_char_p, rel_format=c_char_p, q_rel_info=c_void_p)
AllResults = structure("AllResults", number=c_long, room=c_long, of=POINTER(Results))
AllJudgments = structure("AllJudgments", number=c_long, room=c_long, of=POINTER(Judgments))
# A measure: its functions, and where its values stand.
Measure = structure(
    "Measure",
    **dict.fromkeys(("name", "explanation"), c_char_p),
    **dict.fromkeys(("init", "calc", "acc", "average", "print", "end", "parameters"), c_void_p),
    eval_index=c_long,
)
START = ctypes.CFUNCTYPE(c_int, c_void_p, c_void_p, c_void_p)
COMPUTE = ctypes.CFUNCTYPE(c_int, c_void_p, c_void_p, c_void_p, c_void_p, c_void_p)
MERGE = ctypes.CFUNCTYPE(c_int, c_void_p, c_void_p, c_void_p, c_void_p)


def means(qrels: str, run: str, names: list[str]) -> dict[str, float]:
    """Return the means over the queries that have both judgments and results, by name of measure."""
    library = ctypes.CDLL(_library())
    cut = [name.encode().split(b".", 1) for name in names]
    arguments = (Argument * (len(cut) + 1))(*(Argument(*each) for each in cut if len(each) > 1))
    options = Options(
        summary_flag=1,
        relation_flag=1,
        relevance_level=1,
        max_num_docs_per_topic=sys.maxsize,
        rel_info_format=b"qrels",
        results_format=b"trec_results",
        meas_arg=ctypes.cast(arguments, c_void_p),
    )
    judged, ranked = AllJudgments(), AllResults()
    if library.te_get_qrels(byref(options), qrels.encode(), byref(judged)) != 1:
        raise OSError(f"trec_eval cannot read {qrels}")
    if library.te_get_trec_results(byref(options), run.encode(), byref(ranked)) != 1:
        raise OSError(f"trec_eval cannot read {run}")
    measures = [Measure.in_dll(library, f"te_meas_{each[0].decode()}") for each in cut]
    sums = _sums(measures, options, judged, ranked)
    settings, total = ctypes.addressof(options), ctypes.addressof(sums)
    for each in measures:
        MERGE(each.average)(settings, ctypes.addressof(each), ctypes.addressof(judged), total)
    found = {sums.values[at].name.decode(): sums.values[at].value for at in range(sums.num_values)}
    for name in ("te_get_qrels", "te_get_trec_results", "te_form_res_rels"):
        library[f"{name}_cleanup"]()
    return found


def _sums(measures: list[Any], options: Any, judged: Any, ranked: Any) -> Any:
    """Compute the measures of each query, and return their sums."""
    sums, one = Values(), Values()
    settings, total, here = (ctypes.addressof(each) for each in (options, sums, one))
    for measure in measures:
        START(measure.init)(settings, ctypes.addressof(measure), total)
    room = (Value * sums.num_values)()
    one.num_values = one.max_num_values = sums.num_values
    one.values = ctypes.cast(room, POINTER(Value))
    steps = [(COMPUTE(each.calc), MERGE(each.acc), ctypes.addressof(each)) for each in measures]
    of_query = {judged.of[at].qid: at for at in range(judged.number)}
    for at in range(ranked.number):
        found = of_query.get(ranked.of[at].qid)
        if found is None:
            continue
        ctypes.memset(room, 0, ctypes.sizeof(room))
        ranking, judgments = ctypes.addressof(ranked.of[at]), ctypes.addressof(judged.of[found])
        for compute, merge, address in steps:
            compute(settings, judgments, ranking, address, here)
            merge(settings, address, here, total)
        sums.num_queries += 1
    return sums


def _library() -> str:
    found = importlib.util.find_spec("pytrec_eval_ext")
    if found is None or found.origin is None:
        raise ModuleNotFoundError("the C code of trec_eval needs the package pytrec_eval-terrier")
    return found.origin


def main() -> None:
    qrels, run, *names = sys.argv[1:]
    for name, value in means(qrels, run, names or list(OFFICIAL)).items():
        print(f"{name:22}\tall\t{value:.4f}")


if __name__ == "__main__":
    main()
