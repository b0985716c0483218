// How types and constants are written in C++.
//
// Integers are signless in the IR, so the caller chooses the signed or the
// unsigned C type. f16, bf16 and 8-bit floats are stored as bits in unsigned
// integers. index is ptrdiff_t. i1 is bool as a value and uint8_t in memory.
// Integers of 2 to 7 bits are the low bits of a byte, whose other bits are
// ignored.
//
// A vector of N lanes is `<kind><bits>x<N>`, such as f32x16, i32x8, u8x16; its
// variant for unaligned memory has the suffix _u. A vector of one lane is a
// scalar. A vector of i1 is a mask: signed integers 0 or -1, as wide as the
// elements that were compared.

#ifndef INGOT_CODEGEN_KERNEL_CTYPES_H
#define INGOT_CODEGEN_KERNEL_CTYPES_H

#include "dialects/kernel/NumberTypes.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/APInt.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace ingot {

enum class Sign { Signed, Unsigned };

/// The typedef for a string, a pointer to characters: a plain name, so that
/// buffers of strings are declared like any others.
inline constexpr llvm::StringLiteral kStringTypeName = "string_t";

/// Returns the signedness of the elements of a buffer that is an argument of a
/// kernel.
Sign signOfArgument(mlir::FunctionOpInterface kernel, unsigned argument);

/// Returns the C type of a value. For a mask (a vector of i1), whose C type has
/// a width, use maskTypeName.
std::string valueTypeName(mlir::Type type, Sign sign);
/// Returns the C type of an element in memory.
std::string storageTypeName(mlir::Type element, Sign sign = Sign::Signed);
std::string vectorTypeName(char kind, unsigned bits, int64_t lanes);
std::string maskTypeName(unsigned bits, int64_t lanes);

/// Prints the typedef of a vector type: as a value ("u8x16"), or in memory,
/// aligned as its elements ("u8x16_u") or to a number of bytes ("u8x16_a16").
void printVectorTypedef(llvm::StringRef name, llvm::raw_ostream &os);

/// Returns a literal that C++ parses to exactly this value; for a float type
/// that C++ lacks, such as f16, the bits of the value as a hexadecimal integer.
std::string floatLiteral(const llvm::APFloat &value);
std::string integerLiteral(const llvm::APInt &value, Sign sign);
/// Prints an element of a weight as an initializer of its storage type.
void printElement(mlir::Type element, const char *bytes, llvm::raw_ostream &os,
                  Sign sign = Sign::Signed);

} // namespace ingot

#endif // INGOT_CODEGEN_KERNEL_CTYPES_H
