// Tests the comparison of an XGBoost in memory with a contract.
#include "bridge/check_image.h"

#include <cstdint>
#include <cstring>

#include "bridge/mapped_file.h"
#include "fakes.h"

namespace xgbgpu::bridge {
namespace {

// Words 0 and 1 of a vtable are no functions; two destructors come first.
constexpr char kRight[] =
    "slot _ZTVN7xgboost7BoosterE 3 _ZN7xgboost7BoosterD0Ev\n"
    "slot _ZTVN7xgboost7BoosterE 5 _ZN7xgboost5other6SecondEv _ZN7xgboost7Booster6SecondEv\n"
    "size _ZN7xgboost7ContextC2Ev 40\n";

class CheckImage : public ::testing::Test {
 protected:
  Addresses AddressesOf(Contract const& contract) const { return FindNames(file_, image_, NamesOfChecks(contract)); }
  std::string Slots(std::string const& text, bool is_stripped = false) const {
    Contract const contract = ParseContract(text);
    return ErrorOf([&] { CheckSlots(contract, image_, AddressesOf(contract), is_stripped); });
  }
  std::string Sizes(std::string const& text, bool is_stripped = false) const {
    Contract const contract = ParseContract(text);
    return ErrorOf([&] { CheckSizes(contract, image_, AddressesOf(contract), is_stripped); });
  }

  DlHandle loaded_{Open(Fake("xgboost"))};
  MappedFile mapped_{Fake("xgboost")};
  ElfFile file_{mapped_.bytes(), Fake("xgboost")};
  XGBoostImage image_{FindXGBoost(nullptr)};
};

TEST_F(CheckImage, AnEqualOnePasses) {
  EXPECT_EQ(Slots(kRight), "no error");
  EXPECT_EQ(Sizes(kRight), "no error");
}

TEST_F(CheckImage, AnotherFunctionIsNamed) {
  EXPECT_EQ(Slots("slot _ZTVN7xgboost7BoosterE 4 _ZN7xgboost7Booster6SecondEv\n"),
            image_.Described() +
                " has another function in word 4 of 'vtable for xgboost::Booster'; allowed: "
                "'xgboost::Booster::Second()'");
  EXPECT_NE(Slots("slot _ZTVN7xgboost7BoosterE 5 _Zgone\n").find("allowed: '_Zgone'"), std::string::npos);
}

TEST_F(CheckImage, ATableThatIsNotThereIsNamed) {
  EXPECT_NE(Slots("slot _ZTVN7xgboost4GoneE 4 _ZN7xgboost7Booster6SecondEv\n").find("lacks 'vtable for xgboost::Gone'"),
            std::string::npos);
}

TEST_F(CheckImage, AWordBehindTheMemoryIsNotRead) {
  EXPECT_NE(Slots("slot _ZTVN7xgboost7BoosterE 100000000 _ZN7xgboost7Booster6SecondEv\n").find("has another function"),
            std::string::npos);
}

TEST_F(CheckImage, InAStrippedOneFunctionsMayHaveNoName) {
  std::string const known = "slot _ZTVN7xgboost7BoosterE 5 _ZN7xgboost7Booster6SecondEv\n";
  EXPECT_EQ(Slots("slot _ZTVN7xgboost7BoosterE 4 _Zgone\nslot _ZTVN7xgboost4GoneE 4 _Zgone\n" + known, true),
            "no error");
  EXPECT_NE(Slots("slot _ZTVN7xgboost7BoosterE 1 _Zgone\n" + known, true).find("word 1 of"), std::string::npos)
      << "word 1 is no code";
  EXPECT_NE(Slots("slot _ZTVN7xgboost7BoosterE 4 _ZN7xgboost7Booster6SecondEv\n", true).find("word 4 of"),
            std::string::npos);
  EXPECT_NE(Slots("slot _ZTVN7xgboost7BoosterE 4 _Zgone\n", true).find("shows no function of its classes"),
            std::string::npos);
}

TEST_F(CheckImage, AnotherSizeIsNamed) {
  EXPECT_EQ(Sizes("size _ZN7xgboost7ContextC2Ev 88\n"),
            image_.Described() + " writes 40 bytes in 'xgboost::Context::Context()'; allowed: 88");
  EXPECT_NE(Sizes("size _ZN7xgboost4GoneC1Ev 88\n").find("lacks 'xgboost::Gone::Gone()'"), std::string::npos);
  EXPECT_EQ(Sizes("size _ZN7xgboost4GoneC1Ev 88\n", true), "no error");
  EXPECT_NE(Sizes("size _ZN7xgboost7ContextC2Ev 88\n", true).find("writes 40 bytes"), std::string::npos);
  EXPECT_NE(Sizes("size _ZTVN7xgboost7BoosterE 88\n").find("has data at"), std::string::npos);
}

}  // namespace
}  // namespace xgbgpu::bridge
