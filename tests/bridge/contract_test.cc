// Tests the reader of contracts, and the contracts of the library.
#include "bridge/contract.h"

#include "fakes.h"

namespace xgbgpu::bridge {
namespace {

TEST(Contract, ReadsEachKindOfLine) {
  Contract const contract =
      ParseContract("# comment\n\nrelease 3.4.0\nrelease 3.4.1\nname _Zname\nslot _ZTV 7 _Za _Zb\nsize _ZC 84\n");
  EXPECT_EQ(contract.releases, (std::vector<std::string>{"3.4.0", "3.4.1"}));
  EXPECT_EQ(contract.names, std::vector<std::string>{"_Zname"});
  ASSERT_EQ(contract.slots.size(), 1u);
  EXPECT_EQ(contract.slots[0].table, "_ZTV");
  EXPECT_EQ(contract.slots[0].word, 7u);
  EXPECT_EQ(contract.slots[0].functions, (std::vector<std::string>{"_Za", "_Zb"}));
  ASSERT_EQ(contract.sizes.size(), 1u);
  EXPECT_EQ(contract.sizes[0].constructor, "_ZC");
  EXPECT_EQ(contract.sizes[0].bytes, 84u);
}

TEST(Contract, RefusesOtherLines) {
  for (char const* line : {"release", "slot _ZTV 7", "slot _ZTV x _Za", "slot _ZTV", "size _ZC", "size _ZC many",
                           "size _ZC 8 9", "name a b", "other 1", "release 3.4.1 3.4.2"}) {
    EXPECT_EQ(ErrorOf([&] { ParseContract(line); }),
              std::string{"a line of a contract is '"} + line +
                  "'; allowed: release R, name N, slot TABLE WORD FUNCTION…, size CONSTRUCTOR BYTES");
  }
}

TEST(Contract, EverySeriesHasReleasesSlotsAndSizes) {
  std::size_t series = 0;
  for (ContractText const* text = kContracts; text->series != nullptr; ++text, ++series) {
    Contract const contract = ParseContract(text->text);
    ASSERT_FALSE(contract.releases.empty()) << text->series;
    for (std::string const& release : contract.releases)
      EXPECT_EQ(release.rfind(std::string{text->series} + '.', 0), 0u);
    EXPECT_GT(contract.slots.size(), 100u) << text->series;
    EXPECT_FALSE(contract.sizes.empty()) << text->series;
  }
  EXPECT_GE(series, 4u);
}

}  // namespace
}  // namespace xgbgpu::bridge
