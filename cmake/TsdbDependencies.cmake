# Third-party libraries, all Debian 12 packages; the list to install is scripts/install_packages.sh.
find_package(Threads REQUIRED)
find_package(ZLIB REQUIRED)
find_package(fmt REQUIRED)
find_package(Boost 1.81 REQUIRED COMPONENTS filesystem)
find_package(PkgConfig REQUIRED)
find_package(RocksDB REQUIRED)

# Libraries that come with pkg-config files or bare headers get an imported target each.
function(tsdb_pkg target module)
  pkg_check_modules(${target}_PC REQUIRED IMPORTED_TARGET GLOBAL ${module})
  add_library(${target} INTERFACE)
  target_link_libraries(${target} INTERFACE PkgConfig::${target}_PC)
endfunction()

tsdb_pkg(tsdb_zstd libzstd)
tsdb_pkg(tsdb_re2 re2)
tsdb_pkg(tsdb_simdjson simdjson)
tsdb_pkg(tsdb_xxhash libxxhash)
add_library(re2::re2 ALIAS tsdb_re2)
add_library(xxHash::xxhash ALIAS tsdb_xxhash)

find_library(TSDB_ROARING_LIBRARY roaring REQUIRED)
find_path(TSDB_ROARING_INCLUDE roaring/roaring.h REQUIRED)
add_library(tsdb_roaring INTERFACE)
target_include_directories(tsdb_roaring SYSTEM INTERFACE ${TSDB_ROARING_INCLUDE})
target_link_libraries(tsdb_roaring INTERFACE ${TSDB_ROARING_LIBRARY})

add_library(tsdb_rocksdb INTERFACE)
target_link_libraries(tsdb_rocksdb INTERFACE RocksDB::rocksdb-shared)
