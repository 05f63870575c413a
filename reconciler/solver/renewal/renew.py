"""The way from a Renewal to what goes: what prices lean to, the search, few nodes exactly, a plan.

What this answers is a proposal: whoever asked asks the ordinary question about the pods of those
that go before anything is done. So here speed and a good nose for sets matter more than the last
rule; but no rule about single nodes is ever broken, and nothing goes that doesn't gain.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

from reconciler.solver.arrays.setting import setting_of
from reconciler.solver.bound.bound import dearest_single, lower_bound
from reconciler.solver.bound.relax import relax
from reconciler.solver.model.budget import Budget
from reconciler.solver.model.problem import HOSTNAME
from reconciler.solver.model.renewal import Renewed
from reconciler.solver.renewal.field import field_of
from reconciler.solver.renewal.plan import NOTHING, cheaper_plan, gone_of, in_words
from reconciler.solver.renewal.relax import lean
from reconciler.solver.renewal.search import RenewalSearch
from reconciler.solver.renewal.small import NODES, Chosen, best_of_all
from reconciler.solver.renewal.sparing import sparing

if TYPE_CHECKING:
    from reconciler.solver.model.problem import Effort
    from reconciler.solver.model.renewal import Renewal
    from reconciler.solver.renewal.field import Field
    from reconciler.solver.renewal.relax import Leaning

EACH = 200
"""For so many nodes an effort is enough; more nodes get more of it, up to `TIMES` as much."""
TIMES = 8
SEARCHING = 0.7
"""The share of the effort that goes into finding nodes; planning for their pods has the rest."""


def renew(renewal: Renewal, effort: Effort, *, seconds: float = 60.0) -> Renewed:
    """The nodes whose going gains most, of all sets that the effort lets be looked at."""
    start = time.perf_counter()
    share = min(TIMES, max(1.0, len(renewal.standing) / EACH))
    budget = Budget(int(effort.value * share), time.monotonic() + seconds)
    # Its own account: the bound takes nothing from the search.
    bounding = Budget(effort.value, budget.deadline)
    cost = unchanged(renewal).cost
    # Where too little is sold to buy for all of them anew, what stands is the least there is.
    bound = 0 if budget.late else min(cost, _bound(renewal, bounding))
    best = _best(renewal, bound, budget)
    answer = unchanged(renewal) if best is None or best.gain <= 0 else _told(renewal, best)
    return replace(
        answer,
        bound=bound,
        effort=budget.spent + bounding.spent,
        seconds=time.perf_counter() - start,
    )


def unchanged(renewal: Renewal) -> Renewed:
    """Nothing goes: always right, and what is said when nobody could look."""
    cost = sum(node.price for node in renewal.standing)
    return Renewed(goes=(), plan=NOTHING, saving=0, disturbance=0, cost=cost, bound=0, effort=0)


def _told(renewal: Renewal, best: Chosen) -> Renewed:
    gone = [node for node in renewal.standing if node.offer in set(best.goes)]
    return replace(
        unchanged(renewal),
        goes=tuple(sorted(best.goes)),
        plan=best.plan,
        saving=sum(node.price for node in gone) - best.plan.cost,
        disturbance=sum(node.disturbance for node in gone),
    )


def _bound(renewal: Renewal, budget: Budget) -> int:
    """What all pods would cost at least if nothing of what may go were there."""
    standing = {node.offer for node in renewal.standing}
    problem = renewal.problem
    offers = tuple(offer for offer in problem.offers if offer.name not in standing)
    groups = tuple(group for group in problem.groups if group.key == HOSTNAME)
    anew = replace(problem, offers=offers, minima=(), groups=groups)
    table = setting_of(anew.in_order()).relaxed
    relaxation = relax(table, budget) if table.classes and table.offers else None
    if relaxation is None:
        return 0
    return max(dearest_single(table, {}), lower_bound(table, relaxation.values, {}))


def _best(renewal: Renewal, bound: int, budget: Budget) -> Chosen | None:
    if renewal.reluctance > 1 and bound:
        return sparing(renewal, bound=bound, search=_chosen, budget=budget)
    field = field_of(renewal)
    return _chosen(field, lean(field, budget), budget) if len(field.holds) else None


def _chosen(field: Field, leaning: Leaning, budget: Budget) -> Chosen:
    trial = RenewalSearch(field, leaning, budget.part(SEARCHING)).run()
    plan = cheaper_plan(trial, budget)
    goes = gone_of(trial)
    gain = float(field.worth_going[trial.gone].sum()) - plan.cost
    best = Chosen(goes=goes, plan=plan, gain=gain)
    if len(field.holds) > NODES:
        return best
    exact = best_of_all(field, budget, beyond=max(0.0, gain))
    return best if exact is None else replace(exact, plan=in_words(exact.plan, field.settled))
