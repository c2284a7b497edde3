# Third-party libraries, all Debian 12 packages; the list to install is scripts/install_packages.sh.
# Installed beside tsdb-config.cmake too: whoever links the static library needs the same ones.
find_package(Threads REQUIRED)
find_package(ZLIB REQUIRED)
find_package(fmt REQUIRED)
find_package(Boost 1.81 REQUIRED COMPONENTS filesystem)
find_package(PkgConfig REQUIRED)
find_package(RocksDB REQUIRED)

# tsdb_dependency(TARGET LIBRARY...): an imported target of ours for a library that comes without one. Imported, so that
# an exported target may name it.
function(tsdb_dependency target)
  if(NOT TARGET ${target})
    add_library(${target} INTERFACE IMPORTED GLOBAL)
    target_link_libraries(${target} INTERFACE ${ARGN})
  endif()
endfunction()

foreach(pair tsdb_zstd=libzstd tsdb_re2=re2 tsdb_simdjson=simdjson tsdb_xxhash=libxxhash)
  string(REPLACE "=" ";" pair ${pair})
  list(GET pair 0 target)
  list(GET pair 1 module)
  pkg_check_modules(${target}_PC REQUIRED IMPORTED_TARGET GLOBAL ${module})
  tsdb_dependency(${target} PkgConfig::${target}_PC)
endforeach()
foreach(pair re2::re2=tsdb_re2 xxHash::xxhash=tsdb_xxhash)
  string(REPLACE "=" ";" pair ${pair})
  list(GET pair 0 alias)
  list(GET pair 1 target)
  if(NOT TARGET ${alias})
    add_library(${alias} ALIAS ${target})
  endif()
endforeach()

find_library(TSDB_ROARING_LIBRARY roaring REQUIRED)
find_path(TSDB_ROARING_INCLUDE roaring/roaring.h REQUIRED)
tsdb_dependency(tsdb_roaring ${TSDB_ROARING_LIBRARY})
target_include_directories(tsdb_roaring SYSTEM INTERFACE ${TSDB_ROARING_INCLUDE})

tsdb_dependency(tsdb_rocksdb RocksDB::rocksdb-shared)

# Time zones. Only base/time_zone.cc includes it, with the definitions its package was built with.
find_library(TSDB_DATE_LIBRARY date-tz REQUIRED)
find_path(TSDB_DATE_INCLUDE date/tz.h REQUIRED)
tsdb_dependency(tsdb_date ${TSDB_DATE_LIBRARY})
