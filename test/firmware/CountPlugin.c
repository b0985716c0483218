/* CountPlugin.c - counts how often each block of code runs and branches.
 *
 * A QEMU plugin: -plugin libcount.so,begin=ADDRESS,end=ADDRESS,out=FILE counts
 * from the first execution of the code at address begin to the first execution of
 * the code at end, and writes a line per block: address, bytes, instructions,
 * runs, and how often execution did not continue with the code after the block.
 * With intervals=FILE it writes a line for each time from begin to end: the
 * number of instructions.
 * With loads=FILE,range=BEGIN-END,range=... it also writes how often each
 * instruction reads from each range: address, a count per range, and a count of
 * the reads outside of all ranges.
 * QEMU's interface is declared here, since not every installation of QEMU 7.2 has
 * its header. */
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
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *,
                                      void (*)(unsigned, uint32_t info,
                                               uint64_t address, void *),
                                      int flags, int reads, void *user);

EXPORT int qemu_plugin_version = 1;

/* The smallest page size that QEMU uses for microcontrollers. */
#define PAGE_BYTES 1024

struct block {
  uint64_t begin, end, instructions, runs, taken;
  struct block *next;
};

#define MOST_RANGES 16
enum { READS = 1 };

/* How often the instruction at `address` reads from each address range of the
 * option `range`; the last count is that of reads outside of all ranges. */
struct loads {
  uint64_t address, counts[MOST_RANGES + 1];
  struct loads *next;
};

static struct {
  uint64_t begin, end;
} ranges[MOST_RANGES];
static unsigned range_count;
static struct loads *all_loads;
static const char *loads_path;
static struct block *blocks, *last;
static uint64_t begin_address, end_address;
static bool counting;
static const char *out_path;
static FILE *intervals;
static uint64_t interval;

static void run_block(unsigned cpu, void *user) {
  (void)cpu;
  struct block *block = user;
  if (block->begin == begin_address)
    counting = true;
  if (block->begin == end_address) {
    if (counting && intervals)
      fprintf(intervals, "%llu\n", (unsigned long long)interval);
    interval = 0;
    counting = false;
  }
  /* A block ends before an instruction that crosses a page, but QEMU reads its
     first half and reports these two bytes to the plugin as well. */
  if (last && last->end == block->begin + 2 && last->end % PAGE_BYTES == 0)
    last->end = block->begin;
  if (last && last->end != block->begin)
    ++last->taken;
  last = counting ? block : NULL;
  if (counting) {
    ++block->runs;
    interval += block->instructions;
  }
}

static void count_load(unsigned cpu, uint32_t info, uint64_t address,
                       void *user) {
  (void)cpu;
  (void)info;
  if (!counting)
    return;
  unsigned range = 0;
  while (range < range_count &&
         (address < ranges[range].begin || address >= ranges[range].end))
    ++range;
  ++((struct loads *)user)->counts[range];
}

static void watch_loads(struct qemu_plugin_insn *instruction) {
  struct loads *loads = calloc(1, sizeof *loads);
  if (!loads)
    abort();
  loads->address = qemu_plugin_insn_vaddr(instruction);
  loads->next = all_loads;
  all_loads = loads;
  qemu_plugin_register_vcpu_mem_cb(instruction, count_load, 0, READS, loads);
}

static void translate(qemu_plugin_id_t id, struct qemu_plugin_tb *tb) {
  (void)id;
  struct block *block = calloc(1, sizeof *block);
  if (!block)
    abort();
  block->begin = block->end = qemu_plugin_tb_vaddr(tb);
  block->instructions = qemu_plugin_tb_n_insns(tb);
  for (size_t i = 0; i < block->instructions; ++i) {
    block->end += qemu_plugin_insn_size(qemu_plugin_tb_get_insn(tb, i));
    if (loads_path)
      watch_loads(qemu_plugin_tb_get_insn(tb, i));
  }
  block->next = blocks;
  blocks = block;
  qemu_plugin_register_vcpu_tb_exec_cb(tb, run_block, 0, block);
}

static void write_counts(qemu_plugin_id_t id, void *user) {
  (void)id;
  (void)user;
  if (intervals)
    fclose(intervals);
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
  if (!loads_path)
    return;
  if (!(out = fopen(loads_path, "w")))
    abort();
  for (struct loads *l = all_loads; l; l = l->next) {
    uint64_t sum = 0;
    for (unsigned i = 0; i <= range_count; ++i)
      sum += l->counts[i];
    if (!sum)
      continue;
    fprintf(out, "%llu", (unsigned long long)l->address);
    for (unsigned i = 0; i <= range_count; ++i)
      fprintf(out, " %llu", (unsigned long long)l->counts[i]);
    fputc('\n', out);
  }
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
    else if (!strncmp(argv[i], "intervals=", 10))
      intervals = fopen(argv[i] + 10, "w");
    else if (!strncmp(argv[i], "loads=", 6))
      loads_path = strdup(argv[i] + 6);
    else if (!strncmp(argv[i], "range=", 6) && range_count < MOST_RANGES) {
      char *rest;
      ranges[range_count].begin = strtoull(argv[i] + 6, &rest, 0);
      ranges[range_count++].end = strtoull(rest + 1, NULL, 0);
    }
  }
  if (!out_path)
    return 1;
  qemu_plugin_register_vcpu_tb_trans_cb(id, translate);
  qemu_plugin_register_atexit_cb(id, write_counts, NULL);
  return 0;
}
