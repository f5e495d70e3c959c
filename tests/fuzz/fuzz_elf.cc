// A libxgboost, an adapter or an engine as a file, as the bridge reads it.
#include "bridge/elf_file.h"
#include "bridge/error.h"
#include "bridge/names.h"
#include "fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  std::string const bytes = xgbgpu::fuzz::Text(data, size);
  std::size_t seen = 0;
  try {
    xgbgpu::bridge::ElfFile const file{bytes, "file"};
    file.ForEachName([&](xgbgpu::bridge::ElfName const& name) { seen += name.name.size(); });
    for (std::string const& name : file.Needed()) seen += name.size();
    xgbgpu::bridge::Wanted wanted;
    xgbgpu::bridge::AddWanted(file, &wanted);
    for (std::string const& name : wanted.strong) {
      if (bytes.find(name) == std::string::npos) std::abort();  // a name that the file has not
    }
  } catch (xgbgpu::bridge::BridgeError const&) {
  }
  return seen == static_cast<std::size_t>(-1);
}
