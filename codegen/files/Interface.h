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
  std::string field;    ///< its field in the io struct, the argument of a run
  std::string onnxName; ///< name in the model
  std::string type;     ///< ONNX name of the type: float32, int64, bool, ...
  std::string cType;    ///< C type of an element
  std::string note;     ///< what the model says about the tensor, for comments
  kernel::Dims sizes;
  /// The number of elements; if it is dynamic, its upper bound.
  int64_t elements = 0;
  bool isOutput = false;
  /// For a tensor that holds a part of an ONNX sequence or optional value:
  /// which part (the elements, their shapes, or whether the value is present;
  /// see kernel.part), and the shape of the elements of the sequence if all
  /// have the same shape.
  std::string part;
  std::optional<std::vector<int64_t>> element = std::nullopt;

  /// Where the state stores the value of a tensor that persists between runs,
  /// as byte offsets. The value is at `even`, or at `odd` while the byte at
  /// offset `phase` is odd. Without `phase`, the value has a single buffer, at
  /// `even`.
  struct Slots {
    std::string state;
    int64_t even, odd;
    std::optional<int64_t> phase;
    /// Whether the output is stored in place: in the memory of the input of the
    /// same name.
    bool isAppended = false;
  };
  std::optional<Slots> slots = std::nullopt;

  /// For a streamed input, of which a call takes only new columns (slices along
  /// `axis`): their number, and the number of columns of the model's input.
  struct Stream {
    int64_t axis, columns, window;
  };
  std::optional<Stream> stream = std::nullopt;

  /// For a tensor that is stored with spare rows: the shape of its memory, in
  /// which `sizes` take the first elements of each axis.
  std::optional<kernel::Dims> inMemory = std::nullopt;

  bool isOfStrings() const { return type == "string"; }
};

/// A dynamic size: either the caller gives it for each run, or it is
/// data-dependent.
struct InterfaceSize {
  std::string field; ///< its field in the io struct, the argument of a run
  kernel::SymbolAttr symbol;
  /// The expression that the size must equal at run time, unless any value is
  /// valid.
  std::optional<kernel::Dim> equalTo = std::nullopt;
  /// Whether the size is data-dependent: then its field in the io struct (the
  /// argument of a run) is a pointer, to which a run writes the size.
  bool isMade = false;
  /// For a data-dependent size: the outermost program (entry point, or body of
  /// an if or loop) that defines it.
  kernel::ProgramOp maker = nullptr;
};

struct Interface {
  /// Creates the interface of a module with a single entry point.
  Interface(mlir::ModuleOp module, const CodegenOptions &options);
  /// Creates the interface of the entry point `main`. `weights` are the weights
  /// of all modules that are combined in the output.
  Interface(kernel::ProgramOp main, const CodegenOptions &options,
            const Weights &weights);

  kernel::ProgramOp main;
  /// The prefixes of the functions and macros of this entry point, and the
  /// prefixes of those that all entry points of an output share. The former
  /// equal the latter if the entry point is called kMainName.
  std::string name, macro, sharedName, sharedMacro;
  std::string model; ///< file name and hash of the model, for comments
  std::vector<InterfaceSize> sizes;
  /// All data-dependent sizes, including those that are not a size of a tensor
  /// of the caller.
  std::vector<InterfaceSize> madeSizes;
  std::vector<InterfaceTensor> tensors;
  int64_t arenaBytes = 0, arenaAlign = 64;
  /// Bytes of the state (the tensors that persist between runs), which is
  /// aligned like the arena, the buffer for intermediate tensors.
  int64_t stateBytes = 0;
  bool hasState = false; ///< whether this entry point uses the state
  /// The field of the io struct (the argument of a run) with the state's
  /// address, if the caller passes the state.
  std::string stateField;
  /// Bytes of fast local memory (such as VTCM) that a run uses, the prefix of
  /// the macros that describe this memory, and the field of the io struct (the
  /// argument of a run) with its address.
  int64_t vtcmBytes = 0;
  std::string vtcmMacro, vtcmField;
  /// The alignment in bytes that the target requires of the caller's tensors; 1
  /// if they need only the alignment of an element.
  int64_t tensorAlign = 1;
  WeightsMode weightsMode;
  std::string weightsField; ///< field for the address of a weights file
  /// On a GPU: the field that says whether the caller's tensors are in host or
  /// device memory.
  std::string placeField;
  /// The C++ text before the name of a field of the struct of data-dependent
  /// sizes: the name of a variable and an operator, "made." or "made->".
  std::string made = "made.";

  /// Whether programs run the model by a handle (ProgramForm::hasHandle).
  bool hasHandle() const { return !placeField.empty(); }
  /// On a GPU: whether the host decides during a run which kernels run, or with
  /// which dynamic sizes.
  bool isDecided() const { return kernel::decidesOnHost(main); }
  /// Returns the text of a shape, such as "[1,past + 1,16]", where `past` is a
  /// field of the io struct, the argument of a run.
  std::string shapeText(llvm::ArrayRef<kernel::Dim> sizes) const;
  /// Returns the name of a function of the entry point within the namespace of
  /// the model: `function` for the entry point kMainName, `function`_decode for
  /// the entry point `decode`.
  std::string localName(llvm::StringRef function = "run") const;
  /// Returns the C text of a size. Sizes that the caller gives are fields of
  /// `object`, such as "io->"; data-dependent sizes are fields of `made`. If
  /// `object` is empty, sizes of either kind are just names of fields, for
  /// comments.
  std::string sizeText(const kernel::Dim &size,
                       llvm::StringRef object = "") const;
};

/// Returns the interfaces of all entry points of the module for a target, in
/// the order in which the module contains them.
std::vector<Interface> interfacesOf(const Variant &variant,
                                    const CodegenOptions &options,
                                    const Weights &weights);

/// Returns the bytes of an arena (the buffer for intermediate tensors) that
/// suffices for each of the entry points.
int64_t largestArena(llvm::ArrayRef<Interface> interfaces);

} // namespace ingot

#endif // INGOT_CODEGEN_FILES_INTERFACE_H
