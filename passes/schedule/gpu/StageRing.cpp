#include "passes/schedule/gpu/StageRing.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::schedule {

Value sharedAt(int64_t alignment, KernelBuilder &b, ArrayRef<int64_t> shape,
               Type type, const Twine &name) {
  Value buffer = b.shared(shape, type, name);
  buffer.getDefiningOp<memref::AllocaOp>().setAlignment(alignment);
  return buffer;
}

Value sharedForCopies(KernelBuilder &b, ArrayRef<int64_t> shape, Type type,
                      const Twine &name) {
  // TMA copies swizzle the 16-byte units of each 128-byte row by address bits
  // that must repeat every 8 rows. Hence tiles are aligned to 8 x 128 bytes.
  return sharedAt(1024, b, shape, type, name);
}

StageRing::StageRing(KernelBuilder &b, int64_t stages, int64_t further)
    : mbarriers(sharedAt(8, b, {2 * stages + further}, b.builder.getI64Type(),
                         "gates")),
      b(b), stages(stages) {}

Expr StageRing::further(int64_t number) const {
  return b.index(2 * stages + number);
}

void StageRing::setUp(Expr thread, int64_t readers, ArrayRef<int64_t> arrivals,
                      bool hasCluster) const {
  b.when(equal(thread, 0.0), [&] {
    auto init = [&](Expr mbarrier, int64_t count) {
      kernel::InitMbarrierOp::create(b.builder, b.loc, mbarriers,
                                     mbarrier.value, count);
    };
    for (int64_t stage = 0; stage < stages; ++stage) {
      init(full(b.index(stage)), 1);
      init(b.index(stages + stage), readers);
    }
    for (auto [number, count] : llvm::enumerate(arrivals))
      init(further(int64_t(number)), count);
    kernel::FenceMbarriersOp::create(b.builder, b.loc);
  });
  if (hasCluster)
    kernel::ClusterBarrierOp::create(b.builder, b.loc);
  else
    b.barrier();
}

void StageRing::await(Expr mbarrier, Expr parity) const {
  kernel::WaitMbarrierOp::create(b.builder, b.loc, mbarriers, mbarrier.value,
                                 parity.value);
}
void StageRing::arrive(Expr mbarrier, Value block) const {
  kernel::ArriveOp::create(b.builder, b.loc, mbarriers, mbarrier.value, block);
}
void StageRing::expect(Expr mbarrier, int64_t bytes) const {
  kernel::ExpectBytesOp::create(b.builder, b.loc, mbarriers, mbarrier.value,
                                bytes);
}

Expr StageRing::stageOf(Expr count) const {
  return named(count % double(stages), "stage");
}
Expr StageRing::parityOf(Expr count) const {
  return named(count / double(stages) % 2.0, "parity");
}

static void setRegisters(KernelBuilder &b, const WarpgroupTile &tile,
                         int64_t count, bool fewer) {
  const Device &device = b.target.device;
  if (tile.registersOfSums(device) > tile.registersAtStart(device))
    kernel::SetRegistersOp::create(b.builder, b.loc, count, fewer);
}
void setRegistersOfFetching(KernelBuilder &b, const WarpgroupTile &tile) {
  setRegisters(b, tile, WarpgroupTile::ofFetching, /*fewer=*/true);
}
void setRegistersOfSums(KernelBuilder &b, const WarpgroupTile &tile) {
  setRegisters(b, tile, tile.registersOfSums(b.target.device), /*fewer=*/false);
}

} // namespace ingot::schedule
