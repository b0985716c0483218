#include "codegen/objects/UnwindFrames.h"

#include "llvm/DebugInfo/DWARF/DWARFContext.h"
#include "llvm/DebugInfo/DWARF/DWARFDebugFrame.h"
#include "llvm/Support/Endian.h"

using namespace llvm;
using namespace llvm::object;

namespace ingot {

namespace {
using Place = std::pair<uint64_t, uint64_t>; // section, offset
} // namespace

/// Returns the addresses to which the relocations in `section` refer, by the
/// offset of the relocated word.
static Expected<DenseMap<uint64_t, Place>>
readPointers(const ELFObjectFileBase &file, const SectionRef &section) {
  DenseMap<uint64_t, Place> pointers;
  Expected<StringRef> contents = section.getContents();
  if (!contents)
    return contents.takeError();
  for (SectionRef patches : file.sections()) {
    Expected<section_iterator> patched = patches.getRelocatedSection();
    if (!patched)
      return patched.takeError();
    if (*patched == file.section_end() || **patched != section)
      continue;
    for (ELFRelocationRef relocation : patches.relocations()) {
      uint64_t offset = relocation.getOffset();
      symbol_iterator symbol = relocation.getSymbol();
      if (symbol == file.symbol_end() || offset + 4 > contents->size())
        continue;
      Expected<section_iterator> to = symbol->getSection();
      Expected<uint64_t> value = symbol->getValue();
      if (!to || !value)
        return joinErrors(to.takeError(), value.takeError());
      if (*to == file.section_end())
        continue;
      // The addend of the target address is in the relocation or, in some
      // formats, in the relocated word itself.
      Expected<int64_t> added = relocation.getAddend();
      if (!added) {
        consumeError(added.takeError());
        added = support::endian::read32(
            contents->data() + offset,
            file.isLittleEndian() ? endianness::little : endianness::big);
      }
      pointers[offset] = {(*to)->getIndex(), *value + *added};
    }
  }
  return pointers;
}

Expected<UnwindFrames> readUnwindFrames(const ELFObjectFileBase &file) {
  UnwindFrames frames;
  auto section = find_if(file.sections(), [](const SectionRef &section) {
    Expected<StringRef> name = section.getName();
    if (!name)
      consumeError(name.takeError());
    return name && *name == ".debug_frame";
  });
  if (section == file.section_end())
    return frames;
  auto pointers = readPointers(file, *section);
  if (!pointers)
    return pointers.takeError();
  std::unique_ptr<DWARFContext> context = DWARFContext::create(file);
  Expected<const DWARFDebugFrame *> table = context->getDebugFrame();
  if (!table)
    return table.takeError();
  for (const dwarf::FrameEntry &entry : (*table)->entries()) {
    auto *function = dyn_cast<dwarf::FDE>(&entry);
    if (!function)
      continue;
    // In an entry for a function (FDE), the address of the function follows the
    // length and the reference to the CIE, each of 4 bytes.
    auto begin = pointers->find(function->getOffset() + 8);
    if (begin == pointers->end())
      continue;
    Expected<dwarf::UnwindTable> rows = dwarf::createUnwindTable(function);
    if (!rows)
      return rows.takeError();
    int64_t &frame = frames[begin->second];
    for (const dwarf::UnwindRow &row : *rows) {
      const dwarf::UnwindLocation &caller = row.getCFAValue();
      if (caller.getLocation() == dwarf::UnwindLocation::RegPlusOffset)
        frame = std::max<int64_t>(frame, caller.getOffset());
    }
  }
  return frames;
}

} // namespace ingot
