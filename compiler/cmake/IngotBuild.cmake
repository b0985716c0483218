# Compiler settings of Ingot itself, and the functions for its build files:
#
#   ingot_tablegen(TD OUTPUT FLAGS... [OUTPUT FLAGS...]...)
#   ingot_add_library(NAME [sources...] [LINK targets...] [EXCEPTIONS])
#   ingot_add_executable(NAME [sources...] [LINK targets...] [EXCEPTIONS])
#
# Without sources, a library consists of all .cpp files of its folder and of
# those subfolders that have no CMakeLists.txt, so that adding a pass or an
# operator family needs no change of a build file. A `Pch.h` in the folder
# becomes its precompiled header.

set(CMAKE_CXX_STANDARD 17)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")

# -O1: most of a compilation's time is spent inside libMLIR and libLLVM, which
# are optimized; Ingot's own code builds in half the time of -O2.
set(CMAKE_CXX_FLAGS_RELEASE "-O1")
set(CMAKE_C_FLAGS_RELEASE "-O1")
if(NOT INGOT_ASSERTIONS)
  add_compile_definitions($<$<CONFIG:Release>:NDEBUG>)
endif()

add_library(ingot_flags INTERFACE)
target_compile_options(ingot_flags INTERFACE -Wall -Wextra -Wno-unused-parameter
  $<$<BOOL:${INGOT_WERROR}>:-Werror>
  $<$<CXX_COMPILER_ID:GNU>:-Wno-comment>
  $<$<NOT:$<BOOL:${LLVM_ENABLE_RTTI}>>:-fno-rtti>)
target_include_directories(ingot_flags INTERFACE "${PROJECT_SOURCE_DIR}" "${PROJECT_BINARY_DIR}")
target_include_directories(ingot_flags SYSTEM INTERFACE ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})

if(INGOT_SANITIZE)
  add_compile_options(-fsanitize=address,undefined -fno-omit-frame-pointer -g1)
  add_link_options(-fsanitize=address,undefined)
  set(sanitizer_options "${CMAKE_CURRENT_LIST_DIR}/SanitizerOptions.cpp")
endif()

# Links MLIR and LLVM statically if lld is available, which accepts archives in
# any order. With the shared libraries, relocation at each start takes a quarter
# of the time in which a small network is compiled.
file(GLOB archives "${INGOT_LLVM_PREFIX}/lib/libMLIR*.a" "${INGOT_LLVM_PREFIX}/lib/libLLVM*.a")
find_library(INGOT_ZSTD NAMES zstd libzstd.so.1)
add_library(ingot_llvm INTERFACE)
set(has_lld OFF)
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang" AND EXISTS "${INGOT_LLVM_PREFIX}/bin/ld.lld")
  set(has_lld ON)
  add_link_options(-fuse-ld=lld)
endif()
if(has_lld AND archives AND INGOT_ZSTD)
  target_link_options(ingot_llvm INTERFACE -Wl,--gc-sections)
  target_link_libraries(ingot_llvm INTERFACE ${archives} ${INGOT_ZSTD} z)
else()
  target_link_libraries(ingot_llvm INTERFACE MLIR LLVM)
endif()

# Make ccache work with precompiled headers.
find_program(INGOT_CCACHE NAMES ccache)
if(INGOT_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CMAKE_COMMAND}" -E env
    CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
    "${INGOT_CCACHE}")
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:SHELL:-Xclang -fno-pch-timestamp>")
  endif()
endif()

# ingot_tablegen(GraphOps.td
#   GraphOps.h.inc   -gen-op-decls
#   GraphOps.cpp.inc -gen-op-defs)
# runs mlir-tblgen once per output; every library of the same folder depends on
# the outputs. They are included as "dialects/graph/GraphOps.h.inc".
function(ingot_tablegen td)
  set(output "")
  set(flags "")
  foreach(argument IN LISTS ARGN ITEMS "END")
    if(argument MATCHES "^-")
      list(APPEND flags "${argument}")
      continue()
    endif()
    if(output)
      get_filename_component(directory "${CMAKE_CURRENT_BINARY_DIR}/${output}" DIRECTORY)
      file(MAKE_DIRECTORY "${directory}")
      add_custom_command(OUTPUT "${CMAKE_CURRENT_BINARY_DIR}/${output}"
        COMMAND "${INGOT_LLVM_PREFIX}/bin/mlir-tblgen" ${flags}
          -I "${PROJECT_SOURCE_DIR}" -I "${CMAKE_CURRENT_SOURCE_DIR}" -I "${MLIR_INCLUDE_DIRS}"
          "${CMAKE_CURRENT_SOURCE_DIR}/${td}" --write-if-changed
          -o "${CMAKE_CURRENT_BINARY_DIR}/${output}"
          -d "${CMAKE_CURRENT_BINARY_DIR}/${output}.d"
        DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/${td}"
        DEPFILE "${CMAKE_CURRENT_BINARY_DIR}/${output}.d"
        COMMENT "Generating ${output}")
      list(APPEND outputs "${CMAKE_CURRENT_BINARY_DIR}/${output}")
    endif()
    set(output "${argument}")
    set(flags "")
  endforeach()
  file(RELATIVE_PATH name "${PROJECT_SOURCE_DIR}" "${CMAKE_CURRENT_SOURCE_DIR}/${td}")
  string(MAKE_C_IDENTIFIER "tablegen_${name}" name)
  add_custom_target(${name} DEPENDS ${outputs})
  set_property(DIRECTORY APPEND PROPERTY INGOT_TABLEGEN_TARGETS ${name})
endfunction()

# Common settings of libraries and executables.
function(_ingot_setup name)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "EXCEPTIONS" "" "LINK")
  target_link_libraries(${name} PUBLIC ${ARG_LINK} ingot_flags ingot_llvm)
  if(NOT ARG_EXCEPTIONS)
    target_compile_options(${name} PRIVATE -fno-exceptions)
  endif()
  if(EXISTS "${CMAKE_CURRENT_SOURCE_DIR}/Pch.h")
    target_precompile_headers(${name} PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}/Pch.h")
  endif()
  get_property(tablegen DIRECTORY PROPERTY INGOT_TABLEGEN_TARGETS)
  if(tablegen)
    add_dependencies(${name} ${tablegen})
  endif()
endfunction()

macro(_ingot_sources)
  cmake_parse_arguments(ARG "EXCEPTIONS" "" "LINK" ${ARGN})
  set(sources ${ARG_UNPARSED_ARGUMENTS})
  if(NOT sources)
    file(GLOB candidates CONFIGURE_DEPENDS "*.cpp" "*/*.cpp")
    foreach(source IN LISTS candidates)
      get_filename_component(directory "${source}" DIRECTORY)
      if(directory STREQUAL CMAKE_CURRENT_SOURCE_DIR OR NOT EXISTS "${directory}/CMakeLists.txt")
        list(APPEND sources "${source}")
      endif()
    endforeach()
  endif()
endmacro()

function(ingot_add_library name)
  _ingot_sources(${ARGN})
  add_library(${name} STATIC ${sources})
  _ingot_setup(${name} ${ARGN})
  set_property(GLOBAL APPEND PROPERTY INGOT_LIBRARIES ${name})
endfunction()

function(ingot_add_executable name)
  _ingot_sources(${ARGN})
  add_executable(${name} ${sources} ${sanitizer_options})
  _ingot_setup(${name} ${ARGN})
endfunction()
