// Precompiled for every layer: standard headers that nearly every source file uses. It only saves time: each header and
// source still includes what it needs (the test every_header_compiles_alone runs without it).
//
// Thread safety: nothing is declared here.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>
