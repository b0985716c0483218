// C++ text with which a generated source becomes a module without imports, and
// the text and command with which Node.js runs test programs.

#include "targets/wasm/Module.h"

#include "targets/ModuleForm.h"
#include "targets/wasm/DataObject.h"

namespace ingot::targets {

static constexpr llvm::StringLiteral moduleText = R"text(
// Linked alone, this file is a module without imports: its memory has the constants, the stack and
// the arena. The caller adds memory from {name}_heap() on for the tensors and the io struct.
#if defined(__wasm__) && !defined(__EMSCRIPTEN__) && !defined(__wasi__) && \
    !defined(INGOT_WITHOUT_MODULE)
#define INGOT_EXPORT(NAME) __attribute__((export_name(NAME)))
namespace {name}_module {
namespace {
alignas({macro}_ARENA_ALIGN) unsigned char arena[{macro}_ARENA_BYTES > 0 ? {macro}_ARENA_BYTES : 1];
#if defined(__wasm_atomics__)
// A loop that threads share. `ticket` consists of the number of the loop (bits 40 to 63), of its
// number of parts (bits 20 to 39) and of the number of the next part. A thread takes a part by
// incrementing `ticket`; the old value tells whether the loop has that part. `body`, `argument` and
// `extent` change only after all parts are done.
constexpr int part_bits = 20;
constexpr uint64_t part_mask = (uint64_t(1) << part_bits) - 1;
struct Shared {
  uint64_t ticket;
  ingot_body body;
  void *argument;
  ptrdiff_t extent;
  uint32_t parts, done;
  int32_t number;
} shared;
// Takes and executes the next part of the loop; returns false if there is none.
bool take_part() {
  const uint64_t mine = __atomic_fetch_add(&shared.ticket, 1, __ATOMIC_ACQ_REL);
  const uint64_t part = mine & part_mask, parts = mine >> part_bits & part_mask;
  if (part >= parts) return false;
  const auto border = [&](uint64_t at) {
    return ptrdiff_t(uint64_t(shared.extent) * at / parts);
  };
  shared.body(shared.argument, border(part), border(part + 1));
  __atomic_fetch_add(&shared.done, 1, __ATOMIC_ACQ_REL);
  return true;
}
void parallel_for(void *threads, ptrdiff_t extent, ingot_body body, void *argument) {
  const ptrdiff_t most = *static_cast<const int32_t *>(threads) * 4;
  const uint64_t parts = uint64_t(extent < most ? extent : most);
  if (parts < 2) return body(argument, 0, extent);
  shared.body = body;
  shared.argument = argument;
  shared.extent = extent;
  __atomic_store_n(&shared.done, 0, __ATOMIC_RELEASE);
  const uint64_t number = uint64_t(uint32_t(shared.number + 1)) & 0xffffff;
  __atomic_store_n(&shared.ticket, number << 40 | parts << part_bits, __ATOMIC_RELEASE);
  __atomic_store_n(&shared.number, int32_t(number), __ATOMIC_RELEASE);
  __builtin_wasm_memory_atomic_notify(&shared.number, 0xffffffffu);
  while (take_part()) {
  }
  while (__atomic_load_n(&shared.done, __ATOMIC_ACQUIRE) != parts) {
  }
}
ingot_context context_of_threads = {parallel_for, nullptr, nullptr, nullptr};
[[noreturn, gnu::noinline]] void work() {
  for (;;) {
    const int32_t number = __atomic_load_n(&shared.number, __ATOMIC_ACQUIRE);
    while (take_part()) {
    }
    int spins = 0;
    while (spins < 2000 && __atomic_load_n(&shared.number, __ATOMIC_ACQUIRE) == number) ++spins;
    if (spins == 2000) __builtin_wasm_memory_atomic_wait32(&shared.number, number, -1);
  }
}
#endif
} // namespace
} // namespace {name}_module
extern "C" {
extern unsigned char __heap_base;
INGOT_EXPORT("{name}_run")
ingot_status {name}_module_run(const {name}_io *io, void *arena, const ingot_context *context);
ingot_status {name}_module_run(const {name}_io *io, void *arena, const ingot_context *context) {
  return {name}_run(io, arena, context);
}
INGOT_EXPORT("{name}_arena") void *{name}_module_arena(void);
void *{name}_module_arena(void) { return {name}_module::arena; }
INGOT_EXPORT("{name}_arena_bytes") size_t {name}_module_arena_bytes(void);
size_t {name}_module_arena_bytes(void) { return {macro}_ARENA_BYTES; }
INGOT_EXPORT("{name}_io_bytes") size_t {name}_module_io_bytes(void);
size_t {name}_module_io_bytes(void) { return sizeof({name}_io); }
INGOT_EXPORT("{name}_heap") void *{name}_module_heap(void);
void *{name}_module_heap(void) { return &__heap_base; }
#if defined(__wasm_atomics__)
// Returns a context whose loops are divided among the caller and the threads in {name}_work.
// `threads` points to their number, which includes the caller.
INGOT_EXPORT("{name}_threads") const ingot_context *{name}_module_threads(int32_t *threads);
const ingot_context *{name}_module_threads(int32_t *threads) {
  {name}_module::context_of_threads.user = threads;
  return &{name}_module::context_of_threads;
}
// To be called by each further thread, whose own stack ends at address `stack`. Does not return.
INGOT_EXPORT("{name}_work") void {name}_module_work(void *stack);
void {name}_module_work(void *stack) {
  __asm__ volatile(".globaltype __stack_pointer, i32\n"
                   "local.get %0\n"
                   "global.set __stack_pointer"
                   :
                   : "r"(stack));
  {name}_module::work();
}
#endif
}
#undef INGOT_EXPORT
#endif
)text";

