# Build options and compiler flags common to every target.
option(TSDB_BUILD_TESTS "Build the tests" ${PROJECT_IS_TOP_LEVEL})
option(TSDB_BUILD_CLI "Build tsdb-cli" ON)
option(TSDB_BUILD_BENCH "Build the benchmarks" OFF)
option(TSDB_INSTALL "Make install and package rules" ${PROJECT_IS_TOP_LEVEL})
option(TSDB_WERROR "Treat warnings as errors" OFF)
option(TSDB_PRECOMPILE "Use precompiled headers" ON)
option(TSDB_FUZZ "Build tests/fuzz with libFuzzer (clang) instead of as corpus replays" OFF)
set(TSDB_TEST_PREFIX "" CACHE STRING "Put before the names of all tests (the sanitizer presets tell theirs apart)")
set(TSDB_TEST_FILTER "" CACHE STRING "gtest filter of the tests that are registered, e.g. *Thread*; empty: all")
set(TSDB_TEST_LABELS "" CACHE STRING "Build only the tests of folders with one of these labels; empty: all")
set(TSDB_TEST_FOLDERS "" CACHE STRING "Build only the tests of these folders; empty: all")
set(TSDB_SANITIZE "" CACHE STRING "Sanitizers: address,undefined or thread")

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET default)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "Build type" FORCE)
endif()

find_program(TSDB_CCACHE ccache)
if(TSDB_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Hits across build folders and checkouts, and with precompiled headers.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_NOHASHDIR=1 CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${TSDB_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${CMAKE_CXX_COMPILER_LAUNCHER})
endif()

add_library(tsdb_flags INTERFACE)
target_compile_options(tsdb_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 14)
  # These see overlaps and overflows in libstdc++'s own strings and vectors that are not there (GCC bug 105651 and kin).
  target_compile_options(tsdb_flags INTERFACE -Wno-restrict -Wno-array-bounds -Wno-stringop-overflow
    -Wno-stringop-overread -Wno-maybe-uninitialized -Wno-nonnull -Wno-free-nonheap-object)
endif()
if(TSDB_WERROR)
  target_compile_options(tsdb_flags INTERFACE -Werror)
endif()
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  # The lock annotations of base/mutex.h are checked, and a finding is an error.
  target_compile_options(tsdb_flags INTERFACE -Wthread-safety -Werror=thread-safety)
endif()
if(TSDB_SANITIZE)
  add_compile_options(-fsanitize=${TSDB_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${TSDB_SANITIZE})
  if(TSDB_SANITIZE MATCHES thread)
    # RocksDB is not instrumented: what it does inside is not judged.
    set(TSDB_TEST_ENVIRONMENT
        "TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1:suppressions=${PROJECT_SOURCE_DIR}/cmake/tsan.supp")
  endif()
endif()
if(TSDB_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "TSDB_FUZZ needs clang++ (libFuzzer): use the preset fuzz")
  endif()
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
