# Install rules in three components: library (what a program needs to run), dev (what it needs to be built) and cli (rules in
# cli/CMakeLists.txt).
#
#   find_package(tsdb)                      → tsdb::tsdb, the shared library; needs nothing else installed
#   find_package(tsdb COMPONENTS static)    → also tsdb::tsdb_static, and the libraries it is linked with
#   pkg-config tsdb [--static]
include(CMakePackageConfigHelpers)

set(tsdb_cmake_dir ${CMAKE_INSTALL_LIBDIR}/cmake/tsdb)

install(TARGETS tsdb_shared EXPORT tsdb-targets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library NAMELINK_COMPONENT dev)
install(TARGETS tsdb_static EXPORT tsdb-static-targets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT dev)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/tsdb DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT dev
  FILES_MATCHING PATTERN "*.h")

foreach(export tsdb-targets tsdb-static-targets)
  install(EXPORT ${export} NAMESPACE tsdb:: DESTINATION ${tsdb_cmake_dir} COMPONENT dev)
endforeach()
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/tsdb-config.cmake.in
  ${PROJECT_BINARY_DIR}/tsdb-config.cmake INSTALL_DESTINATION ${tsdb_cmake_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/tsdb-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/tsdb-config.cmake ${PROJECT_BINARY_DIR}/tsdb-config-version.cmake
  ${PROJECT_SOURCE_DIR}/cmake/TsdbDependencies.cmake DESTINATION ${tsdb_cmake_dir} COMPONENT dev)

# Relative to where the file lies, so that an installed tree may be moved.
file(RELATIVE_PATH tsdb_pc_prefix /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
configure_file(${PROJECT_SOURCE_DIR}/cmake/tsdb.pc.in ${PROJECT_BINARY_DIR}/tsdb.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/tsdb.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT dev)
