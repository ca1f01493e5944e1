"""Rankers: what is compared with what."""

from itertools import product

from benchmarks.case import Case, Deadline, Limit, Ratio, Sizes, Subject

_SMALL = 300


def learn(sizes: Sizes) -> Case:
    many = sizes.learn_items
    subjects, ratios, deadlines, limits = [], [], [], []
    for n, rule in product((_SMALL, many), ("linear", "quadratic")):
        peer = Subject(
            f"logistic regression, {rule}, N = {n:,}", "logistic", {"rule": rule, "n": n}
        )
        for solver in ("gradient-ascent", "l-bfgs"):
            options = {"rule": rule, "n": n, "solver": solver}
            subject = Subject(f"{solver}, {rule}, N = {n:,}", "rank_statistic", options)
            subjects.append(subject)
            ratios.append(Ratio(subject.name, peer.name))
            deadlines.append(Deadline(subject.name, 0.2 if n == _SMALL else 30))
            limits += [Limit(subject.name, 1000)] if n == many else []
        subjects.append(peer)
    return Case(
        "learn",
        '`RankStatisticRanker("p-norm-push", rule).fit(X, y)` with 15 features, for N = '
        f"{_SMALL} and N = {many:,}: Algorithm 1 with 50 steps, and L-BFGS until it converges. "
        "Classes are normal and differ in location for linear rules, in scale for quadratic ones. "
        "Beside them, scikit-learn's `LogisticRegression`, of all products of two features for "
        "quadratic rules.",
        subjects,
        ratios,
        sizes.few_rounds,
        limits=limits,
        deadlines=deadlines,
    )
