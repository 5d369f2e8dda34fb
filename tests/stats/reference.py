#!/usr/bin/env python3
"""Writes functions.csv: the special functions of perf_stats.h at fixed binary64 points, to 20 digits.

    python3 -m pip install mpmath && python3 tests/stats/reference.py > tests/stats/functions.csv

The points are binary64 numbers (printed with repr, so they read back exactly); mpmath evaluates
them with 60 digits.  The table is committed; this script only documents and repeats it."""
import random
import mpmath as mp

mp.mp.dps = 60
random.seed(20261121)


def show(name, args, value):
    cells = [repr(float(a)) for a in args] + [""] * (3 - len(args))
    print(",".join([name] + cells + [mp.nstr(value, 20)]))


def log_uniform(low, high):
    return float(mp.mpf(low) * (mp.mpf(high) / mp.mpf(low)) ** random.random())


def beta_tail(a, b, x):
    """I_x(a, b) by quadrature-free summation where mpmath's own hypergeometric form is stable."""
    return mp.betainc(a, b, 0, x, regularized=True)


def t_cdf(t, df):
    x = df / (df + mp.mpf(t) ** 2)
    tail = beta_tail(df / mp.mpf(2), mp.mpf(1) / 2, x) / 2
    return tail if t < 0 else 1 - tail


print("function,a,b,c,value")
for _ in range(40):
    x = log_uniform("1e-300", "1e300")
    show("log", [x], mp.log(mp.mpf(x)))
    show("sqrt", [x], mp.sqrt(mp.mpf(x)))
    x = random.uniform(0.5, 2.0)
    show("log", [x], mp.log(mp.mpf(x)))
    x = random.choice([-1, 1]) * log_uniform("1e-12", "0.9")
    show("log1p", [x], mp.log1p(mp.mpf(x)))
    x = random.uniform(-700, 700)
    show("exp", [x], mp.exp(mp.mpf(x)))
    x = random.choice([-1, 1]) * log_uniform("1e-10", "1")
    show("exp", [x], mp.exp(mp.mpf(x)))
    x = random.uniform(-3, 26)
    show("erfc", [x], mp.erfc(mp.mpf(x)))
    x = log_uniform("1e-5", "1e6")
    show("lgamma", [x], mp.loggamma(mp.mpf(x)))
    x = random.choice([1.0, 2.0]) + random.choice([-1, 1]) * log_uniform("1e-9", "0.6")
    show("lgamma", [x], mp.loggamma(mp.mpf(x)))
    z = random.uniform(-36, 8)
    show("normal_cdf", [z], mp.erfc(-mp.mpf(z) / mp.sqrt(2)) / 2)
    p = random.choice([log_uniform("1e-300", "0.5"), random.random()])
    show("normal_quantile", [p], mp.findroot(
        lambda q: mp.log(mp.erfc(-q / mp.sqrt(2)) / 2) - mp.log(mp.mpf(p)),
        -mp.sqrt(-2 * mp.log(p)) if p < 0.05 else mp.mpf(0) if p < 0.95 else mp.mpf(2)))
for _ in range(60):
    a, b = log_uniform("0.3", "500"), log_uniform("0.3", "500")
    mean = a / (a + b)
    x = min(max(mean * random.uniform(0.3, 1.7), 1e-6), 1 - 1e-6)
    value = beta_tail(mp.mpf(a), mp.mpf(b), mp.mpf(x))
    if value > mp.mpf("1e-250"):
        show("beta_cdf", [x, a, b], value)
        if mp.mpf("1e-12") < value < mp.mpf("0.9"):
            p = float(value)                    # the quantile of the rounded probability
            density = mp.exp((a - 1) * mp.log(x) + (b - 1) * mp.log1p(-mp.mpf(x))
                             - mp.log(mp.beta(a, b)))
            show("beta_quantile", [p, a, b], mp.mpf(x) + (mp.mpf(p) - value) / density)
    df = random.choice([1.0, 2.0, 3.0, 4.5, 9.0, 29.0, 99.0, 999.0, 10000.0, 100000.0])
    t = random.choice([-1, 1]) * log_uniform("0.001", "30" if df > 5 else "1e4")
    show("t_cdf", [t, df], t_cdf(mp.mpf(t), mp.mpf(df)))
    t = -log_uniform("0.01", "20" if df > 5 else "1e3")
    p = t_cdf(mp.mpf(t), mp.mpf(df))
    if p > mp.mpf("1e-200"):
        density = mp.gamma((df + 1) / mp.mpf(2)) / mp.sqrt(df * mp.pi) / mp.gamma(df / mp.mpf(2)) \
            * (1 + mp.mpf(t) ** 2 / df) ** (-(df + 1) / mp.mpf(2))
        show("t_quantile", [float(p), df], mp.mpf(t) + (mp.mpf(float(p)) - p) / density)
    n = random.choice([5, 10, 36, 100, 1000, 5000])
    p = random.choice([0.5, 0.95, 0.99, 0.01])
    k = min(max(int(n * p + random.uniform(-3, 3) * (n * p * (1 - p)) ** 0.5), 0), n - 1)
    total = mp.mpf(0)
    for i in range(k + 1):
        total += mp.binomial(n, i) * mp.mpf(p) ** i * (1 - mp.mpf(p)) ** (n - i)
    show("binomial_cdf", [k, n, p], total)
