// Strings within kernels.
//
// A string is a pointer to zero-terminated characters, as in C. Moving a string
// moves only the pointer; the characters are owned by the caller, by a constant
// or by a buffer for intermediate tensors. Upstream's `llvm.ptr` would require
// the LLVM dialect.

#ifndef INGOT_DIALECTS_KERNEL_STRINGOPS_TD
#define INGOT_DIALECTS_KERNEL_STRINGOPS_TD

def Kernel_String : TypeDef<Kernel_Dialect, "String", [MemRefElementTypeInterface]> {
  let mnemonic = "string";
  let summary = "A pointer to zero-terminated characters";
}

def Kernel_StringAtOp : Kernel_Op<"string_at", [Pure]> {
  let summary = "The string that begins at an element of a character buffer";
  let description = [{
    The strings of a model are a constant of bytes and the positions at which
    they begin; strings that a kernel writes have the same form in the arena.

        %s = kernel.string_at %characters[%i] : memref<64xi8>
  }];
  let arguments = (ins MemRefRankOf<[I8], [1]>:$characters, Index:$position);
  let results = (outs Kernel_String:$result);
  let assemblyFormat = "$characters `[` $position `]` attr-dict `:` type($characters)";
}

def Kernel_EmptyStringOp : Kernel_Op<"empty_string", [Pure]> {
  let summary = "The empty string";
  let results = (outs Kernel_String:$result);
  let assemblyFormat = "attr-dict";
}

def Kernel_CharacterOp : Kernel_Op<"character", [MemoryEffects<[MemRead]>]> {
  let summary = "A byte of a string";
  let description = [{
    The position is at most that of the terminating zero.

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
  let summary = "The bytes of a string before its terminating zero";
  let arguments = (ins Kernel_String:$string);
  let results = (outs Index:$result);
  let assemblyFormat = "$string attr-dict";
}

#endif // INGOT_DIALECTS_KERNEL_STRINGOPS_TD
