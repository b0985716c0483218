// Polynomials of the math expansions.
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

/// Approximates (e^r - 1) / r for |r| <= ln 2.
/// The weighted error is at most 1.2e-8 (f32), 5.5e-19 (f64).
inline constexpr Table kExp = {
    {1.00000005203015021,
     5.00000462054323517e-1,
     1.66665724276831831e-1,
     4.16605602451907962e-2,
     8.33704310450668721e-3,
     1.41144647832188265e-3,
     1.95521580609837179e-4},
    {1.0,
     4.99999999999999997e-1,
     1.66666666666666558e-1,
     4.166666666666684e-2,
     8.33333333333698322e-3,
     1.38888888888610685e-3,
     1.98412698366692643e-4,
     2.48015873202581072e-5,
     2.75573219796071283e-6,
     2.75573134532684559e-7,
     2.50512625256997634e-8,
     2.08774786102747528e-9,
     1.61875744754381111e-10,
     1.14708571890551699e-11},
};

/// Approximates (2^r - 1) / r for |r| <= 1/2.
/// The weighted error is at most 9.2e-8 (f32), 3.4e-18 (f64), 1.1e-4 (f16).
inline constexpr Table kExp2 = {
    {6.93146975522013726e-1,
     2.40222416576345644e-1,
     5.55073597910631921e-2,
     9.67154185202506799e-3,
     1.32642282990661172e-3},
    {6.93147180559945326e-1,
     2.40226506959101314e-1,
     5.55041086648200795e-2,
     9.61812910759406838e-3,
     1.33335581467753245e-3,
     1.54035304571844065e-4,
     1.52527334926162231e-5,
     1.32154352431638768e-6,
     1.01781997180900733e-7,
     7.07379045003170402e-9,
     4.4347590162698542e-10},
    {6.93283e-1,
     2.42211e-1,
     5.50087e-2},
};

/// Approximates (e^r - 1) / r for |r| <= ln 2, with a small error relative to e^r - 1.
/// The weighted error is at most 1.1e-9 (f32), 5.5e-19 (f64).
inline constexpr Table kExpm1 = {
    {9.99999998907059463e-1,
     5.00000003053375821e-1,
     1.66666741335519051e-1,
     4.16666210813551657e-2,
     8.33254519222404274e-3,
     1.38903195296186335e-3,
     2.01058270526648366e-4,
     2.48013433174425868e-5},
    kExp.f64,
};

/// Approximates (log(1 + f) - f + f^2 / 2) / f^3 for 1 + f in [sqrt(1/2), sqrt(2)].
/// The weighted error is at most 5.8e-9 (f32).
inline constexpr Table kLog = {
    {3.33333317013166053e-1,
     -2.50008208989346205e-1,
     2.0001227125466696e-1,
     -1.66233619109979203e-1,
     1.42017557141292398e-1,
     -1.31601394023098775e-1,
     1.27615736553411347e-1,
     -7.63459630842168774e-2},
    {},
};

/// Approximates (2 atanh(s) - 2 s) / s^3 as a polynomial in s^2, for s = f / (2 + f) with the f of kLog.
/// The weighted error is at most 9.6e-12 (f32), 1.7e-20 (f64).
inline constexpr Table kAtanhTail = {
    {6.66666656462647356e-1,
     4.00003350652611552e-1,
     2.85373134080793072e-1,
     2.35821006770155326e-1},
    {6.6666666666666661e-1,
     4.00000000000062238e-1,
     2.85714285690927046e-1,
     2.22222226458516317e-1,
     1.81817757348329227e-1,
     1.53870879824354138e-1,
     1.32501754765271139e-1,
     1.32508500562363803e-1},
};

/// Approximates (sin(r) - r) / r^3 as a polynomial in r^2, for |r| <= pi/4.
/// The weighted error is at most 3.6e-9 (f32), 1.9e-21 (f64).
inline constexpr Table kSin = {
    {-1.66666549376259813e-1,
     8.33217768812282348e-3,
     -1.9517232220911041e-4},
    {-1.66666666666666666e-1,
     8.33333333333332284e-3,
     -1.98412698412551455e-4,
     2.75573192142299217e-6,
     -2.50521049216333169e-8,
     1.60583678799101703e-10,
     -7.57875882801882892e-13},
};

/// Approximates (cos(r) - 1 + r^2 / 2) / r^4 as a polynomial in r^2, for |r| <= pi/4.
/// The weighted error is at most 9.6e-11 (f32), 2.3e-23 (f64).
inline constexpr Table kCos = {
    {4.16666468720612026e-2,
     -1.38873675169665653e-3,
     2.4438430062305391e-5},
    {4.16666666666666666e-2,
     -1.38888888888888742e-3,
     2.48015873015715343e-5,
     -2.75573192153913905e-7,
     2.0876754369488934e-9,
     -1.14702936280942419e-11,
     4.73812476769725571e-14},
};

/// Approximates (asin(x) - x) / x^3 as a polynomial in x^2, for |x| <= 1/2.
/// The weighted error is at most 5.0e-9 (f32), 9.8e-19 (f64).
inline constexpr Table kAsin = {
    {1.66667538405458801e-1,
     7.49524499181484489e-2,
     4.54767651349427195e-2,
     2.41489017302654787e-2,
     4.22168715063908081e-2},
    {1.66666666666667625e-1,
     7.4999999999702562e-2,
     4.46428571751247597e-2,
     3.03819426834787159e-2,
     2.23722156632363401e-2,
     1.73516000509428877e-2,
     1.39809618442107133e-2,
     1.13977733309622073e-2,
     1.07865417335836997e-2,
     3.68300008254516386e-3,
     2.17635903974093453e-2,
     -2.10774099949502952e-2,
     3.26769579300280943e-2},
};

