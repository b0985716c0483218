// Strings inside of kernels.
//
// A string is the address of its characters, which end with a zero, as C has it: moving
// one moves an address, and what it points at belongs to the caller, to a constant or to
// a buffer of the arena. Upstream's `llvm.ptr` would bring the dialect of a machine.

#ifndef INGOT_DIALECTS_KERNEL_STRINGOPS_TD
#define INGOT_DIALECTS_KERNEL_STRINGOPS_TD

def Kernel_String : TypeDef<Kernel_Dialect, "String", [MemRefElementTypeInterface]> {
  let mnemonic = "string";
  let summary = "The address of characters that end with a zero";
}

def Kernel_StringAtOp : Kernel_Op<"string_at", [Pure]> {
  let summary = "The string that begins at a character of a buffer";
  let description = [{
    Strings of the model are one constant of bytes and the places where each of
    them begins; strings that a kernel writes are the same in the arena.

        %s = kernel.string_at %characters[%i] : memref<64xi8>
  }];
  let arguments = (ins MemRefRankOf<[I8], [1]>:$characters, Index:$position);
  let results = (outs Kernel_String:$result);
  let assemblyFormat = "$characters `[` $position `]` attr-dict `:` type($characters)";
}

def Kernel_EmptyStringOp : Kernel_Op<"empty_string", [Pure]> {
  let summary = "The string without characters";
  let results = (outs Kernel_String:$result);
  let assemblyFormat = "attr-dict";
}

def Kernel_CharacterOp : Kernel_Op<"character", [MemoryEffects<[MemRead]>]> {
  let summary = "A byte of a string";
  let description = [{
    The position is at most that of the zero that ends the string.

        %c = kernel.character %s[%i]
  }];
  let arguments = (ins Kernel_String:$string, Index:$position);
  let results = (outs I8:$result);
  let assemblyFormat = "$string `[` $position `]` attr-dict";
}

def Kernel_SameStringOp : Kernel_Op<"same_string", [MemoryEffects<[MemRead]>]> {
  let summary = "Whether two strings have the same bytes";
  let arguments = (ins Kernel_String:$x, Kernel_String:$y);
  let results = (outs I1:$result);
  let assemblyFormat = "$x `,` $y attr-dict";
}

def Kernel_StringLengthOp : Kernel_Op<"string_length", [MemoryEffects<[MemRead]>]> {
  let summary = "The bytes of a string before the zero that ends it";
  let arguments = (ins Kernel_String:$string);
  let results = (outs Index:$result);
  let assemblyFormat = "$string attr-dict";
}

#endif // INGOT_DIALECTS_KERNEL_STRINGOPS_TD
