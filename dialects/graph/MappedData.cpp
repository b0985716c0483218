#include "dialects/graph/MappedData.h"

#include "dialects/graph/GraphDialect.h"
#include "llvm/Support/Alignment.h"
#include "llvm/Support/Process.h"

#include <sys/mman.h>

using namespace mlir;

namespace ingot::graph {

MappedData &MappedData::of(MLIRContext *context) {
  return *context->getOrLoadDialect<GraphDialect>()
              ->getRegisteredInterface<MappedData>();
}

void MappedData::add(std::weak_ptr<llvm::MemoryBuffer> file) {
  files.push_back(std::move(file));
}

void MappedData::releasePages() const {
  // MemoryBuffer::dontNeedIfMmap has no effect with glibc, whose posix_madvise
  // ignores this advice.
  const llvm::Align page(llvm::sys::Process::getPageSizeEstimate());
  for (const auto &file : files) {
    std::shared_ptr<llvm::MemoryBuffer> buffer = file.lock();
    if (!buffer ||
        buffer->getBufferKind() != llvm::MemoryBuffer::MemoryBuffer_MMap)
      continue;
    auto start = reinterpret_cast<uintptr_t>(buffer->getBufferStart()),
         first = llvm::alignDown(start, page.value());
    madvise(reinterpret_cast<void *>(first),
            start + buffer->getBufferSize() - first, MADV_DONTNEED);
  }
}

} // namespace ingot::graph