/// Approximates (atan(x) - x) / x^3 as a polynomial in x^2, for |x| <= tan(pi/8).
/// The weighted error is at most 6.6e-10 (f32), 1.2e-18 (f64).
inline constexpr Table kAtan = {
    {-3.33333155290059715e-1,
     1.99984905568670561e-1,
     -1.42438614814144134e-1,
     1.05960413721385548e-1,
     -6.08344294983390489e-2},
    {-3.3333333333333199e-1,
     1.99999999999540434e-1,
     -1.42857142802442795e-1,
     1.11111107859133759e-1,
     -9.09089782968978374e-2,
     7.69206151224328485e-2,
     -6.66311891788133463e-2,
     5.84799794355335597e-2,
     -5.03979480979295439e-2,
     3.80770031431556142e-2,
     -1.79208058371829272e-2},
};

/// The numerator of a quotient of polynomials in x^2 that approximates tanh(x) / x for |x| <= 9.02.
/// The weighted error is at most 9.6e-10 (f32).
inline constexpr Table kTanhP = {
    {9.99999999058111983e-1,
     1.37853656005977857e-1,
     4.00851020695473553e-3,
     3.15890391592455446e-5,
     5.07618526697597639e-8},
    {},
};

/// The denominator of a quotient of polynomials in x^2 that approximates tanh(x) / x for |x| <= 9.02.
/// The weighted error is at most 9.6e-10 (f32).
inline constexpr Table kTanhQ = {
    {1.0,
     4.7118698011432038e-1,
     2.77375186449042823e-2,
     4.20740802813026392e-4,
     1.61748069886234856e-6,
     7.37432672223035373e-10},
    {},
};

/// The numerator of a quotient of polynomials in x^2 that approximates erf(x) / x for |x| <= 3.93.
/// The weighted error is at most 1.9e-8 (f32).
inline constexpr Table kErfP = {
    {1.12837914562790412,
     1.90759520852642084e-1,
     5.27866619436623719e-2,
     3.77845875720031769e-3,
     2.84764665552405678e-4,
     2.04191830124203666e-6},
    {},
};

/// The denominator of a quotient of polynomials in x^2 that approximates erf(x) / x for |x| <= 3.93.
/// The weighted error is at most 1.9e-8 (f32).
inline constexpr Table kErfQ = {
    {1.0,
     5.0238894966870391e-1,
     1.14247104070814503e-1,
     1.49951426180431756e-2,
     1.16490037183131785e-3,
     3.80012392797369918e-5},
    {},
};

/// Approximates erf(x) / x as a polynomial in x^2, for |x| <= 1.
/// The weighted error is at most 4.0e-8 (f32), 1.3e-19 (f64).
inline constexpr Table kErfSmall = {
    {1.12837912256937964,
     -3.76123264137379632e-1,
     1.12801815223560043e-1,
     -2.67113451537827753e-2,
     4.91758576775946941e-3,
     -5.63154573540456775e-4},
    {1.12837916709551257,
     -3.76126389031837476e-1,
     1.1283791670954858e-1,
     -2.68661706450729778e-2,
     5.22397762478159611e-3,
     -8.54832697877974794e-4,
     1.205533103811942e-4,
     -1.49255935329411892e-5,
     1.64609731882539254e-6,
     -1.63500287204228807e-7,
     1.46579007696997405e-8,
     -1.13657379822980985e-9,
     5.94537029795326366e-11},
};

/// kErfBesideOne approximates e^(x^2) erfc(x) / t as a polynomial in t = 1 / (1 + kErfScale x),
/// for x >= 0. The error of erf(x) is less than 1.5e-7 (Abramowitz and Stegun, Handbook of
/// Mathematical Functions, 7.1.26).
inline constexpr double kErfScale = 0.3275911;
inline constexpr Table kErfBesideOne = {
    {0.254829592, -0.284496736, 1.421413741, -1.453152027, 1.061405429},
    {},
};

/// Approximates e^(x^2) erfc(x) (1 + 2 x) as a polynomial in (x - 3) / (x + 3), for x >= 0.45.
/// The weighted error is at most 4.4e-9 (f32), 6.3e-18 (f64).
inline constexpr Table kErfc = {
    {1.25300805814344376,
     -1.35621021430522609e-1,
     -4.75622815144844072e-2,
     1.29641829485770456e-1,
     -1.19274400825734721e-1,
     6.83441327733710486e-2,
     -2.37585493091078615e-2,
     2.37610152443024257e-3,
     1.82508614730208553e-3,
     -5.21772367435462554e-4},
    {1.25300805826972965,
     -1.35621106124581342e-1,
     -4.75622943534486942e-2,
     1.2964515870278276e-1,
     -1.19273663415447116e-1,
     6.83080273431262171e-2,
     -2.37705149149411252e-2,
     2.5293918310662554e-3,
     1.88869030709351487e-3,
     -7.79832416667988982e-4,
     -1.05159363094693537e-4,
     1.25100184527372653e-4,
     4.94716686215525685e-6,
     -2.01035369591917263e-5,
     -7.2351943382461188e-7,
     3.47895921236441694e-6,
     3.38939379410999173e-7,
     -6.25068120087554443e-7,
     -1.16276698163360413e-7,
     1.07054790493363901e-7,
     2.08063357290473375e-8,
     -1.34707005152004582e-8},
};

} // namespace ingot::legalize::math_tables

#endif // INGOT_PASSES_LEGALIZE_MATH_MATHTABLES_H
