// Writes a shared object of absolute symbols.
#include "bridge/absolute_symbols.h"

#include <elf.h>

#include <algorithm>
#include <vector>

namespace xgbgpu::bridge {
namespace {

/// The hash of names in DT_HASH. From  System V Application Binary Interface, "Hash Table"
std::uint32_t SysvHash(std::string const& name) {
  std::uint32_t hash = 0;
  for (char const c : name) {
    hash = (hash << 4) + static_cast<unsigned char>(c);
    hash = (hash ^ (hash & 0xf0000000U) >> 24) & 0x0fffffffU;
  }
  return hash;
}

/// Appends an object's bytes.
template <typename T>
void Append(std::string* bytes, T const& object) {
  bytes->append(reinterpret_cast<char const*>(&object), sizeof(object));
}

Elf64_Phdr Segment(std::uint32_t type, std::uint64_t offset, std::uint64_t size, std::uint64_t align) {
  Elf64_Phdr segment{};
  segment.p_type = type;
  segment.p_flags = PF_R | PF_W;  // the dynamic linker of old C libraries writes into the dynamic section
  segment.p_offset = segment.p_vaddr = segment.p_paddr = offset;
  segment.p_filesz = segment.p_memsz = size;
  segment.p_align = align;
  return segment;
}

Elf64_Ehdr Header(std::size_t segments) {
  Elf64_Ehdr header{};
  std::copy_n(ELFMAG, SELFMAG, header.e_ident);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = ET_DYN;
  header.e_machine = EM_X86_64;
  header.e_version = EV_CURRENT;
  header.e_phoff = header.e_ehsize = sizeof(Elf64_Ehdr);
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_phnum = static_cast<Elf64_Half>(segments);
  header.e_shentsize = sizeof(Elf64_Shdr);
  return header;
}

}  // namespace

std::string AbsoluteSymbols(std::string const& soname, std::map<std::string, std::uint64_t> const& addresses) {
  std::string strings(1, '\0');
  strings += soname + '\0';
  std::string symbols(sizeof(Elf64_Sym), '\0');
  auto const buckets = static_cast<std::uint32_t>(addresses.size() / 2 + 1);
  std::vector<std::uint32_t> hash(2 + buckets);  // DT_HASH: both numbers, heads of the chains, then the chains
  hash[0] = buckets;
  hash[1] = static_cast<std::uint32_t>(addresses.size() + 1);
  hash.push_back(0);
  for (auto const& [name, address] : addresses) {
    Elf64_Sym symbol{};
    symbol.st_name = static_cast<Elf64_Word>(strings.size());
    symbol.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_NOTYPE);
    symbol.st_shndx = SHN_ABS;
    symbol.st_value = address;
    std::uint32_t& head = hash[2 + SysvHash(name) % buckets];
    std::uint32_t const next = head;
    head = static_cast<std::uint32_t>(symbols.size() / sizeof(Elf64_Sym));
    hash.push_back(next);
    Append(&symbols, symbol);
    strings += name + '\0';
  }
  strings.resize((strings.size() + 7) / 8 * 8);
  if (hash.size() % 2 != 0) hash.push_back(0);

  // Header and segments, dynamic section, symbols, hash, strings: multiples of 8 bytes each.
  constexpr std::size_t kSegments = 3;
  std::uint64_t const dynamic_at = sizeof(Elf64_Ehdr) + kSegments * sizeof(Elf64_Phdr);
  constexpr std::uint64_t kDynamicSize = 7 * sizeof(Elf64_Dyn);
  std::uint64_t const symbols_at = dynamic_at + kDynamicSize;
  std::uint64_t const hash_at = symbols_at + symbols.size();
  std::uint64_t const strings_at = hash_at + hash.size() * sizeof(hash[0]);
  std::uint64_t const size = strings_at + strings.size();

  std::string bytes;
  bytes.reserve(size);
  Append(&bytes, Header(kSegments));
  Append(&bytes, Segment(PT_LOAD, 0, size, 0x1000));
  Append(&bytes, Segment(PT_DYNAMIC, dynamic_at, kDynamicSize, 8));
  Append(&bytes, Segment(PT_GNU_STACK, 0, 0, 16));  // without it the stacks of the process become executable
  std::uint64_t const dynamic[][2] = {{DT_SONAME, 1},
                                      {DT_HASH, hash_at},
                                      {DT_STRTAB, strings_at},
                                      {DT_SYMTAB, symbols_at},
                                      {DT_STRSZ, strings.size()},
                                      {DT_SYMENT, sizeof(Elf64_Sym)},
                                      {DT_NULL, 0}};
  static_assert(sizeof(dynamic) == kDynamicSize);
  Append(&bytes, dynamic);
  bytes += symbols;
  bytes.append(reinterpret_cast<char const*>(hash.data()), hash.size() * sizeof(hash[0]));
  return bytes + strings;
}

}  // namespace xgbgpu::bridge
