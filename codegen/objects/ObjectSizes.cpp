#include "codegen/objects/ObjectSizes.h"

#include "codegen/objects/Toolchain.h"
#include "codegen/objects/UnwindFrames.h"
#include "targets/TargetDescription.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <cstdlib>
#include <optional>

using namespace llvm;
using namespace llvm::object;

namespace ingot {

/// Returns the plain name of a mangled symbol: `conv` for
/// `_ZN12_GLOBAL__N_14convEPKfPf.constprop.0`.
static std::string plainSymbolName(StringRef symbol) {
  std::string name = symbol.split('.').first.str();
  ItaniumPartialDemangler demangler;
  if (demangler.partialDemangle(name.c_str()) || !demangler.isFunction())
    return name;
  size_t size = 0;
  char *base = demangler.getFunctionBaseName(nullptr, &size);
  if (base)
    name = base;
  std::free(base);
  return name;
}

/// Returns the plain name of a function in a stack usage file, where clang
/// writes symbols and GCC declarations. Returns `conv` for
/// `void {anonymous}::conv(const float*, float*)`.
static std::string plainDeclarationName(StringRef declaration) {
  if (declaration.ends_with("]"))
    declaration = declaration.rsplit(" [").first;
  if (declaration.ends_with(")>"))
    return "operator()";
  declaration.consume_back(" const");
  if (!declaration.ends_with(")"))
    return plainSymbolName(declaration);
  size_t end = declaration.size();
  int depth = 0;
  do {
    --end;
    depth += declaration[end] == ')' ? 1 : declaration[end] == '(' ? -1 : 0;
  } while (depth > 0 && end > 0);
  StringRef name = declaration.take_front(end);
  if (name.ends_with("operator()"))
    return "operator()";
  size_t begin = name.find_last_of(" :*&");
  return name.drop_front(begin == StringRef::npos ? 0 : begin + 1).str();
}

/// Parses the lines of a stack usage file, of the form FILE:LINE[:COLUMN]:NAME
/// <tab> BYTES <tab> KIND.
static StringMap<int64_t> readFrames(StringRef text) {
  StringMap<int64_t> frames;
  SmallVector<StringRef> lines;
  text.split(lines, '\n', -1, /*KeepEmpty=*/false);
  for (StringRef line : lines) {
    SmallVector<StringRef> fields;
    line.split(fields, '\t');
    int64_t bytes;
    if (fields.size() < 2 || fields[1].getAsInteger(10, bytes))
      continue;
    StringRef name = fields[0];
    // Finds the colon before the name. Names may contain colons as well, but
    // always in pairs.
    for (size_t i = 1; i + 1 < name.size(); ++i)
      if (name[i] == ':' && isDigit(name[i - 1]) && name[i + 1] != ':' &&
          !isDigit(name[i + 1])) {
        name = name.drop_front(i + 1);
        break;
      }
    int64_t &frame = frames[plainDeclarationName(name)];
    frame = std::max(frame, bytes);
  }
  return frames;
}

namespace {

/// The call graph of an object, from the relocations in the code of each
/// function.
class CallGraph {
public:
  CallGraph(const ELFObjectFileBase &file, const StringMap<int64_t> &frames,
            const UnwindFrames &unwindFrames)
      : file(file), frames(frames), unwindFrames(unwindFrames) {}

  Error build() {
    for (ELFSymbolRef symbol : file.symbols()) {
      if (symbol.getELFType() != ELF::STT_FUNC || !symbol.getSize())
        continue;
      Expected<section_iterator> section = symbol.getSection();
      Expected<StringRef> name = symbol.getName();
      Expected<uint64_t> value = symbol.getValue();
      if (!section || !name || !value)
        return joinErrors(joinErrors(section.takeError(), name.takeError()),
                          value.takeError());
      if (*section == file.section_end())
        continue;
      uint64_t index = (*section)->getIndex();
      inSection[index].push_back(nodes.size());
      std::string plain = plainSymbolName(*name);
      auto frame = frames.find(plain);
      nodes.push_back({plain,
                       *value,
                       symbol.getSize(),
                       frame != frames.end()
                           ? frame->second
                           : unwindFrames.lookup({index, *value}),
                       {}});
      nodeOf[symbol.getRawDataRefImpl().d.b] = nodes.size() - 1;
    }
    for (SectionRef section : file.sections()) {
      Expected<section_iterator> patched = section.getRelocatedSection();
      if (!patched)
        return patched.takeError();
      if (*patched == file.section_end())
        continue;
      for (RelocationRef relocation : section.relocations())
        if (auto from = nodeAt((*patched)->getIndex(), relocation.getOffset()))
          if (auto to = targetOf(relocation))
            nodes[*from].calls.insert(*to);
    }
    return Error::success();
  }

  void collect(StringMap<ObjectSizes::Function> &functions) {
    for (size_t i = 0; i < nodes.size(); ++i) {
      ObjectSizes::Function &function = functions[nodes[i].name];
      function.code += nodes[i].size;
      function.frame = std::max(function.frame, nodes[i].frame);
      function.stack = std::max(function.stack, depthOf(i));
    }
  }

private:
  struct Node {
    std::string name;
    uint64_t begin, size;
    int64_t frame;
    SmallSetVector<size_t, 4> calls;
    int64_t depth = -1;
    bool visiting = false;
  };

