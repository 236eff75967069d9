# SPDX-License-Identifier: Apache-2.0
# What find_package(DLC) finds in an install tree. A build without the compiler
# installs the Runtime component alone, and the package says so.
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/DLC)

write_basic_package_version_file(
  ${CMAKE_BINARY_DIR}/package/DLCConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
configure_package_config_file(
  ${CMAKE_CURRENT_LIST_DIR}/DLCConfig.cmake.in
  ${CMAKE_BINARY_DIR}/package/DLCConfig.cmake
  INSTALL_DESTINATION ${package_dir}
  PATH_VARS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_BINDIR)

install(FILES ${CMAKE_BINARY_DIR}/package/DLCConfig.cmake
              ${CMAKE_BINARY_DIR}/package/DLCConfigVersion.cmake
        DESTINATION ${package_dir} COMPONENT Runtime)
install(EXPORT DLCRuntimeTargets NAMESPACE DLC:: DESTINATION ${package_dir}
        COMPONENT Runtime)
if(DLC_ENABLE_COMPILER)
  install(EXPORT DLCCompilerTargets NAMESPACE DLC:: DESTINATION ${package_dir}
          COMPONENT Compiler)

  # For pass and dialect plug-ins of dlc-opt: the C++ headers, which may change
  # with each version, and what mlir-tblgen made of the .td files.
  install(DIRECTORY ${CMAKE_SOURCE_DIR}/include/dlc
                    ${CMAKE_BINARY_DIR}/include/dlc
          DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT Development
          FILES_MATCHING PATTERN "*.h" PATTERN "*.td" PATTERN "*.inc"
                         PATTERN "CMakeFiles" EXCLUDE)
endif()
