"""Buys nodes for the loose pods of a trial, and exchanges them for cheaper ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from reconciler.solver.arrays.draft import Stock
from reconciler.solver.packing.tail import pack_tail

if TYPE_CHECKING:
    from reconciler.solver.bound.bound import DualValues
    from reconciler.solver.model.budget import Budget
    from reconciler.solver.renewal.trial import RenewalTrial


def bought_for(trial: RenewalTrial, values: DualValues, budget: Budget) -> RenewalTrial:
    """The trial with its loose pods in free room or on bought nodes, as far as possible."""
    trial.place_loose()
    _right_size(trial)
    if not trial.loose.any():
        return trial
    goods = trial.field.goods
    stock = Stock(goods, trial.stock.copies.copy(), trial.stock.limits.copy())
    draft = pack_tail(goods, values, stock=stock, left=trial.loose, budget=budget).singles()
    for o, units in zip(draft.offers.tolist(), draft.counts, strict=True):
        trial.buy(o, units)
    _right_size(trial)
    return trial


def _right_size(trial: RenewalTrial) -> None:
    """Make each purchase the cheapest offer that holds its pods, and undo empty purchases."""
    goods = trial.field.goods
    for column in trial.purchases():
        own, units = int(trial.bought[column]), trial.came[:, column].astype(np.int64)
        if not units.any():
            trial.give_back(column)
            continue
        fits = (goods.capacity >= units @ goods.size).all(axis=1)
        fits &= (goods.price < goods.price[own]) & goods.allowed[units > 0].all(axis=0)
        if not fits.any():
            continue
        trial.stock.take(own, -1)
        fits &= trial.stock.available()
        trial.stock.take(own, 1)
        if fits.any():
            units = trial.give_back(column)
            trial.buy(int(np.where(fits, goods.price, np.inf).argmin()), units)
