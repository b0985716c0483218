# Rules for `cmake --install`, and for find_package(Ingot) from an installation or from the build
# folder (-DIngot_DIR=<build>/cmake). The component `program` is everything but documentation and
# examples; the Python package contains this component.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON)
set(package "${CMAKE_INSTALL_LIBDIR}/cmake/Ingot")
set(sources "${PROJECT_SOURCE_DIR}/runtime_support")
# Toolchain files, for projects that cross-compile.
file(GLOB toolchains CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/targets/*/*.cmake")

if(TARGET ingot)
  set_target_properties(ingot PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)
  install(TARGETS ingot RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT program)
endif()
install(DIRECTORY "${sources}/" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/ingot"
  COMPONENT program FILES_MATCHING PATTERN "*.h" PATTERN "cmake" EXCLUDE)

# The CMake package in the installation, for find_package(Ingot).
set(INGOT_PROGRAM "${CMAKE_INSTALL_BINDIR}/ingot")
set(INGOT_INCLUDE "${CMAKE_INSTALL_INCLUDEDIR}/ingot")
set(INGOT_EMULATION "${INGOT_INCLUDE}/emulation")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/targets/cuda/emulation/" DESTINATION "${INGOT_EMULATION}"
  COMPONENT program)
configure_package_config_file("${sources}/cmake/IngotConfig.cmake.in"
  "${PROJECT_BINARY_DIR}/installed/IngotConfig.cmake"
  INSTALL_DESTINATION "${package}" PATH_VARS INGOT_PROGRAM INGOT_INCLUDE INGOT_EMULATION)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/installed/IngotConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)
install(FILES
  "${PROJECT_BINARY_DIR}/installed/IngotConfig.cmake"
  "${PROJECT_BINARY_DIR}/installed/IngotConfigVersion.cmake"
  "${sources}/cmake/IngotAddModel.cmake"
  ${toolchains}
  DESTINATION "${package}" COMPONENT program)

# Licence, documentation, and example programs.
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" "${PROJECT_SOURCE_DIR}/README.md"
  "${PROJECT_SOURCE_DIR}/dialects/graph/OPS.md" DESTINATION "${CMAKE_INSTALL_DOCDIR}")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/docs" DESTINATION "${CMAKE_INSTALL_DOCDIR}"
  PATTERN "ingot.1" EXCLUDE PATTERN "*.in" EXCLUDE)
install(FILES "${PROJECT_SOURCE_DIR}/docs/ingot.1" DESTINATION "${CMAKE_INSTALL_MANDIR}/man1")
install(FILES "${sources}/LICENSE" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/ingot" COMPONENT program)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/examples" DESTINATION "${CMAKE_INSTALL_DOCDIR}")
file(RELATIVE_PATH INGOT_BIN_FROM_PC "/${CMAKE_INSTALL_DATADIR}/pkgconfig" "/${INGOT_PROGRAM}")
file(RELATIVE_PATH INGOT_INCLUDE_FROM_PC "/${CMAKE_INSTALL_DATADIR}/pkgconfig" "/${INGOT_INCLUDE}")
configure_file("${sources}/cmake/ingot.pc.in" "${PROJECT_BINARY_DIR}/installed/ingot.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/installed/ingot.pc"
  DESTINATION "${CMAKE_INSTALL_DATADIR}/pkgconfig")

# The CMake package in the build folder, for find_package(Ingot) without an installation.
set(INGOT_PROGRAM "${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/ingot")
set(INGOT_INCLUDE "${sources}")
set(INGOT_EMULATION "${PROJECT_SOURCE_DIR}/targets/cuda/emulation")
configure_package_config_file("${sources}/cmake/IngotConfig.cmake.in"
  "${PROJECT_BINARY_DIR}/cmake/IngotConfig.cmake"
  INSTALL_DESTINATION "${PROJECT_BINARY_DIR}/cmake" INSTALL_PREFIX "${PROJECT_BINARY_DIR}"
  PATH_VARS INGOT_PROGRAM INGOT_INCLUDE INGOT_EMULATION)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/cmake/IngotConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)
foreach(file IN LISTS toolchains ITEMS "${sources}/cmake/IngotAddModel.cmake")
  get_filename_component(name "${file}" NAME)
  configure_file("${file}" "${PROJECT_BINARY_DIR}/cmake/${name}" COPYONLY)
endforeach()
