"""Where followers and anchors are planned together: the best guess, and a second chance for pods.

What must be near what is settled before the search, by a guess. So several guesses are compared by
their first-fit, and pods that a plan leaves out are tried once more beside the anchors it placed.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from reconciler.solver.arrays.setting import setting_of
from reconciler.solver.model.assemble import assemble, with_rules_kept
from reconciler.solver.model.nearness import GUESSES, nears
from reconciler.solver.model.ranking import rank_of
from reconciler.solver.model.remainder import remainder
from reconciler.solver.packing.first_fit import first_fit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reconciler.solver.arrays.setting import Setting
    from reconciler.solver.model.budget import Budget
    from reconciler.solver.model.draft_node import DraftNode
    from reconciler.solver.model.problem import Problem


def best_setting(problem: Problem, budget: Budget) -> Setting:
    """The setting of the guess with the best first-fit; without followers there is no guess."""
    if not _has_followers(problem):
        return setting_of(problem)
    settings = [setting_of(problem, guess) for guess in GUESSES]
    return min(settings, key=lambda setting: rank_of(problem, _quickly_packed(setting, budget)))


def _quickly_packed(setting: Setting, budget: Budget) -> list[DraftNode]:
    nodes = assemble(setting.problem, setting.table, first_fit(setting.table, budget))
    return topped_up(setting.problem, nodes, budget)


def topped_up(problem: Problem, nodes: list[DraftNode], budget: Budget) -> list[DraftNode]:
    """The nodes with more pods, and more nodes, if some that are left out find a place now."""
    if not _has_followers(problem):
        return nodes
    while _left_out(problem, nodes):
        more = _with_more(problem, nodes, budget)
        if _left_out(problem, more) >= _left_out(problem, nodes):
            break
        nodes = more
    return nodes


def _has_followers(problem: Problem) -> bool:
    return any(True for _ in nears(problem))


def _left_out(problem: Problem, nodes: Sequence[DraftNode]) -> int:
    return sum(pod.count for pod in problem.classes) - sum(node.pods.total() for node in nodes)


def _with_more(problem: Problem, nodes: Sequence[DraftNode], budget: Budget) -> list[DraftNode]:
    names = [f"placed node {number:06}" for number in range(len(nodes))]
    offers = {offer.name: offer for offer in problem.offers}
    known = {
        name: replace(node, pods=Counter(node.pods))
        for name, node in zip(names, nodes, strict=True)
    }
    setting = setting_of(remainder(problem, nodes, names))
    draft = first_fit(setting.table, budget)
    news = []
    for node in assemble(setting.problem, setting.table, draft):
        if node.offer.name in known:
            known[node.offer.name].pods.update(node.pods)
        else:
            news.append(replace(node, offer=offers[node.offer.name]))
    # What is new may be emptier, or fuller, than a spread over the other nodes allows.
    return with_rules_kept(problem, [*known.values(), *news])
