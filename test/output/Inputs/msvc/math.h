// What generated code uses of <math.h>, for a compiler without a C library.
#define INFINITY ((float)(1e300 * 1e300))
#define HUGE_VAL (1e300 * 1e300)
#define NAN (INFINITY * 0.0f)
#ifdef __cplusplus
extern "C" {
#endif
float fabsf(float x);
double fabs(double x);
float copysignf(float x, float y);
double copysign(double x, double y);
#ifdef __cplusplus
}
#endif
