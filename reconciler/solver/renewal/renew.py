"""From a Renewal to the nodes to remove: linear program, search, few nodes exactly, and a plan.

The answer is a proposal: before anything is done, the caller asks for an ordinary plan for the pods
of these nodes. So speed and good sets matter more here than the last rule. But no rule about single
nodes is ever broken, and no node is removed without a gain.
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
"""The effort is enough for this many nodes; with more it grows, up to `TIMES` as much."""
TIMES = 8
SEARCHING = 0.7
"""The share of the effort for the search; the rest is for the plan."""


def renew(renewal: Renewal, effort: Effort, *, seconds: float = 60.0) -> Renewed:
    """The set of nodes whose removal gains most, of all sets that the effort allows to try."""
    start = time.perf_counter()
    # With a fixed effort the first sweep over 1,593 nodes used up all of it, and the answer cost
    # 1.5 times a plan from scratch.
    share = min(TIMES, max(1.0, len(renewal.standing) / EACH))
    budget = Budget(int(effort.value * share), time.monotonic() + seconds)
    # A budget of its own, so that the bound takes nothing from the search.
    bounding = Budget(effort.value, budget.deadline)
    cost = unchanged(renewal).cost
    # If the limits don't allow to buy nodes for all pods, the bound may be above the current cost.
    bound = 0 if budget.late else min(cost, _bound(renewal, bounding))
    best = _best(renewal, bound, budget)
    answer = unchanged(renewal) if best is None or best.gain <= 0 else _renewed(renewal, best)
    return replace(
        answer,
        bound=bound,
        effort=budget.spent + bounding.spent,
        seconds=time.perf_counter() - start,
    )


def unchanged(renewal: Renewal) -> Renewed:
    """The answer that removes no node: it is always valid, and needs no search."""
    cost = sum(node.price for node in renewal.standing)
    return Renewed(goes=(), plan=NOTHING, saving=0, disturbance=0, cost=cost, bound=0, effort=0)


def _renewed(renewal: Renewal, best: Chosen) -> Renewed:
    gone = [node for node in renewal.standing if node.offer in set(best.goes)]
    return replace(
        unchanged(renewal),
        goes=tuple(sorted(best.goes)),
        plan=best.plan,
        saving=sum(node.price for node in gone) - best.plan.cost,
        disturbance=sum(node.disturbance for node in gone),
    )


def _bound(renewal: Renewal, budget: Budget) -> int:
    """The lowest cost of all pods if none of the standing nodes existed."""
    standing = {node.offer for node in renewal.standing}
    problem = renewal.problem
    offers = tuple(offer for offer in problem.offers if offer.name not in standing)
    # Without a rule plans only get cheaper, so what is left out here lowers the bound but keeps it
    # true.
    groups = tuple(group for group in problem.groups if group.key == HOSTNAME)
    anew = replace(problem, offers=offers, minima=(), groups=groups)
    table = setting_of(anew.in_order()).relaxed
    relaxation = relax(table, budget) if table.classes and table.offers else None
    if relaxation is None:
        return 0
    return max(dearest_single(table, {}), lower_bound(table, relaxation.values, {}))


def _best(renewal: Renewal, bound: int, budget: Budget) -> Chosen | None:
    # Without a bound there is no mark to come near, so the plain search decides.
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
    # The search's result is the value to beat, which lets most sets be skipped.
    if len(field.holds) > NODES:
        return best
    exact = best_of_all(field, budget, beyond=max(0.0, gain))
    return best if exact is None else replace(exact, plan=in_words(exact.plan, field.settled))
