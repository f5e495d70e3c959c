/// Reads names out of an ELF file: a shared object for x86-64. The file may have any bytes.
#ifndef XGBGPU_PLUGIN_BRIDGE_ELF_FILE_H_
#define XGBGPU_PLUGIN_BRIDGE_ELF_FILE_H_

#include <elf.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace xgbgpu::bridge {

/// A symbol with a name. Its section and type are not told: patchelf, which repairs wheels, leaves nonsense there.
struct ElfName {
  std::string_view name;
  std::uint64_t value;  // the address, where the object would be loaded at 0
  bool is_defined;
  bool is_weak;
};

class ElfFile {
 public:
  /// `bytes` must live as long as the object. `path` is for messages. Throws BridgeError if that is no shared object
  /// for x86-64, or if its tables are not inside of it.
  ElfFile(std::string_view bytes, std::string const& path);

  /// Calls `visit(ElfName)` for the names of .dynsym and then of .symtab.
  template <typename Visit>
  void ForEachName(Visit&& visit) const {
    for (Table const& table : {dynsym_, symtab_}) {
      for (std::size_t i = 0; i < table.size; ++i) {
        ElfName const name = At(table, i);
        if (!name.name.empty()) visit(name);
      }
    }
  }

  /// Calls `visit(ElfName)` for the names of .dynsym.
  template <typename Visit>
  void ForEachDynamicName(Visit&& visit) const {
    for (std::size_t i = 0; i < dynsym_.size; ++i) {
      ElfName const name = At(dynsym_, i);
      if (!name.name.empty()) visit(name);
    }
  }

  /// False if the file was stripped.
  bool has_symtab() const { return symtab_.size != 0; }
  /// The libraries that it needs.
  std::vector<std::string> Needed() const;

 private:
  struct Table {
    std::size_t offset{0};
    std::size_t size{0};       // number of symbols
    std::string_view strings;  // ends with a zero, or is empty
  };

  [[noreturn]] void Refuse(std::string const& found) const;
  /// Returns `size` bytes at `offset`; throws if the file has less.
  std::string_view Part(std::uint64_t offset, std::uint64_t size, char const* what) const;
  Elf64_Shdr Section(std::size_t i) const;
  /// The strings of the section that `section` links to.
  std::string_view Strings(Elf64_Shdr const& section) const;
  Table SymbolTable(std::uint32_t type) const;
  ElfName At(Table const& table, std::size_t i) const;

  std::string_view bytes_;
  std::string path_;
  std::uint64_t section_offset_{0};
  std::size_t sections_{0};
  Table dynsym_;
  Table symtab_;
};

}  // namespace xgbgpu::bridge

#endif  // XGBGPU_PLUGIN_BRIDGE_ELF_FILE_H_
