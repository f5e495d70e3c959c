// Tests what a program gets from the engine as a shared library: its exceptions, and the sizes in errors of memory.

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <new>

#include "xgbgpu/error.h"
#include "xgbgpu/params.h"
#include "xgbgpu/tree.h"

namespace xgbgpu {
namespace {

TEST(SharedEngine, ExceptionsArriveAsWhatTheyAre) {
  TrainParams params;
  params.subsample = 2.0f;
  EXPECT_THROW(params.Validate(), InvalidArgument);
  EXPECT_THROW(ValidateMaxBin(1), InvalidArgument);
}

TEST(SharedEngine, AnErrorOfMemorySaysHowMuchWasAskedFor) {
  std::size_t const nodes = std::size_t{1} << 50;
  Tree tree;
  try {
    tree.Resize(nodes);
    FAIL() << "there was memory for 2^50 nodes";
  } catch (OutOfHostMemory const& e) {
    EXPECT_GE(e.bytes(), nodes);
  }
}

TEST(SharedEngine, AllocationsOfTheProgramStayAsTheyWere) {
  std::size_t const volatile bytes = std::size_t{1} << 60;
  try {
    ::operator delete(::operator new(bytes));
    FAIL() << "there was memory for 2^60 bytes";
  } catch (OutOfHostMemory const&) {
    FAIL() << "the program's operator new is the engine's";
  } catch (std::bad_alloc const&) {
  }
}

}  // namespace
}  // namespace xgbgpu
