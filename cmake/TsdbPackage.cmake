# Debian packages, one per install component: run `cpack` in build/release.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME tsdb)
set(CPACK_PACKAGE_CONTACT "tsdb maintainers <maintainers@tsdb.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_COMPONENTS_ALL library dev)
if(TARGET tsdb-cli)
  list(APPEND CPACK_COMPONENTS_ALL cli)
endif()
set(CPACK_STRIP_FILES ON)

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS OFF)

set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME libtsdb0)
set(CPACK_COMPONENT_LIBRARY_DESCRIPTION "Shared library.")

set(CPACK_DEBIAN_DEV_PACKAGE_NAME libtsdb-dev)
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEV_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS "libtsdb0 (= ${PROJECT_VERSION})")
# What the static library is linked with.
set(CPACK_DEBIAN_DEV_PACKAGE_SUGGESTS
  "librocksdb-dev, libboost-filesystem1.81-dev, libzstd-dev, zlib1g-dev, libre2-dev, libsimdjson-dev, libroaring-dev, libxxhash-dev, libfmt-dev, libhowardhinnant-date-dev")
set(CPACK_COMPONENT_DEV_DESCRIPTION "Headers, static library, CMake package and pkg-config file.")

set(CPACK_DEBIAN_CLI_PACKAGE_NAME tsdb-cli)
set(CPACK_DEBIAN_CLI_PACKAGE_SECTION database)
set(CPACK_COMPONENT_CLI_DESCRIPTION "The command line program tsdb-cli.")

include(CPack)