  std::optional<size_t> nodeAt(uint64_t section, uint64_t offset) const {
    for (size_t i : inSection.lookup(section))
      if (offset >= nodes[i].begin && offset < nodes[i].begin + nodes[i].size)
        return i;
    return std::nullopt;
  }

  /// Returns the index of the function that a relocation refers to: by a symbol
  /// or by a section that contains only this function. Returns nullopt if the
  /// relocation refers to anything else.
  std::optional<size_t> targetOf(RelocationRef relocation) const {
    symbol_iterator symbol = relocation.getSymbol();
    if (symbol == file.symbol_end())
      return std::nullopt;
    auto known = nodeOf.find(symbol->getRawDataRefImpl().d.b);
    if (known != nodeOf.end())
      return known->second;
    if (ELFSymbolRef(*symbol).getELFType() != ELF::STT_SECTION)
      return std::nullopt;
    Expected<section_iterator> section = symbol->getSection();
    if (!section) {
      consumeError(section.takeError());
      return std::nullopt;
    }
    auto inside = inSection.find((*section)->getIndex());
    if (inside == inSection.end() || inside->second.size() != 1)
      return std::nullopt;
    return inside->second.front();
  }

  int64_t depthOf(size_t i) {
    Node &node = nodes[i];
    // Generated code is not recursive, but library functions may call each
    // other in a cycle.
    if (node.depth >= 0 || node.visiting)
      return std::max<int64_t>(node.depth, 0);
    node.visiting = true;
    int64_t below = 0;
    for (size_t callee : node.calls)
      below = std::max(below, depthOf(callee));
    node.visiting = false;
    return node.depth = node.frame + below;
  }

  const ELFObjectFileBase &file;
  const StringMap<int64_t> &frames;
  const UnwindFrames &unwindFrames;
  std::vector<Node> nodes;
  DenseMap<uint64_t, SmallVector<size_t>> inSection;
  DenseMap<uint64_t, size_t> nodeOf;
};

} // namespace

Expected<ObjectSizes> readObjectSizes(StringRef object, StringRef stackUsage) {
  auto usage = MemoryBuffer::getFile(stackUsage);
  if (!usage)
    return createFileError(stackUsage, usage.getError());
  auto binary = ObjectFile::createObjectFile(object);
  if (!binary)
    return createFileError(object, binary.takeError());
  auto *file = dyn_cast<ELFObjectFileBase>(binary->getBinary());
  if (!file)
    return createStringError("'" + object + "' is no ELF object");

  ObjectSizes sizes;
  for (ELFSectionRef section : file->sections()) {
    uint64_t flags = section.getFlags();
    if (!(flags & ELF::SHF_ALLOC))
      continue;
    int64_t &kind = section.getType() == ELF::SHT_NOBITS ? sizes.zeroed
                    : flags & ELF::SHF_EXECINSTR         ? sizes.code
                    : flags & ELF::SHF_WRITE             ? sizes.data
                                                         : sizes.constants;
    kind += section.getSize();
  }
  for (const SymbolRef &symbol : file->symbols()) {
    Expected<uint32_t> flags = symbol.getFlags();
    Expected<StringRef> name = symbol.getName();
    if (!flags || !name)
      return joinErrors(flags.takeError(), name.takeError());
    if ((*flags & SymbolRef::SF_Undefined) && !name->empty())
      sizes.undefined.push_back(name->str());
  }
  StringMap<int64_t> frames = readFrames((*usage)->getBuffer());
  Expected<UnwindFrames> unwindFrames = readUnwindFrames(*file);
  if (!unwindFrames)
    return createFileError(object, unwindFrames.takeError());
  CallGraph calls(*file, frames, *unwindFrames);
  if (Error error = calls.build())
    return createFileError(object, std::move(error));
  calls.collect(sizes.functions);
  return sizes;
}

Expected<int64_t> readFrameSum(StringRef stackUsage) {
  auto usage = MemoryBuffer::getFile(stackUsage);
  if (!usage)
    return createFileError(stackUsage, usage.getError());
  int64_t sum = 0;
  for (const auto &frame : readFrames((*usage)->getBuffer()))
    sum += frame.second;
  return sum;
}

ArrayRef<StringRef> measuringFlags() {
  static const StringRef flags[] = {"-fstack-usage", "-ffunction-sections"};
  return flags;
}

Expected<ObjectSizes> measureObjects(const TargetDescription &target,
                                     ArrayRef<std::string> objects,
                                     StringRef stackUsage, StringRef folder) {
  std::vector<std::string> parts = objects.vec();
  if (target.freestanding)
    append_range(parts, std::vector<std::string>{"-lc", "-lgcc"});
  if (parts.size() == 1)
    return readObjectSizes(parts.front(), stackUsage);
  SmallString<128> merged = folder;
  sys::path::append(merged, "measured.o");
  if (Error error = mergeObjects(target, parts, merged))
    return std::move(error);
  return readObjectSizes(merged, stackUsage);
}

} // namespace ingot
