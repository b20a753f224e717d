"""A coefficient of agreement and an interval for rates."""

from dataclasses import replace
from math import sqrt

import numpy as np

from audit.statistics.agreement import percent_agreement
from audit.statistics.intervals import Interval


def brennan_prediger(ratings):
    """Agreement beyond what q labels that are equally likely would give. Source: Brennan and Prediger, "Coefficient
    kappa: some uses, misuses, and alternatives", Educational and Psychological Measurement 41(3), 1981."""
    by_chance = 1 / len(ratings.labels)
    return replace(percent_agreement(ratings), chance=lambda sums: np.full(len(sums), by_chance))


def agresti_coull(k, n, population, *, confidence=0.95):
    """The interval of Agresti and Coull ("Approximate is better than exact for interval estimation of binomial
    proportions", The American Statistician 52(2), 1998) for k of n; 95 % adds two of each. It takes no account of how
    many groups the population has."""
    from scipy.stats import norm

    z = float(norm.ppf((1 + confidence) / 2))
    size = n + z * z
    middle = (k + z * z / 2) / size
    half = z * sqrt(middle * (1 - middle) / size)
    return Interval(max(0.0, middle - half), min(1.0, middle + half), "Agresti-Coull")