const llvm::StringLiteral hostLibraryText =
    R"text(#include <stddef.h>
#include <stdint.h>

#define INGOT_HOST(NAME) __attribute__((import_module("host"), import_name(NAME)))
extern "C" {
INGOT_HOST("open") int host_open(const char *path, int writes);
INGOT_HOST("read") size_t host_read(int file, void *data, size_t bytes);
INGOT_HOST("write") size_t host_write(int file, const void *data, size_t bytes);
}

// The parts of <stdio.h> and <string.h> that test programs use. FILE contains only a descriptor.
struct FILE {
  int descriptor;
};
inline FILE *fopen(const char *path, const char *mode) {
  static FILE files[8];
  static int count;
  files[count].descriptor = host_open(path, mode[0] == 'w');
  return &files[count++];
}
inline size_t fread(void *data, size_t size, size_t count, FILE *file) {
  return host_read(file->descriptor, data, size * count) / size;
}
inline size_t fwrite(const void *data, size_t size, size_t count, FILE *file) {
  return host_write(file->descriptor, data, size * count) / size;
}
inline int fflush(FILE *) { return 0; }
inline int fclose(FILE *) { return 0; }
inline void *memset(void *to, int value, size_t bytes) { return __builtin_memset(to, value, bytes); }
)text";

// The command is split into words at spaces. Node.js 20 supports the relaxed
// operations only with the flag --experimental-wasm-relaxed-simd; later
// versions do not know the flag and print a warning.
const llvm::StringLiteral nodeCommand =
    "node -e "
    "F=require('fs');B=()=>Buffer.from(E.memory.buffer);"
    "S=p=>(b=B()).toString('utf8',p,b.indexOf(0,p));"
    "require('v8').setFlagsFromString('--experimental-wasm-relaxed-simd');"
    "WebAssembly.instantiate(F.readFileSync(process.argv[1]),{host:{"
    "open:(p,w)=>F.openSync(S(p>>>0),w?'w':'r'),"
    "read:(f,p,n)=>n&&F.readSync(f,B(),p>>>0,n),"
    "write:(f,p,n)=>n&&F.writeSync(f,B(),p>>>0,n)}}).then(r=>{"
    "E=r.instance.exports;process.exitCode=E.__main_void()})";

std::vector<Product> pairProducts() {
  // Engines compile this to PMADDWD on x86-64, and to SMULL, SMULL2 and ADDP on
  // Arm.
  return {{"si16", "si16", 2, 4, 1,
           "wasm_i32x4_add(v128_t({2}), "
           "wasm_i32x4_dot_i16x8(v128_t({0}), v128_t({1})))"}};
}

} // namespace ingot::targets

namespace ingot {

const ModuleForm *moduleForm(const TargetDescription &target) {
  static const ModuleForm form = {
      ".wasm",
      targets::moduleText,
      {"-nostdlib", "-Wl,--no-entry,--strip-all", "-Wl,-z,stack-size={stack}"},
      targets::writeWasmDataObject};
  return target.family == targets::moduleFamily ? &form : nullptr;
}

} // namespace ingot
