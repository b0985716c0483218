// Prints operations of warpgroups, and copies of whole tiles: each is a call of
// the function that the target's table of intrinsics names.

#include "codegen/kernel/KernelPrinter.h"

#include "dialects/kernel/KernelModule.h"
#include "dialects/kernel/ValueNames.h"
#include "dialects/kernel/Warpgroup.h"

using namespace mlir;

namespace ingot {

/// Prints the buffers of a kernel that exceeds the static limit of shared
/// memory: one struct in dynamic shared memory, whose size the launch requests.
void KernelPrinter::printShared() {
  auto function = dyn_cast<kernel::FuncOp>(*kernel);
  if (!function || kernel::sharedBytes(function) <=
                       context.target.device.declaredSharedBytes)
    return;
  std::string type = names.unique("Shared"), object = names.unique("shared");
  out.open("struct " + type + " {");
  NameScope members;
  function.walk([&](memref::AllocaOp local) {
    MemRefType memref = local.getType();
    if (!memref.getMemorySpace())
      return;
    std::string name = members.unique(nameHint(local));
    out.line("alignas(" +
             Twine(local.getAlignment().value_or(alignmentOfLocals())) + ") " +
             storageTypeName(memref.getElementType()) + " " + name + "[" +
             Twine(memref.getNumElements()) + "];");
    variables[local] = {object + "." + name, Sign::Signed};
  });
  out.close("};");
  out.line(type + " &" + object + " = device::shared_memory<" + type + ">();");
}

/// Returns the address of an mbarrier, such as "&mbarriers[stage]".
std::string KernelPrinter::mbarrierText(Value mbarriers, Value mbarrier) {
  return "&" + address(mbarriers, mbarrier);
}

void KernelPrinter::printInitMbarrier(kernel::InitMbarrierOp init) {
  out.line(calledBy(init->getName().getStringRef()) + "(" +
           mbarrierText(init.getMbarriers(), init.getMbarrier()) + ", " +
           Twine(init.getArrivals()) + ");");
}

void KernelPrinter::printExpectBytes(kernel::ExpectBytesOp expect) {
  out.line(calledBy(expect->getName().getStringRef()) + "(" +
           mbarrierText(expect.getMbarriers(), expect.getMbarrier()) + ", " +
           Twine(expect.getBytes()) + ");");
}

void KernelPrinter::printArrive(kernel::ArriveOp arrive) {
  std::string text = mbarrierText(arrive.getMbarriers(), arrive.getMbarrier());
  if (Value block = arrive.getBlock())
    text += ", " + integer(block, Sign::Signed).text;
  out.line(calledBy(kernel::warpgroupIntrinsic(arrive)) + "(" + text + ");");
}

void KernelPrinter::printClusterBarrier(kernel::ClusterBarrierOp barrier) {
  out.line(calledBy(kernel::warpgroupIntrinsic(barrier)) + ";");
}

void KernelPrinter::printSend(kernel::SendOp send) {
  std::string text = "(&" + address(send.getTo(), send.getToIndices()) + ", " +
                     mbarrierText(send.getMbarriers(), send.getMbarrier()) +
                     ", " + integer(send.getBlock(), Sign::Signed).text;
  for (Value part : send.getValues())
    text += ", " + value(part).text;
  out.line(calledBy(send->getName().getStringRef()) + text + ");");
}

void KernelPrinter::printWaitMbarrier(kernel::WaitMbarrierOp await) {
  out.line(calledBy(await->getName().getStringRef()) + "(" +
           mbarrierText(await.getMbarriers(), await.getMbarrier()) + ", " +
           integer(await.getParity(), Sign::Signed).text + ");");
}

/// Prints the copy of a tile from a tensor map. The coordinates of the tile are
/// printed in the order from the innermost to the outermost axis.
void KernelPrinter::printCopyTile(kernel::CopyTileOp copy) {
  std::string text = "(&" + address(copy.getTo(), copy.getToIndices()) + ", " +
                     variables.at(copy.getTiles()).name + ", " +
                     mbarrierText(copy.getMbarriers(), copy.getMbarrier());
  if (Value blocks = copy.getBlocks())
    text += ", " + integer(blocks, Sign::Signed).text;
  for (ValueRange places : {copy.getAt(), copy.getShift()})
    for (Value place : llvm::reverse(places))
      text += ", " + integer(place, Sign::Signed).text;
  out.line(calledBy(kernel::warpgroupIntrinsic(copy)) + text + ");");
}

void KernelPrinter::printTileProduct(kernel::TileProductOp product) {
  int64_t columns = 2 * product.getSums().getType().getNumElements();
  std::string distances;
  if (product.isTurned())
    distances = "<" + std::to_string(product.getLeftDistance()) + ", " +
                std::to_string(product.getRightDistance()) + ">";
  out.line(calledBy(kernel::warpgroupIntrinsic(product)) + "_" +
           Twine(columns) + distances + "(" +
           variables.at(product.getSums()).name + ", &" +
           address(product.getLeft(), product.getLeftIndices()) + ", &" +
           address(product.getRight(), product.getRightIndices()) + ");");
}

std::string KernelPrinter::sumsText(ValueRange sums) {
  std::string text;
  for (Value array : sums)
    text += (text.empty() ? "" : ", ") + variables.at(array).name;
  return "(" + text + ");";
}

void KernelPrinter::printBeginProducts(kernel::BeginProductsOp begin) {
  out.line(calledBy(begin->getName().getStringRef()) +
           sumsText(begin.getSums()));
}

void KernelPrinter::printAwaitProducts(kernel::AwaitProductsOp await) {
  out.line(calledBy(await->getName().getStringRef()) + "<" +
           Twine(await.getNewest()) + ">" + sumsText(await.getSums()));
}

void KernelPrinter::printSetRegisters(kernel::SetRegistersOp set) {
  out.line(calledBy(kernel::warpgroupIntrinsic(set)) + "<" +
           Twine(set.getCount()) + ">();");
}

} // namespace ingot
