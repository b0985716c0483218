#!/usr/bin/env python3
"""Fits the polynomials of ExpandMath*.cpp and prints MathTables.h.

Usage: fit_math_tables.py > MathTables.h        (needs mpmath; some minutes)

Each table is a minimax fit of a smooth function over the interval to which the
expansion reduces its argument, weighted by the effect of an error on the
relative error of the result. Polynomials are fitted by the Remez algorithm,
quotients by iteratively reweighted least squares (Lawson). All computations use
50 digits; coefficients are rounded when they are printed.
"""
import mpmath as m
from mpmath import mp, mpf

mp.dps = 50


def chebyshev(a, b, n):
    return [(a + b) / 2 - (b - a) / 2 * m.cos(m.pi * (k + mpf(1) / 2) / n) for k in range(n)]


def polynomial(g, weight, a, b, n, grid=400):
    """Returns n coefficients of a polynomial P, lowest first, with the least max |weight * (P - g)|
    on [a, b], and this maximum."""
    w = lambda x: max(weight(x), mpf(10) ** -6)
    a, b = mpf(a), mpf(b)
    points = chebyshev(a, b, grid)
    values, weights = [g(x) for x in points], [w(x) for x in points]
    nodes = [points[round(k * (grid - 1) / mpf(n))] for k in range(n + 1)]
    for _ in range(12):
        lhs, rhs = m.matrix(n + 1, n + 1), m.matrix(n + 1, 1)
        for i, x in enumerate(nodes):
            for j in range(n):
                lhs[i, j] = x**j
            lhs[i, n] = (-1) ** i / w(x)
            rhs[i] = g(x)
        solution = m.lu_solve(lhs, rhs)
        c = [solution[j] for j in range(n)]
        errors = [weights[i] * (m.polyval(c[::-1], points[i]) - values[i]) for i in range(grid)]
        extrema = []  # Indices of the largest errors, one between each two changes of sign.
        for i, e in enumerate(errors):
            if not extrema or (errors[extrema[-1]] > 0) != (e > 0):
                extrema.append(i)
            elif abs(e) > abs(errors[extrema[-1]]):
                extrema[-1] = i
        while len(extrema) > n + 1:
            extrema.pop(0 if abs(errors[extrema[0]]) < abs(errors[extrema[-1]]) else -1)
        worst = max(map(abs, errors))
        if len(extrema) < n + 1 or worst < mpf("1.02") * min(abs(errors[i]) for i in extrema):
            break
        nodes = [points[i] for i in extrema]
    return c, worst


def quotient(f, a, b, np, nq, grid=160):
    """Returns the coefficients, lowest first, of a polynomial P with np terms and a polynomial Q
    with constant term 1 and nq more terms, with a small max |P/Q/f - 1| on [a, b], and this maximum."""
    points = chebyshev(mpf(a), mpf(b), grid)
    values = [f(x) for x in points]
    q, emphasis, best = [mpf(1)] * grid, [mpf(1)] * grid, None
    for _ in range(30):
        lhs, rhs = m.matrix(grid, np + nq), m.matrix(grid, 1)
        for i, x in enumerate(points):
            s = m.sqrt(emphasis[i]) / values[i] / q[i]
            for j in range(np):
                lhs[i, j] = s * x**j
            for j in range(nq):
                lhs[i, np + j] = -s * values[i] * x ** (j + 1)
            rhs[i] = s * values[i]
        solution, _ = m.qr_solve(lhs, rhs)
        p, d = [solution[j] for j in range(np)], [mpf(1)] + [solution[np + j] for j in range(nq)]
        q = [m.polyval(d[::-1], x) for x in points]
        errors = [abs(m.polyval(p[::-1], x) / q[i] / values[i] - 1) for i, x in enumerate(points)]
        if best is None or max(errors) < best[2]:
            best = p, d, max(errors)
        mean = sum(e * s for e, s in zip(emphasis, errors)) / grid
        emphasis = [e * s / mean for e, s in zip(emphasis, errors)]
    return best


printed = {}  # Maps the text of coefficients to the table that already has them.


def emit(name, comment, f32, f64=None):
    fits = [("f32", f32)] + ([("f64", f64)] if f64 else [])
    errors = ", ".join(f"{m.nstr(e, 2)} ({t})" for t, (_, e) in fits)
    print(f"/// {comment}.\n/// The weighted error is at most {errors}.")
    print(f"inline constexpr Table {name} = {{")
    for i in (0, 1):
        if i >= len(fits):
            print("    {},")
            continue
        text = ",\n     ".join(m.nstr(c, 18, min_fixed=0, max_fixed=0) for c in fits[i][1][0])
        print(f"    {printed[text]}," if text in printed else "    {" + text + "},")
        printed.setdefault(text, f"{name}.{fits[i][0]}")
    print("};\n")


def both(name, comment, g, weight, a, b, n32, n64):
    emit(name, comment, polynomial(g, weight, a, b, n32), polynomial(g, weight, a, b, n64))


print("""// Polynomials of the math expansions.
//
// Printed by fit_math_tables.py; do not edit. Only kErfScale, kErfBesideOne and
// the lists for f16 are added by hand. A table lists the coefficients of a
// polynomial, from the constant term up, for expansions in f32, f64 and f16; an
// empty list is unused.
// The comment of a table states which function the polynomial approximates, and
// the largest error, weighted by its effect on the relative error of the result
// of the expansion.

#ifndef INGOT_PASSES_LEGALIZE_MATH_MATHTABLES_H
#define INGOT_PASSES_LEGALIZE_MATH_MATHTABLES_H

#include <initializer_list>

// clang-format off

namespace ingot::legalize::math_tables {

struct Table {
  std::initializer_list<double> f32;
  std::initializer_list<double> f64;
  std::initializer_list<double> f16 = {};
};
""")

