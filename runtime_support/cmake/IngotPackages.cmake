# Settings of CPack for `./dev package`, which makes a .deb and a .tar.gz of the files that `cmake
# --install` installs.
set(CPACK_PACKAGE_NAME ingot)
set(CPACK_PACKAGE_VENDOR Ingot)
set(CPACK_PACKAGE_CONTACT "Ingot <ingot@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Compiles neural networks in ONNX to standalone C++")
set(CPACK_RESOURCE_FILE_LICENSE "${PROJECT_SOURCE_DIR}/LICENSE")
set(CPACK_PACKAGE_DIRECTORY "${PROJECT_BINARY_DIR}/packages")
set(CPACK_GENERATOR DEB TGZ)
set(CPACK_STRIP_FILES ON)
set(CPACK_THREADS 0)
# All components are in one package.
set(CPACK_MONOLITHIC_INSTALL ON)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
# dpkg-shlibdeps finds the packages with the shared libraries that the program needs.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "g++ | clang, cmake")
include(CPack)
