/// Contracts: the names, vtables and sizes that an adapter relies on in one series of XGBoost. scripts/contract writes
/// contracts/<series>.txt, and the library embeds the files.
#ifndef XGBGPU_PLUGIN_BRIDGE_CONTRACT_H_
#define XGBGPU_PLUGIN_BRIDGE_CONTRACT_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace xgbgpu::bridge {

/// A word of a vtable: the address of a function. `functions` are names of this one function.
struct Slot {
  std::string table;
  std::size_t word;
  std::vector<std::string> functions;
};

/// A constructor, and how many bytes it writes, up to the last one.
struct Size {
  std::string constructor;
  std::size_t bytes;
};

struct Contract {
  std::vector<std::string> releases;  // tested
  std::vector<std::string> names;     // that the adapter may use
  std::vector<Slot> slots;
  std::vector<Size> sizes;
};

/// A contract as the library has it.
struct ContractText {
  char const* series;  // "3.4"
  char const* text;
};

/// The contracts, oldest series first. The last one has null pointers.
extern ContractText const kContracts[];

/// Reads lines of `release R`, `name N`, `slot TABLE WORD FUNCTION…`, `size CONSTRUCTOR BYTES`, and comments of #.
/// Throws BridgeError, with the line, at any other.
Contract ParseContract(std::string_view text);

}  // namespace xgbgpu::bridge

#endif  // XGBGPU_PLUGIN_BRIDGE_CONTRACT_H_
