// The C interface of an entry point, from which header, source and test program
// are printed.

#ifndef INGOT_CODEGEN_FILES_INTERFACE_H
#define INGOT_CODEGEN_FILES_INTERFACE_H

#include "codegen/Codegen.h"
#include "codegen/files/Weights.h"

#include "dialects/kernel/KernelModule.h"

#include <string>
#include <vector>

namespace ingot {

struct InterfaceTensor {
  std::string field;    ///< field of the io struct
  std::string onnxName; ///< name in the model
  std::string type;     ///< ONNX name of the type: float32, int64, bool, ...
  std::string cType;    ///< C type of an element
  kernel::Dims sizes;
  int64_t elements = 0; ///< number of elements, or its maximum
  bool isOutput = false;
  /// For a part of a sequence or an optional value: which part (kernel.part),
  /// and the shape of all elements if they have the same.
  std::string part;
  std::optional<std::vector<int64_t>> element = std::nullopt;

  /// For a tensor in the state: its offset, its offset while the byte at
  /// `phase` is odd, and that byte, if the value is double-buffered.
  struct Slots {
    std::string state;
    int64_t even, odd;
    std::optional<int64_t> phase;
    /// Whether the output is stored in place, in the buffer of its input.
    bool isAppended = false;
  };
  std::optional<Slots> slots = std::nullopt;

  bool isOfStrings() const { return type == "string"; }
};

/// A dynamic size, given by the caller for each run or data-dependent.
struct InterfaceSize {
  std::string field; ///< field of the io struct
  kernel::SymbolAttr symbol;
  /// The expression that the size must equal at run time, if it is not free.
  std::optional<kernel::Dim> equalTo = std::nullopt;
  /// Whether it is data-dependent: the io struct then has a pointer to which
  /// the run stores it.
  bool isMade = false;
  /// For a data-dependent size: the outermost program that defines it.
  kernel::ProgramOp maker = nullptr;
};

struct Interface {
  /// The interface of a module with a single entry point.
  Interface(mlir::ModuleOp module, const CodegenOptions &options);
  /// `weights` are those of all modules that are combined in the output.
  Interface(kernel::ProgramOp main, const CodegenOptions &options,
            const Weights &weights);

  kernel::ProgramOp main;
  /// Prefixes of functions and macros of the entry point, and of those shared
  /// by all entry points of an output. Equal if there is only one.
  std::string name, macro, sharedName, sharedMacro;
  std::string model; ///< for comments
  std::vector<InterfaceSize> sizes;
  /// All data-dependent sizes, including those that no tensor of the caller
  /// has.
  std::vector<InterfaceSize> madeSizes;
  std::vector<InterfaceTensor> tensors;
  int64_t arenaBytes = 0, arenaAlign = 64;
  /// Bytes that persist between runs, aligned like the arena.
  int64_t stateBytes = 0;
  bool hasState = false;  ///< of this entry point
  std::string stateField; ///< field of the io struct, if the caller passes it
  /// Bytes of near memory (such as the VTCM), its macro, and its field of the
  /// io struct, if it is used.
  int64_t vtcmBytes = 0;
  std::string vtcmMacro, vtcmField;
  int64_t tensorAlign =
      1; ///< required of the caller's tensors, if more than that of an element
  WeightsMode weightsMode;
  std::string weightsField; ///< field of the io struct, for a weights file
  bool isDevice = false;    ///< kernels run on a GPU

  /// Whether the host decides during a run which kernels run on the GPU, or
  /// their sizes.
  bool isDecided() const { return isDevice && kernel::decidesOnHost(main); }
  /// Returns "[1,past + 1,16]", in terms of fields of the io struct.
  std::string shapeText(llvm::ArrayRef<kernel::Dim> sizes) const;
  /// Returns the name of a function of the entry point within the namespace of
  /// the model.
  std::string localName(llvm::StringRef function = "run") const;
  /// Returns a size in C, in terms of fields of the io struct `object`;
  /// data-dependent sizes are in `made`.
  std::string sizeText(const kernel::Dim &size,
                       llvm::StringRef object = "") const;
};

/// Returns the interfaces of all entry points of a module for a target, in
/// order.
std::vector<Interface> interfacesOf(const Variant &variant,
                                    const CodegenOptions &options,
                                    const Weights &weights);

/// Returns the arena bytes that suffice for each of them.
int64_t largestArena(llvm::ArrayRef<Interface> interfaces);

} // namespace ingot

#endif // INGOT_CODEGEN_FILES_INTERFACE_H
