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


def t_tail_scaled(t, df):
    """P(T > t) over the density at t, t > 0: an integral that falls like exp(-u)."""
    scale = 1 / max((df + 1) * t / (df + t * t), mp.mpf(1))
    log_density = lambda x: -(df + 1) / 2 * mp.log1p(x * x / df)
    ends = [0, 1, 2, 4, 8, 16, 32, 64, 128, mp.inf]
    return scale * mp.quad(lambda u: mp.exp(log_density(t + u * scale) - log_density(t)), ends)


def t_density_log(t, df):
    return (mp.loggamma((df + 1) / 2) - mp.loggamma(df / 2) - mp.log(df * mp.pi) / 2
            - (df + 1) / 2 * mp.log1p(t * t / df))


def t_quantile(p, df):
    """Newton on the log of the tail, which is nearly a parabola there."""
    t = mp.sqrt(-2 * mp.log(p))
    if df < 1000:                               # by bisection first: a heavy tail is far away
        low, high = mp.mpf(0), mp.mpf(10) ** 40
        for _ in range(150):
            t = (low + high) / 2 if high < 10 else mp.sqrt(max(low, mp.mpf(1)) * high)
            tail = beta_tail(df / 2, mp.mpf(1) / 2, df / (df + t * t)) / 2
            low, high = (t, high) if tail > p else (low, t)
    for _ in range(12):
        inverse_hazard = t_tail_scaled(t, df)
        t += (t_density_log(t, df) + mp.log(inverse_hazard) - mp.log(p)) * inverse_hazard
    return -t


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
for df in ["0.5", "2", "5", "30", "1000", "1e4", "1e6", "1e7", "1e9"]:
    for p in [0.025, 1e-6, 1e-11, 1e-13, 1e-50, 1e-200, 1e-300]:
        value = t_quantile(mp.mpf(p), mp.mpf(df)) if p > 1e-20 or float(df) > 10 else None
        if value is not None:
            show("t_quantile", [p, float(df)], value)
            show("t_cdf", [float(value), float(df)],
                 mp.exp(t_density_log(-mp.mpf(float(value)), mp.mpf(df)))
                 * t_tail_scaled(-mp.mpf(float(value)), mp.mpf(df)))
# Where the series of erfc would cancel, and where z / sqrt(2) would be rounded.
for x in [1.0, 1.0967272422498955, 1.25, 1.5, 1.75, 1.9368810510220986, 1.988, 1.9999, 2.0001, 2.5]:
    show("erfc", [x], mp.erfc(mp.mpf(x)))
for z in [-1.4999, -1.5001, -2.0, -2.75195092989809, -2.8114, -5.5, -20.25, -30.1, -36.6, -37.4]:
    show("normal_cdf", [z], mp.erfc(-mp.mpf(z) / mp.sqrt(2)) / 2)
