// One expansion per function.
//
// What ExpandMath.cpp calls for each math operation. All accept every value,
// infinities and NaN included, and are the same for scalars and vectors.

#ifndef INGOT_PASSES_LEGALIZE_MATH_EXPANDMATHFUNCTIONS_H
#define INGOT_PASSES_LEGALIZE_MATH_EXPANDMATHFUNCTIONS_H

#include "passes/legalize/math/MathNum.h"

namespace ingot::legalize {

// ExpandMathExpLog.cpp (exp, expm1, log, log1p are in MathNum.h)
/// 2^x by the target's own instruction (kernel.exp2), and e^x by it.
Num exp2OfTarget(Num x);
Num expandExpByExp2(Num x);
Num expandExp2(Num x);
Num expandLog2(Num x);
Num expandLog10(Num x);
Num expandPow(Num x, Num y);

// LargeAngles.cpp
/// An angle r within pi/4 of 0, and the multiple of pi/2 that was taken off, of whose bits
/// the low two count.
struct ReducedAngle {
  Num r, quadrant;
};
/// Whether the angle needs more bits of pi than floats have products for.
Num isLargeAngle(Num x);
/// Reduces the scalar `x` where it is large and finite; returns `otherwise` else.
ReducedAngle reduceLargeAngle(Num x, ReducedAngle otherwise);
/// `result` for a vector none of whose angles is large, `ofScalar` of each lane else.
Num replaceLargeAngles(Num x, Num result, Num (*ofScalar)(Num));

// ExpandMathTrigonometry.cpp
Num expandSin(Num x);
Num expandCos(Num x);
Num expandTan(Num x);
Num expandAsin(Num x);
Num expandAcos(Num x);
Num expandAtan(Num x);
Num expandAtan2(Num y, Num x);

// ExpandMathHyperbolic.cpp
Num expandSinh(Num x);
Num expandCosh(Num x);
Num expandTanh(Num x);
Num expandAsinh(Num x);
Num expandAcosh(Num x);
Num expandAtanh(Num x);

// ExpandMathErf.cpp
/// erf(x) beside 1, by the target's own 2^x.
Num expandErfByExp2(Num x);
Num expandErfc(Num x);

// ExpandMathRounding.cpp (floor, trunc, roundeven are in MathNum.h)
Num expandCeil(Num x);
Num expandRound(Num x);
Num expandCopySign(Num magnitude, Num sign);
Num expandRemainder(Num x, Num y);
Num expandMaximum(Num x, Num y); // NaN if either is
Num expandMinimum(Num x, Num y);

// ExpandMathRoots.cpp
Num expandCbrt(Num x);
Num expandRsqrt(Num x);

// ExpandMathInteger.cpp; on integers of any width
Num expandPopulation(Num x);
Num expandLeadingZeros(Num x);
Num expandTrailingZeros(Num x);
mlir::Value expandIPow(mlir::OpBuilder &builder, mlir::Location loc,
                       mlir::Value x, mlir::Value y);
mlir::Value expandFPowI(mlir::OpBuilder &builder, mlir::Location loc,
                        mlir::Value x, mlir::Value y);

} // namespace ingot::legalize

#endif // INGOT_PASSES_LEGALIZE_MATH_EXPANDMATHFUNCTIONS_H
