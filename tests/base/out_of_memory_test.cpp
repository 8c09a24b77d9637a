// Tests which exceptions of other libraries mean that memory ran out, as every front end asks.
#include "base/memory.h"

#include <doctest/doctest.h>

#include <new>
#include <stdexcept>
#include <system_error>

using namespace attn;

TEST_CASE("no allocation, a size beyond any, and no thread are memory that ran out") {
  CHECK(is_out_of_memory(std::bad_alloc()));
  CHECK(is_out_of_memory(std::bad_array_new_length()));
  CHECK(is_out_of_memory(std::length_error("vector::_M_default_append")));
  CHECK(is_out_of_memory(std::system_error(std::make_error_code(std::errc::not_enough_memory))));
  CHECK(is_out_of_memory(
      std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again))));
  CHECK(!is_out_of_memory(std::system_error(std::make_error_code(std::errc::permission_denied))));
  CHECK(!is_out_of_memory(std::runtime_error("no")));
}
