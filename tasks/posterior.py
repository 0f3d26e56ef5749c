"""What a count of solved attempts says of the solve probability behind it, in exact arithmetic.

The prior is uniform, Beta(1, 1): before the attempts every solve probability p is equally likely. After k
solved of n attempts p is Beta(1 + k, 1 + n - k) (Bayes 1763; Gelman et al., "Bayesian Data Analysis",
2.1). For whole a and b the distribution function of Beta(a, b), the regularised incomplete beta function,
is a finite binomial sum (Abramowitz and Stegun, 26.5.24):

    P(p <= x) = P(B >= a),  B binomial with a + b - 1 draws of probability x

so a rational x gives a rational result, and no numerical library is needed.
"""

from fractions import Fraction
from math import comb

BAND = (Fraction(4, 10), Fraction(6, 10))
"""The completion rates, ends included, between which a solver is neither sure nor lost."""


def beta_distribution(a: int, b: int, x: Fraction) -> Fraction:
    """P(p <= x) for p ~ Beta(a, b), exactly. `a` and `b` are at least 1, x lies in [0, 1]."""
    draws = a + b - 1
    return sum(
        (comb(draws, k) * x**k * (1 - x) ** (draws - k) for k in range(a, draws + 1)),
        start=Fraction(0),
    )


def band_probability(solved: int, scored: int) -> float:
    """Posterior probability that p lies inside BAND, after `solved` of `scored` attempts.

    0.2 where nothing was scored: the prior alone.
    """
    a, b = 1 + solved, 1 + scored - solved
    low, high = BAND
    return float(beta_distribution(a, b, high) - beta_distribution(a, b, low))


def in_band(solved: int, scored: int) -> bool:
    """Whether the observed rate lies in BAND, ends included; compared as fractions. `scored` is >= 1."""
    low, high = BAND
    return low <= Fraction(solved, scored) <= high
