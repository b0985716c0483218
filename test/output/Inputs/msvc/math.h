// What generated code uses of <math.h>, for a compiler without a C library.
#define INFINITY (static_cast<float>(1e300 * 1e300))
#define NAN (INFINITY * 0.0f)
extern "C" {
float fabsf(float x);
double fabs(double x);
float copysignf(float x, float y);
double copysign(double x, double y);
}
