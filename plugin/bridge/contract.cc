// Reads contracts.
#include "bridge/contract.h"

#include <locale>
#include <sstream>

#include "base/quoted.h"
#include "bridge/error.h"

namespace xgbgpu::bridge {
namespace {

/// Reads one line into the contract; false if that is no line of a contract.
bool ReadLine(std::string const& line, Contract* contract) {
  std::istringstream words(line);
  words.imbue(std::locale::classic());
  std::string kind;
  std::string name;
  if (!(words >> kind) || kind[0] == '#') return true;
  if (!(words >> name)) return false;
  if (kind == "release") {
    contract->releases.push_back(name);
  } else if (kind == "name") {
    contract->names.push_back(name);
  } else if (kind == "slot") {
    Slot slot{name, 0, {}};
    words >> slot.word;
    for (std::string function; words >> function;) slot.functions.push_back(function);
    if (slot.functions.empty()) return false;
    contract->slots.push_back(slot);
    return true;
  } else if (kind == "size") {
    Size size{name, 0};
    if (!(words >> size.bytes)) return false;
    contract->sizes.push_back(size);
  } else {
    return false;
  }
  return (words >> std::ws).eof();
}

}  // namespace

Contract ParseContract(std::string_view text) {
  Contract contract;
  std::istringstream lines{std::string{text}};
  for (std::string line; std::getline(lines, line);) {
    if (!ReadLine(line, &contract)) {
      throw BridgeError{"a line of a contract is " + Quoted(line) +
                        "; allowed: release R, name N, slot TABLE WORD FUNCTION…, size CONSTRUCTOR BYTES"};
    }
  }
  return contract;
}

}  // namespace xgbgpu::bridge
