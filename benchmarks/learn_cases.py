"""Rankers: what is compared with what."""

from benchmarks.case import Case, Deadline, Ratio, Sizes, Subject


def learn(sizes: Sizes) -> Case:
    many = sizes.learn_items
    subjects, ratios, deadlines = [], [], []
    for rule in ("linear", "quadratic"):
        data = {"rule": rule, "n": many}
        peer = Subject(f"logistic regression, {rule}", "logistic", data)
        for solver in ("gradient-ascent", "l-bfgs"):
            subject = Subject(f"{solver}, {rule}", "rank_statistic", data | {"solver": solver})
            subjects.append(subject)
            ratios.append(Ratio(subject.name, peer.name))
            deadlines.append(Deadline(subject.name, 30))
        subjects.append(peer)
    return Case(
        "learn",
        '`RankStatisticRanker("p-norm-push", rule).fit(X, y)` with 15 features and '
        f"{many:,} items: Algorithm 1 with 50 steps, and L-BFGS until it converges. "
        "Classes are normal and differ in location for linear rules, in scale for quadratic ones. "
        "Beside them, scikit-learn's `LogisticRegression`, of all products of two features for "
        "quadratic rules.",
        subjects,
        ratios,
        sizes.few_rounds,
        deadlines=deadlines,
    )