ln2 = m.log(2) * mpf("1.0001")
quotient_of_expm1 = lambda r: m.expm1(r) / r
emit("kExp", "Approximates (e^r - 1) / r for |r| <= ln 2",
     polynomial(quotient_of_expm1, lambda r: abs(r / m.exp(r)), -ln2, ln2, 7),
     polynomial(quotient_of_expm1, lambda r: 1 / quotient_of_expm1(r), -ln2, ln2, 14))
half = mpf("0.5001")
quotient_of_exp2 = lambda r: (m.mpf(2)**r - 1) / r
emit("kExp2", "Approximates (2^r - 1) / r for |r| <= 1/2",
     polynomial(quotient_of_exp2, lambda r: abs(r / m.mpf(2)**r), -half, half, 5),
     polynomial(quotient_of_exp2, lambda r: abs(r / m.mpf(2)**r), -half, half, 11))
emit("kExpm1", "Approximates (e^r - 1) / r for |r| <= ln 2, with a small error relative to e^r - 1",
     polynomial(quotient_of_expm1, lambda r: 1 / quotient_of_expm1(r), -ln2, ln2, 8),
     polynomial(quotient_of_expm1, lambda r: 1 / quotient_of_expm1(r), -ln2, ln2, 14))
emit("kLog", "Approximates (log(1 + f) - f + f^2 / 2) / f^3 for 1 + f in [sqrt(1/2), sqrt(2)]",
     polynomial(lambda f: (m.log1p(f) - f + f * f / 2) / f**3, lambda f: f**3 / m.log1p(f),
                m.sqrt(mpf(1) / 2) - 1, m.sqrt(2) - 1, 8))
both("kAtanhTail", "Approximates (2 atanh(s) - 2 s) / s^3 as a polynomial in s^2, for s = f / (2 + f) with the f of kLog",
     lambda z: (2 * m.atanh(m.sqrt(z)) - 2 * m.sqrt(z)) / m.sqrt(z) ** 3, lambda z: z,
     0, ((m.sqrt(2) - 1) / (m.sqrt(2) + 1)) ** 2, 4, 8)
quarter = (m.pi / 4 * mpf("1.0001")) ** 2
both("kSin", "Approximates (sin(r) - r) / r^3 as a polynomial in r^2, for |r| <= pi/4",
     lambda u: (m.sin(m.sqrt(u)) - m.sqrt(u)) / m.sqrt(u) ** 3, lambda u: u, 0, quarter, 3, 7)
both("kCos", "Approximates (cos(r) - 1 + r^2 / 2) / r^4 as a polynomial in r^2, for |r| <= pi/4",
     lambda u: (m.cos(m.sqrt(u)) - 1 + u / 2) / u**2, lambda u: u**2, 0, quarter, 3, 7)
both("kAsin", "Approximates (asin(x) - x) / x^3 as a polynomial in x^2, for |x| <= 1/2",
     lambda u: (m.asin(m.sqrt(u)) - m.sqrt(u)) / m.sqrt(u) ** 3, lambda u: u, 0, mpf(1) / 4, 5, 13)
both("kAtan", "Approximates (atan(x) - x) / x^3 as a polynomial in x^2, for |x| <= tan(pi/8)",
     lambda u: (m.atan(m.sqrt(u)) - m.sqrt(u)) / m.sqrt(u) ** 3, lambda u: u,
     0, m.tan(m.pi / 8) ** 2 * mpf("1.0001"), 5, 11)
p, q, error = quotient(lambda u: m.tanh(m.sqrt(u)) / m.sqrt(u), mpf(10) ** -12, mpf("9.02") ** 2, 5, 5)
emit("kTanhP", "The numerator of a quotient of polynomials in x^2 that approximates tanh(x) / x for |x| <= 9.02", (p, error))
emit("kTanhQ", "The denominator of a quotient of polynomials in x^2 that approximates tanh(x) / x for |x| <= 9.02", (q, error))
p, q, error = quotient(lambda u: m.erf(m.sqrt(u)) / m.sqrt(u), mpf(10) ** -12, mpf("3.93") ** 2, 6, 5)
emit("kErfP", "The numerator of a quotient of polynomials in x^2 that approximates erf(x) / x for |x| <= 3.93", (p, error))
emit("kErfQ", "The denominator of a quotient of polynomials in x^2 that approximates erf(x) / x for |x| <= 3.93", (q, error))
erf_quotient = lambda u: m.erf(m.sqrt(u)) / m.sqrt(u)
both("kErfSmall", "Approximates erf(x) / x as a polynomial in x^2, for |x| <= 1",
     erf_quotient, lambda u: 1 / erf_quotient(u), 0, 1, 6, 13)


def scaled_erfc(t):
    """e^(x^2) erfc(x) (1 + 2 x) for t = (x - 3) / (x + 3): nearly constant."""
    x = 3 * (1 + t) / (1 - t)
    return m.exp(x * x) * m.erfc(x) * (1 + 2 * x)


in_t = lambda x: (mpf(x) - 3) / (mpf(x) + 3)
emit("kErfc", "Approximates e^(x^2) erfc(x) (1 + 2 x) as a polynomial in (x - 3) / (x + 3), for x >= 0.45",
     polynomial(scaled_erfc, lambda t: 1 / scaled_erfc(t), in_t("0.45"), in_t(11), 10),
     polynomial(scaled_erfc, lambda t: 1 / scaled_erfc(t), in_t("0.45"), in_t(28), 22))

print("""} // namespace ingot::legalize::math_tables

#endif // INGOT_PASSES_LEGALIZE_MATH_MATHTABLES_H""")
