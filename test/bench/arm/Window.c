/* Window.c - counts the instructions of an emulated program between two marks.
 *
 * A QEMU plugin: -plugin libwindow.so,out=FILE. The program starts counting by the
 * system call getpgid(0x1a9071) and stops it by getpgid(0x1a9072); both calls
 * fail. All threads are counted. Writes a line per block of code that ran in
 * between: address, bytes, instructions, runs. Unlike CountPlugin.c in
 * test/firmware it needs no function addresses, so it can count programs of other
 * inference engines. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))
typedef uint64_t qemu_plugin_id_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
typedef struct qemu_info_t qemu_info_t;
enum { INLINE_ADD_U64 = 0 };
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t,
                                           void (*)(qemu_plugin_id_t,
                                                    struct qemu_plugin_tb *));
void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb *, int op,
                                              void *counter, uint64_t add);
void qemu_plugin_register_vcpu_syscall_cb(
    qemu_plugin_id_t,
    void (*)(qemu_plugin_id_t, unsigned, int64_t number, uint64_t, uint64_t,
             uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t));
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t,
                                    void (*)(qemu_plugin_id_t, void *), void *);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *,
                                                 size_t);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *);

EXPORT int qemu_plugin_version = 1;

enum { GETPGID = 155, OPEN = 0x1a9071, CLOSE = 0x1a9072 };

struct block {
  uint64_t address, bytes, instructions, runs, before, inside;
  struct block *next;
};
static struct block *blocks;
static const char *out_path;

static void translate(qemu_plugin_id_t id, struct qemu_plugin_tb *tb) {
  (void)id;
  struct block *block = calloc(1, sizeof *block);
  if (!block)
    abort();
  block->address = qemu_plugin_tb_vaddr(tb);
  block->instructions = qemu_plugin_tb_n_insns(tb);
  for (size_t i = 0; i < block->instructions; ++i)
    block->bytes += qemu_plugin_insn_size(qemu_plugin_tb_get_insn(tb, i));
  qemu_plugin_register_vcpu_tb_exec_inline(tb, INLINE_ADD_U64, &block->runs, 1);
  do
    block->next = __atomic_load_n(&blocks, __ATOMIC_ACQUIRE);
  while (!__sync_bool_compare_and_swap(&blocks, block->next, block));
}

static void syscall_begins(qemu_plugin_id_t id, unsigned cpu, int64_t number,
                           uint64_t argument, uint64_t b, uint64_t c,
                           uint64_t d, uint64_t e, uint64_t f, uint64_t g,
                           uint64_t h) {
  (void)id, (void)cpu, (void)b, (void)c, (void)d, (void)e, (void)f, (void)g,
      (void)h;
  if (number != GETPGID || (argument != OPEN && argument != CLOSE))
    return;
  for (struct block *block = blocks; block; block = block->next) {
    if (argument == OPEN)
      block->before = block->runs;
    else
      block->inside += block->runs - block->before;
  }
}

static void write_counts(qemu_plugin_id_t id, void *user) {
  (void)id, (void)user;
  FILE *out = fopen(out_path, "w");
  if (!out)
    abort();
  for (struct block *block = blocks; block; block = block->next)
    if (block->inside)
      fprintf(out, "%llu %llu %llu %llu\n", (unsigned long long)block->address,
              (unsigned long long)block->bytes,
              (unsigned long long)block->instructions,
              (unsigned long long)block->inside);
  fclose(out);
}

EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info,
                               int argc, char **argv) {
  (void)info;
  for (int i = 0; i < argc; ++i)
    if (!strncmp(argv[i], "out=", 4))
      out_path = strdup(argv[i] + 4);
  if (!out_path)
    return 1;
  qemu_plugin_register_vcpu_tb_trans_cb(id, translate);
  qemu_plugin_register_vcpu_syscall_cb(id, syscall_begins);
  qemu_plugin_register_atexit_cb(id, write_counts, NULL);
  return 0;
}
