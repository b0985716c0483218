/* CountPlugin.c - how often each block of code ran, and how often it branched.
 *
 * A QEMU plugin: -plugin libcount.so,begin=ADDRESS,end=ADDRESS,out=FILE counts
 * between the first runs of the code at the two addresses and writes a line per
 * block: address, bytes, instructions, runs, how often something other than the
 * code behind it came next. The interface is declared here, since not every
 * installation of QEMU 7.2 comes with its header. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

typedef uint64_t qemu_plugin_id_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
typedef struct qemu_info_t qemu_info_t;
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t,
                                           void (*)(qemu_plugin_id_t,
                                                    struct qemu_plugin_tb *));
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *,
                                          void (*)(unsigned, void *), int flags,
                                          void *user);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t,
                                    void (*)(qemu_plugin_id_t, void *),
                                    void *user);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *,
                                                 size_t);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *);

EXPORT int qemu_plugin_version = 1;

/* The smallest pages of a microcontroller. */
#define PAGE_BYTES 1024

struct block {
  uint64_t begin, end, instructions, runs, taken;
  struct block *next;
};

static struct block *blocks, *last;
static uint64_t begin_address, end_address;
static bool counting;
static const char *out_path;

static void run_block(unsigned cpu, void *user) {
  (void)cpu;
  struct block *block = user;
  if (block->begin == begin_address)
    counting = true;
  if (block->begin == end_address)
    counting = false;
  /* Before an instruction that crosses a page a block ends; QEMU looks at its
     first half and gives the plugin these two bytes as well. */
  if (last && last->end == block->begin + 2 && last->end % PAGE_BYTES == 0)
    last->end = block->begin;
  if (last && last->end != block->begin)
    ++last->taken;
  last = counting ? block : NULL;
  if (counting)
    ++block->runs;
}

static void translate(qemu_plugin_id_t id, struct qemu_plugin_tb *tb) {
  (void)id;
  struct block *block = calloc(1, sizeof *block);
  if (!block)
    abort();
  block->begin = block->end = qemu_plugin_tb_vaddr(tb);
  block->instructions = qemu_plugin_tb_n_insns(tb);
  for (size_t i = 0; i < block->instructions; ++i)
    block->end += qemu_plugin_insn_size(qemu_plugin_tb_get_insn(tb, i));
  block->next = blocks;
  blocks = block;
  qemu_plugin_register_vcpu_tb_exec_cb(tb, run_block, 0, block);
}

static void write_counts(qemu_plugin_id_t id, void *user) {
  (void)id;
  (void)user;
  FILE *out = fopen(out_path, "w");
  if (!out)
    abort();
  for (struct block *b = blocks; b; b = b->next)
    if (b->runs)
      fprintf(out, "%llu %llu %llu %llu %llu\n", (unsigned long long)b->begin,
              (unsigned long long)(b->end - b->begin),
              (unsigned long long)b->instructions, (unsigned long long)b->runs,
              (unsigned long long)b->taken);
  fclose(out);
}

EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info,
                               int argc, char **argv) {
  (void)info;
  for (int i = 0; i < argc; ++i) {
    if (!strncmp(argv[i], "begin=", 6))
      begin_address = strtoull(argv[i] + 6, NULL, 0);
    else if (!strncmp(argv[i], "end=", 4))
      end_address = strtoull(argv[i] + 4, NULL, 0);
    else if (!strncmp(argv[i], "out=", 4))
      out_path = strdup(argv[i] + 4);
  }
  if (!out_path)
    return 1;
  qemu_plugin_register_vcpu_tb_trans_cb(id, translate);
  qemu_plugin_register_atexit_cb(id, write_counts, NULL);
  return 0;
}
