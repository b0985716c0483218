// What an entry point looks like to C.
//
// Header, source and test print the same facts.

#ifndef INGOT_CODEGEN_FILES_INTERFACE_H
#define INGOT_CODEGEN_FILES_INTERFACE_H

#include "codegen/Codegen.h"
#include "codegen/files/Weights.h"

#include "dialects/kernel/KernelModule.h"

#include <string>
#include <vector>

namespace ingot {

struct InterfaceTensor {
  std::string field;    ///< in the io struct
  std::string onnxName; ///< as the model has it
  std::string type;     ///< ONNX's name: float32, int64, bool, ...
  std::string cType;    ///< of an element
  kernel::Dims sizes;
  int64_t elements = 0; ///< or the most that there can be
  bool isOutput = false;
  /// Of a sequence or an optional value: which part (kernel.part), and the shape of all
  /// elements, if they have one.
  std::string part;
  std::optional<std::vector<int64_t>> element = std::nullopt;

  /// Of a tensor in the state: its place, its place where the byte at `phase` is odd,
  /// and that byte, if there are two places.
  struct Slots {
    std::string state;
    int64_t even, odd;
    std::optional<int64_t> phase;
    /// Whether an output is in the place of its input.
    bool isAppended = false;
  };
  std::optional<Slots> slots = std::nullopt;

  bool isOfStrings() const { return type == "string"; }
};

/// A size that the caller names for each run, or that the run makes.
struct InterfaceSize {
  std::string field; ///< in the io struct
  kernel::SymbolAttr symbol;
  /// What this size has to be equal to in a run, if it is not free.
  std::optional<kernel::Dim> equalTo = std::nullopt;
  /// The run makes it: the io struct says where the caller wants it.
  bool isMade = false;
  /// Of a size that the run makes: the program that does, before any that it runs.
  kernel::ProgramOp maker = nullptr;
};

struct Interface {
  /// Of the only entry point of a module.
  Interface(mlir::ModuleOp module, const CodegenOptions &options);
  /// `weights` are those of all modules that go into one output.
  Interface(kernel::ProgramOp main, const CodegenOptions &options,
            const Weights &weights);

  kernel::ProgramOp main;
  /// Prefixes of the functions and macros of the entry point, and of those that all
  /// entry points of an output share. They are the same where it is the only one.
  std::string name, macro, sharedName, sharedMacro;
  std::string model; ///< for comments
  std::vector<InterfaceSize> sizes;
  /// All sizes that a run makes, also those that no tensor of the caller has.
  std::vector<InterfaceSize> madeSizes;
  std::vector<InterfaceTensor> tensors;
  int64_t arenaBytes = 0, arenaAlign = 64;
  /// Of what lives from run to run, which is at a multiple of the arena's alignment.
  int64_t stateBytes = 0;
  bool hasState = false;  ///< of this entry point
  std::string stateField; ///< in the io struct, where the caller passes it
  /// Of the memory that vectors read fastest; what it is called in macros, and its field
  /// in the io struct, where there is any.
  int64_t nearBytes = 0;
  std::string nearMacro, nearField;
  int64_t tensorAlign =
      1; ///< of what the caller passes, where elements need less
  WeightsMode weightsMode;
  std::string weightsField; ///< in the io struct, for a weights file
  bool isDevice = false;    ///< kernels run on a device beside the host

  /// Whether the host decides during a run what runs on the device, or how large it is.
  bool isDecided() const { return isDevice && kernel::decidesOnHost(main); }
  /// "[1,past + 1,16]", of the fields of the io struct.
  std::string shapeText(llvm::ArrayRef<kernel::Dim> sizes) const;
  /// What a function of the entry point is called where no other model has one.
  std::string localName(llvm::StringRef function = "run") const;
  /// A size in C, of the fields of the io struct; `object` names that struct, and sizes
  /// that the run makes are in `made`.
  std::string sizeText(const kernel::Dim &size,
                       llvm::StringRef object = "") const;
};

/// Those of all entry points of a module for a target, in their order.
std::vector<Interface> interfacesOf(const Variant &variant,
                                    const CodegenOptions &options,
                                    const Weights &weights);

/// Bytes of the arena that is enough for each of them.
int64_t largestArena(llvm::ArrayRef<Interface> interfaces);

} // namespace ingot

#endif // INGOT_CODEGEN_FILES_INTERFACE_H
