// Reads names out of an ELF file. Every offset is compared with the file's size before anything is read there.
#include "bridge/elf_file.h"

#include <cstring>

#include "base/quoted.h"
#include "bridge/error.h"

namespace xgbgpu::bridge {
namespace {

template <typename T>
T Read(std::string_view bytes) {
  T value;
  std::memcpy(&value, bytes.data(), sizeof(value));
  return value;
}

/// The text at `offset` of strings that end with a zero; empty if there is none.
std::string_view TextAt(std::string_view strings, std::uint64_t offset) {
  return offset < strings.size() ? std::string_view{strings.data() + offset} : std::string_view{};
}

}  // namespace

ElfFile::ElfFile(std::string_view bytes, std::string const& path) : bytes_{bytes}, path_{path} {
  auto const header = Read<Elf64_Ehdr>(Part(0, sizeof(Elf64_Ehdr), "header"));
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) Refuse("no ELF file");
  bool const is_x86_64 =
      header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_ident[EI_DATA] == ELFDATA2LSB && header.e_machine == EM_X86_64;
  if (!is_x86_64) {
    Refuse("an ELF file for machine " + std::to_string(header.e_machine) + " of class " +
           std::to_string(header.e_ident[EI_CLASS]));
  }
  if (header.e_type != ET_DYN) Refuse("an ELF file of type " + std::to_string(header.e_type));
  if (header.e_shnum == 0) return;  // sections were cut off, and with them .symtab
  if (header.e_shentsize != sizeof(Elf64_Shdr)) {
    Refuse("an ELF file with section headers of " + std::to_string(header.e_shentsize) + " bytes");
  }
  Part(header.e_shoff, std::uint64_t{header.e_shnum} * sizeof(Elf64_Shdr), "table of sections");
  section_offset_ = header.e_shoff;
  sections_ = header.e_shnum;
  dynsym_ = SymbolTable(SHT_DYNSYM);
  symtab_ = SymbolTable(SHT_SYMTAB);
}

void ElfFile::Refuse(std::string const& found) const {
  throw BridgeError{QuotedName(path_) + " is " + found + "; allowed: a shared object for x86-64, complete"};
}

std::string_view ElfFile::Part(std::uint64_t offset, std::uint64_t size, char const* what) const {
  if (offset > bytes_.size() || size > bytes_.size() - offset) {
    Refuse("a file of " + std::to_string(bytes_.size()) + " bytes whose " + what + " would end behind them");
  }
  return bytes_.substr(offset, size);
}

Elf64_Shdr ElfFile::Section(std::size_t i) const {
  return Read<Elf64_Shdr>(bytes_.substr(section_offset_ + i * sizeof(Elf64_Shdr)));
}

std::string_view ElfFile::Strings(Elf64_Shdr const& section) const {
  if (section.sh_link >= sections_) Refuse("an ELF file whose names are in no section");
  Elf64_Shdr const strings = Section(section.sh_link);
  std::string_view const text = Part(strings.sh_offset, strings.sh_size, "names");
  return text.substr(0, text.rfind('\0') + 1);  // npos + 1 is 0
}

ElfFile::Table ElfFile::SymbolTable(std::uint32_t type) const {
  for (std::size_t i = 0; i < sections_; ++i) {
    Elf64_Shdr const section = Section(i);
    if (section.sh_type != type) continue;
    Part(section.sh_offset, section.sh_size, "table of symbols");
    return {section.sh_offset, section.sh_size / sizeof(Elf64_Sym), Strings(section)};
  }
  return {};
}

ElfName ElfFile::At(Table const& table, std::size_t i) const {
  auto const symbol = Read<Elf64_Sym>(bytes_.substr(table.offset + i * sizeof(Elf64_Sym)));
  if (ELF64_ST_TYPE(symbol.st_info) == STT_TLS) return {};  // an offset, and no address
  return {TextAt(table.strings, symbol.st_name), symbol.st_value, symbol.st_shndx != SHN_UNDEF,
          ELF64_ST_BIND(symbol.st_info) == STB_WEAK};
}

std::vector<std::string> ElfFile::Needed() const {
  std::vector<std::string> needed;
  for (std::size_t i = 0; i < sections_; ++i) {
    Elf64_Shdr const section = Section(i);
    if (section.sh_type != SHT_DYNAMIC) continue;
    std::string_view entries = Part(section.sh_offset, section.sh_size, "dynamic section");
    std::string_view const strings = Strings(section);
    for (; entries.size() >= sizeof(Elf64_Dyn); entries.remove_prefix(sizeof(Elf64_Dyn))) {
      auto const entry = Read<Elf64_Dyn>(entries);
      if (entry.d_tag == DT_NULL) break;
      if (entry.d_tag == DT_NEEDED) needed.emplace_back(TextAt(strings, entry.d_un.d_val));
    }
  }
  return needed;
}

}  // namespace xgbgpu::bridge
