// Tests the reader of ELF files, with whole files and with damaged ones.
#include "bridge/elf_file.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <string>

#include "bridge/mapped_file.h"
#include "fakes.h"

namespace xgbgpu::bridge {
namespace {

std::string BytesOf(std::string const& name) { return std::string{MappedFile{Fake(name)}.bytes()}; }

std::map<std::string, ElfName> NamesOf(std::string_view bytes) {
  std::map<std::string, ElfName> names;
  ElfFile{bytes, "file"}.ForEachName([&](ElfName const& name) { names.emplace(name.name, name); });
  return names;
}

/// The bytes with an object of the header or of a section changed.
template <typename T>
std::string Changed(std::string bytes, std::size_t offset, T value) {
  std::memcpy(bytes.data() + offset, &value, sizeof(value));
  return bytes;
}

/// Where the section header of this type is.
std::size_t SectionAt(std::string const& bytes, std::uint32_t type) {
  Elf64_Ehdr header;
  std::memcpy(&header, bytes.data(), sizeof(header));
  for (std::size_t i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr section;
    std::memcpy(&section, bytes.data() + header.e_shoff + i * sizeof(section), sizeof(section));
    if (section.sh_type == type) return header.e_shoff + i * sizeof(section);
  }
  return 0;
}

std::string Refusal(std::string const& bytes) {
  return ErrorOf([&] { NamesOf(bytes); });
}

TEST(ElfFile, ReadsNamesThatAreHiddenAndValues) {
  std::string const bytes = BytesOf("xgboost");
  auto const names = NamesOf(bytes);
  auto const hidden = names.find("_ZN7xgboost7BoosterD0Ev");
  ASSERT_NE(hidden, names.end());
  EXPECT_TRUE(hidden->second.is_defined);

  DlHandle const loaded = Open(Fake("xgboost"));
  auto const address = [&](char const* name) { return reinterpret_cast<std::uintptr_t>(dlsym(loaded.get(), name)); };
  EXPECT_EQ(names.at("XGBGetLastError").value - names.at("XGBoostVersion").value,
            address("XGBGetLastError") - address("XGBoostVersion"));
  EXPECT_TRUE(ElfFile(bytes, "file").has_symtab());
}

TEST(ElfFile, LeavesOutNamesOfThreads) {
  auto const names = NamesOf(BytesOf("xgboost"));
  EXPECT_EQ(names.count("_ZN7xgboost5callsE"), 0u);
}

TEST(ElfFile, SeesWhatIsUndefinedAndNeeded) {
  std::string const bytes = BytesOf("xgboost");
  bool is_defined = true;
  ElfFile const file{bytes, "file"};
  file.ForEachDynamicName([&](ElfName const& name) {
    if (name.name == "_ZdlPvm" || name.name == "_ZdlPv") is_defined = name.is_defined;
  });
  EXPECT_FALSE(is_defined);
  auto const needed = file.Needed();
  EXPECT_NE(std::find(needed.begin(), needed.end(), "libstdc++.so.6"), needed.end());
}

TEST(ElfFile, AStrippedFileHasDynamicNamesAlone) {
  std::string const bytes = BytesOf("stripped");
  auto const names = NamesOf(bytes);
  EXPECT_FALSE(ElfFile(bytes, "file").has_symtab());
  EXPECT_EQ(names.count("XGBoostVersion"), 1u);
  EXPECT_EQ(names.count("_ZN7xgboost7BoosterD0Ev"), 0u);
}

TEST(ElfFile, AFileWithoutSectionsHasNoNames) {
  std::string const bytes = Changed<Elf64_Half>(BytesOf("xgboost"), offsetof(Elf64_Ehdr, e_shnum), 0);
  EXPECT_TRUE(NamesOf(bytes).empty());
  EXPECT_TRUE(ElfFile(bytes, "file").Needed().empty());
}

TEST(ElfFile, RefusesWhatIsNoLibraryForThisMachine) {
  std::string const bytes = BytesOf("xgboost");
  EXPECT_EQ(Refusal(""),
            "'file' is a file of 0 bytes whose header would end behind them; allowed: a shared object for "
            "x86-64, complete");
  EXPECT_NE(Refusal(std::string(100, 'x')).find("no ELF file"), std::string::npos);
  EXPECT_NE(Refusal(Changed<Elf64_Half>(bytes, offsetof(Elf64_Ehdr, e_machine), EM_AARCH64)).find("machine 183"),
            std::string::npos);
  EXPECT_NE(Refusal(Changed<unsigned char>(bytes, EI_CLASS, ELFCLASS32)).find("of class 1"), std::string::npos);
  EXPECT_NE(Refusal(Changed<unsigned char>(bytes, EI_DATA, ELFDATA2MSB)).find("machine 62"), std::string::npos);
  EXPECT_NE(Refusal(Changed<Elf64_Half>(bytes, offsetof(Elf64_Ehdr, e_type), ET_REL)).find("of type 1"),
            std::string::npos);
  EXPECT_NE(Refusal(Changed<Elf64_Half>(bytes, offsetof(Elf64_Ehdr, e_shentsize), 63)).find("headers of 63 bytes"),
            std::string::npos);
}

TEST(ElfFile, RefusesTablesThatAreNotInTheFile) {
  std::string const bytes = BytesOf("xgboost");
  for (std::uint64_t const offset : {bytes.size() - 1, bytes.size() + 1, std::size_t{0} - 1, std::size_t{0} - 64}) {
    EXPECT_NE(Refusal(Changed<Elf64_Off>(bytes, offsetof(Elf64_Ehdr, e_shoff), offset)).find("table of sections"),
              std::string::npos);
    for (std::uint32_t const type : {SHT_DYNSYM, SHT_SYMTAB}) {
      std::size_t const section = SectionAt(bytes, type);
      ASSERT_NE(section, 0u);
      EXPECT_NE(Refusal(Changed(bytes, section + offsetof(Elf64_Shdr, sh_offset), offset)).find("table of symbols"),
                std::string::npos);
      EXPECT_NE(Refusal(Changed(bytes, section + offsetof(Elf64_Shdr, sh_size), offset)).find("table of symbols"),
                std::string::npos);
      EXPECT_NE(
          Refusal(Changed<std::uint32_t>(bytes, section + offsetof(Elf64_Shdr, sh_link), 60000)).find("in no section"),
          std::string::npos);
    }
    std::string const changed = Changed(bytes, SectionAt(bytes, SHT_STRTAB) + offsetof(Elf64_Shdr, sh_offset), offset);
    EXPECT_NE(Refusal(changed).find("names would end behind"), std::string::npos);
    std::size_t const dynamic = SectionAt(bytes, SHT_DYNAMIC) + offsetof(Elf64_Shdr, sh_offset);
    std::string const other = Changed(bytes, dynamic, offset);
    EXPECT_NE(ErrorOf([&] { ElfFile(other, "file").Needed(); }).find("dynamic section would end"), std::string::npos);
  }
}

TEST(ElfFile, ANameWithoutAnEndIsNoName) {
  std::string bytes = BytesOf("xgboost");
  std::size_t const section = SectionAt(bytes, SHT_STRTAB);  // .dynstr
  Elf64_Shdr strings;
  std::memcpy(&strings, bytes.data() + section, sizeof(strings));
  std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(strings.sh_offset), strings.sh_size, 'x');
  bytes = Changed<Elf64_Half>(bytes, offsetof(Elf64_Ehdr, e_machine), EM_X86_64);
  ElfFile const file{bytes, "file"};
  file.ForEachDynamicName([](ElfName const& name) { ADD_FAILURE() << name.name.size(); });
}

TEST(ElfFile, EveryCutOfAFileIsRefusedOrRead) {
  std::string const bytes = BytesOf("xgboost");
  std::size_t refused = 0;
  for (std::size_t size = 0; size < bytes.size(); size += 97) {
    std::string const cut = bytes.substr(0, size);
    refused += Refusal(cut) != "no error";
  }
  EXPECT_EQ(refused, (bytes.size() + 96) / 97);  // the section headers are the last part
}

TEST(MappedFile, NamesAFileThatCannotBeRead) {
  EXPECT_EQ(ErrorOf([] { MappedFile{"/nowhere/a.so"}; }), "cannot read '/nowhere/a.so': No such file or directory");
  EXPECT_EQ(ErrorOf([] { MappedFile{"/"}; }), "cannot read '/': No such device");
  EXPECT_EQ(MappedFile{"/dev/null"}.bytes(), "");
}

}  // namespace
}  // namespace xgbgpu::bridge
