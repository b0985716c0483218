// Declares, for each math operation, the function that builds its expansion.
//
// ExpandMath.cpp calls these functions. Their expansions accept every value,
// including infinities and NaN, and work on scalars and vectors.

#ifndef INGOT_PASSES_LEGALIZE_MATH_EXPANDMATHFUNCTIONS_H
#define INGOT_PASSES_LEGALIZE_MATH_EXPANDMATHFUNCTIONS_H

#include "passes/legalize/math/MathNum.h"

namespace ingot::legalize {

// Defined in ExpandMathExpLog.cpp (exp, expm1, log, log1p are in MathNum.h):
/// exp2OfTarget builds 2^x by the target's instruction (kernel.exp2);
/// expandExpByExp2 builds e^x with exp2OfTarget.
Num exp2OfTarget(Num x);
Num expandExpByExp2(Num x);
Num expandExp2(Num x);
Num expandLog2(Num x);
Num expandLog10(Num x);
Num expandPow(Num x, Num y);

// Defined in LargeAngles.cpp:
/// An angle r in [-pi/4, pi/4], and the number of multiples of pi/2 that were
/// subtracted to get it. Only the two lowest bits of `quadrant` are meaningful.
struct ReducedAngle {
  Num r, quadrant;
};
/// Whether the angle `x` is too large for the reduction in floats
/// (ExpandMathTrigonometry.cpp): the products of the parts of pi/2 with the
/// number of multiples of pi/2 to subtract would not be exact.
Num isLargeAngle(Num x);
/// Reduces the scalar angle `x` to [-pi/4, pi/4] if it is large and finite;
/// returns `otherwise` for other angles.
ReducedAngle reduceLargeAngle(Num x, ReducedAngle otherwise);
/// Returns `result` if no lane of the vector `x` is a large angle; otherwise
/// applies `ofScalar` to each lane.
Num replaceLargeAngles(Num x, Num result, Num (*ofScalar)(Num));

// Defined in ExpandMathTrigonometry.cpp:
Num expandSin(Num x);
Num expandCos(Num x);
Num expandTan(Num x);
Num expandAsin(Num x);
Num expandAcos(Num x);
Num expandAtan(Num x);
Num expandAtan2(Num y, Num x);

// Defined in ExpandMathHyperbolic.cpp:
Num expandSinh(Num x);
Num expandCosh(Num x);
Num expandTanh(Num x);
Num expandAsinh(Num x);
Num expandAcosh(Num x);
Num expandAtanh(Num x);

// Defined in ExpandMathErf.cpp:
/// Computes erf(x) by the target's instruction for 2^x, accurately enough if
/// erf(x) is added to 1, as in GELU.
Num expandErfByExp2(Num x);
Num expandErfc(Num x);

// Defined in ExpandMathRounding.cpp (floor, trunc, roundeven are in MathNum.h):
Num expandCeil(Num x);
Num expandRound(Num x);
Num expandCopySign(Num magnitude, Num sign);
Num expandRemainder(Num x, Num y);
Num expandMaximum(Num x, Num y); // NaN if x or y is NaN
Num expandMinimum(Num x, Num y);

// Defined in ExpandMathRoots.cpp:
Num expandCbrt(Num x);
Num expandRsqrt(Num x);

// Defined in ExpandMathInteger.cpp, for integers of any width:
Num expandPopulation(Num x);
Num expandLeadingZeros(Num x);
Num expandTrailingZeros(Num x);
mlir::Value expandIPow(mlir::OpBuilder &builder, mlir::Location loc,
                       mlir::Value x, mlir::Value y);
mlir::Value expandFPowI(mlir::OpBuilder &builder, mlir::Location loc,
                        mlir::Value x, mlir::Value y);

} // namespace ingot::legalize

#endif // INGOT_PASSES_LEGALIZE_MATH_EXPANDMATHFUNCTIONS_H
