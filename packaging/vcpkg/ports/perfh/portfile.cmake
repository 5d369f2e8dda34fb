# An overlay port of the tree that it lies in.  A registry replaces this line by vcpkg_from_github
# with the release's tag and SHA512.
get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../../../.." ABSOLUTE)
set(VCPKG_BUILD_TYPE release)    # header-only: nothing differs in a debug build

vcpkg_cmake_configure(SOURCE_PATH "${SOURCE_PATH}" OPTIONS -DPERFH_INSTALL=ON
  -DCMAKE_INSTALL_DATADIR=share)
vcpkg_cmake_install()
# vcpkg looks for share/perfh/perfhConfig.cmake.
file(RENAME "${CURRENT_PACKAGES_DIR}/share/cmake/perfh/perfhConfig.cmake"
  "${CURRENT_PACKAGES_DIR}/share/perfh/perfhConfig.cmake")
file(RENAME "${CURRENT_PACKAGES_DIR}/share/cmake/perfh/perfhConfigVersion.cmake"
  "${CURRENT_PACKAGES_DIR}/share/perfh/perfhConfigVersion.cmake")
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/share/cmake")
file(READ "${CURRENT_PACKAGES_DIR}/share/perfh/perfhConfig.cmake" _config)
string(REPLACE "../../../include" "../../include" _config "${_config}")
file(WRITE "${CURRENT_PACKAGES_DIR}/share/perfh/perfhConfig.cmake" "${_config}")

file(INSTALL "${SOURCE_PATH}/LICENSE" DESTINATION "${CURRENT_PACKAGES_DIR}/share/perfh"
  RENAME copyright)
file(INSTALL "${CMAKE_CURRENT_LIST_DIR}/usage" DESTINATION "${CURRENT_PACKAGES_DIR}/share/perfh")
