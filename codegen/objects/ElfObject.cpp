// Writes a block of constants as a linkable ELF object: file header, .rodata,
// .symtab, .strtab, .shstrtab, section headers, in this order. The empty
// .note.GNU-stack states that no executable stack is needed.

#include "codegen/objects/ElfObject.h"

#include "codegen/files/Weights.h"
#include "targets/TargetDescription.h"

#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Support/EndianStream.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace ingot {

namespace {
/// The alignment of weights, which the object has to keep.
constexpr uint64_t kDataAlign = kWeightAlign;

struct Section {
  uint32_t name, type;
  uint64_t flags, offset, size;
  uint32_t link, info;
  uint64_t align, entrySize;
};

/// Writes the little-endian fields of ELF structures; fields as wide as an
/// address have 4 or 8 bytes.
class ElfWriter {
public:
  ElfWriter(raw_ostream &os, bool is64Bit)
      : out(os, endianness::little), is64Bit(is64Bit) {}
  void half(uint16_t value) { out.write(value); }
  void word(uint32_t value) { out.write(value); }
  void address(uint64_t value) {
    if (is64Bit)
      out.write(value);
    else
      out.write(static_cast<uint32_t>(value));
  }
  void byte(uint8_t value) { out.write(value); }

private:
  support::endian::Writer out;
  bool is64Bit;
};
} // namespace

static void writeFileHeader(ElfWriter &out, const ElfIdentity &elf,
                            uint64_t sectionHeaders, unsigned sections) {
  for (uint8_t byte :
       {0x7f, int('E'), int('L'), int('F'),
        int(elf.is64Bit ? ELF::ELFCLASS64 : ELF::ELFCLASS32),
        int(ELF::ELFDATA2LSB), int(ELF::EV_CURRENT), 0, 0, 0, 0, 0, 0, 0, 0, 0})
    out.byte(byte);
  out.half(ELF::ET_REL);
  out.half(elf.machine);
  out.word(ELF::EV_CURRENT);
  out.address(0); // no entry point
  out.address(0); // no program headers
  out.address(sectionHeaders);
  out.word(elf.flags);
  out.half(elf.is64Bit ? 64 : 52);
  out.half(0);
  out.half(0);
  out.half(elf.is64Bit ? 64 : 40);
  out.half(sections);
  out.half(sections - 1); // index of the section of names, which is the last
}

static void writeSymbol(ElfWriter &out, bool is64Bit, uint32_t name,
                        uint8_t info, uint16_t section, uint64_t size) {
  uint8_t other = name ? ELF::STV_HIDDEN : ELF::STV_DEFAULT;
  out.word(name);
  if (is64Bit) {
    out.byte(info);
    out.byte(other);
    out.half(section);
    out.address(0);
    out.address(size);
  } else {
    out.address(0);
    out.address(size);
    out.byte(info);
    out.byte(other);
    out.half(section);
  }
}

void writeDataObject(StringRef symbol, int64_t bytes, const ElfIdentity &elf,
                     raw_ostream &os,
                     function_ref<void(raw_ostream &)> payload) {
  static constexpr char sectionNames[] =
      "\0.rodata\0.note.GNU-stack\0.symtab\0.strtab\0.shstrtab";
  uint64_t symbolBytes = elf.is64Bit ? 24 : 16;
  uint64_t symtab = alignTo(kDataAlign + bytes, 8);
  uint64_t strtab = symtab + 2 * symbolBytes;
  uint64_t shstrtab = strtab + symbol.size() + 2;
  uint64_t headers = alignTo(shstrtab + sizeof sectionNames, 8);
  const Section sections[] = {
      {0, ELF::SHT_NULL, 0, 0, 0, 0, 0, 0, 0},
      {1, ELF::SHT_PROGBITS, ELF::SHF_ALLOC, kDataAlign, uint64_t(bytes), 0, 0,
       kDataAlign, 0},
      {9, ELF::SHT_PROGBITS, 0, symtab, 0, 0, 0, 1, 0},
      {25, ELF::SHT_SYMTAB, 0, symtab, 2 * symbolBytes, 4, 1, 8, symbolBytes},
      {33, ELF::SHT_STRTAB, 0, strtab, symbol.size() + 2, 0, 0, 1, 0},
      {41, ELF::SHT_STRTAB, 0, shstrtab, sizeof sectionNames, 0, 0, 1, 0},
  };

  ElfWriter out(os, elf.is64Bit);
  writeFileHeader(out, elf, headers, std::size(sections));
  os.write_zeros(kDataAlign - (elf.is64Bit ? 64 : 52));
  payload(os);
  os.write_zeros(symtab - kDataAlign - bytes);
  writeSymbol(out, elf.is64Bit, 0, 0, 0, 0);
  writeSymbol(out, elf.is64Bit, 1, ELF::STB_GLOBAL << 4 | ELF::STT_OBJECT, 1,
              bytes);
  os << '\0' << symbol << '\0';
  os.write(sectionNames, sizeof sectionNames);
  os.write_zeros(headers - shstrtab - sizeof sectionNames);
  for (const Section &section : sections) {
    out.word(section.name);
    out.word(section.type);
    out.address(section.flags);
    out.address(0);
    out.address(section.offset);
    out.address(section.size);
    out.word(section.link);
    out.word(section.info);
    out.address(section.align);
    out.address(section.entrySize);
  }
}

} // namespace ingot
