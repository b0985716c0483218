# `./dev package`: a .deb and a .tar.gz of what `cmake --install` installs, by CPack.
set(CPACK_PACKAGE_NAME ingot)
set(CPACK_PACKAGE_VENDOR Ingot)
set(CPACK_PACKAGE_CONTACT "Ingot <ingot@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Compiles neural networks in ONNX to standalone C++")
set(CPACK_RESOURCE_FILE_LICENSE "${PROJECT_SOURCE_DIR}/LICENSE")
set(CPACK_PACKAGE_DIRECTORY "${PROJECT_BINARY_DIR}/packages")
set(CPACK_GENERATOR DEB TGZ)
set(CPACK_STRIP_FILES ON)
set(CPACK_THREADS 0)
# One package of all components.
set(CPACK_MONOLITHIC_INSTALL ON)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
# The libraries that the program needs, by the packages that have them.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "g++ | clang, cmake")
include(CPack)
