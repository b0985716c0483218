# ingot_add_model(NAME MODEL model.onnx
#                 [TARGET native] [WEIGHTS source|object|file] [OBJECT]
#                 [OPTIMIZE size] [MAX_RAM 64K] [MAX_FLASH 512K] [ARENA_SECTION .name]
#                 [QUANTIZE int8 CALIBRATION samples.npz [MAX_LOSS 1%] [LABELS classes.npy]]
#                 [DIMS batch=1...] [ENTRIES token:seq=1...] [STATES past=present...]
#                 [OPTIONS --strict...] [DEPENDS weights.bin...])
#
# compiles an ONNX model to C++ and makes NAME a library target: link it and include
# "NAME.h". All names in the generated code begin with NAME. The model is recompiled when
# the model, a file of DEPENDS (external data) or Ingot itself changes. Without WEIGHTS, the
# weights are in the source if they are smaller than a megabyte, otherwise in an object file
# beside it. A model that a build step generates needs the source file property GENERATED in
# the folder that uses it.
#
# NAME may be installed and exported: install(TARGETS NAME EXPORT ...) installs the library, and its
# header to the destination of PUBLIC_HEADER or, from CMake 3.23 on, of FILE_SET HEADERS. With
# OBJECT, NAME is an object library. The project has to install a weights file itself, from
# INGOT_OUTPUT_DIR.
#
# The default of TARGET is the variable INGOT_TARGET, which a toolchain file sets, or else
# `native`. In a cross build `native` becomes the most basic target of the machine that the
# toolchain file describes: by CMAKE_SYSTEM_PROCESSOR, on bare-metal Arm cores by the
# compiler's -mcpu.
#
# OPTIMIZE size makes the code as small as possible, at the expense of speed. MAX_RAM limits arena
# and stack, MAX_FLASH code and weights, as measured with the project's compiler: a model that
# exceeds a limit fails the build with a list of its largest parts. If the model meets its limits,
# the generated header states the measured sizes. ARENA_SECTION defines the arena in the generated
# code, as NAME_arena in that section of the program.
#
# QUANTIZE int8 (or int8-weights, int4-weights) quantizes the model. Value ranges are those of the
# samples in CALIBRATION (a folder, .npz or .npy), or of random inputs with `none`, which costs
# accuracy. MAX_LOSS limits the loss: as a signal-to-noise ratio such as 35dB, or as the share of
# samples that are classified differently, such as 1% (with LABELS, as the decrease of the top-1
# accuracy). Quantization takes seconds to minutes in each build; `ingot quantize` quantizes a model
# once and writes it as ONNX.
#
# ENTRIES makes a separate function for each of several sizes of the model. STATES pairs an input
# with an output: the value of the input is that of the output in the previous run.
#
# With a GPU as the TARGET (sm_80) the source is NAME.cu, for which the project has to
# enable the language CUDA. With the variable INGOT_EMULATED_GPU it is compiled as C++
# instead, with a GPU that is emulated within the program.
#
# LANGUAGE C writes NAME.c, as C11, in place of NAME.cpp; only the targets `generic` and `cortex-*`
# support it.
#
# The target property INGOT_OUTPUT_DIR is the folder of NAME.cpp and NAME.h.
#
# ingot_add_model_test(NAME MODEL model.onnx DATA dir ...)
#
# makes NAME a program that runs the model on the data sets in a folder (test_data_set_*, in
# ONNX's format) on the target machine, and compares the results. Other arguments are as
# above. On a bare-metal machine, link it with the start-up code and define INGOT_TEST_PRINT
# and, if needed, INGOT_TEST_MAIN (see ingot_test.h).

function(ingot_add_model name)
  _ingot_generate(${name} outputs directory ${ARGN})
  list(FILTER outputs EXCLUDE REGEX "\\.weights$")
  cmake_parse_arguments(PARSE_ARGV 1 ARG "OBJECT" "" "")
  if(ARG_OBJECT)
    # An object library does not pass on object files among its sources; so the programs that use
    # the library link the weights object as an INTERFACE source.
    set(objects ${outputs})
    list(FILTER objects INCLUDE REGEX "\\.weights\\.o$")
    list(REMOVE_ITEM outputs ${objects})
    add_library(${name} OBJECT ${outputs})
    if(objects)
      add_custom_target(${name}_weights DEPENDS ${objects})
      add_dependencies(${name} ${name}_weights)
      target_sources(${name} INTERFACE "$<BUILD_INTERFACE:${objects}>")
    endif()
  else()
    add_library(${name} STATIC ${outputs})
  endif()
  _ingot_set_up(${name} "${directory}" ${ARGN})
  set_target_properties(${name} PROPERTIES PUBLIC_HEADER "${directory}/${name}.h")
  if(NOT CMAKE_VERSION VERSION_LESS 3.23)
    # The file set is private, since CMake does not export a target whose public file set is not
    # installed.
    target_sources(${name} PRIVATE FILE_SET HEADERS BASE_DIRS "${directory}" FILES "${directory}/${name}.h")
  endif()
endfunction()

function(ingot_add_model_test name)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "DATA" "")
  if(NOT ARG_DATA)
    message(FATAL_ERROR "ingot_add_model_test(${name}): which DATA?")
  endif()
  get_filename_component(data "${ARG_DATA}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_SOURCE_DIR}")
  _ingot_generate(${name} outputs directory ${ARG_UNPARSED_ARGUMENTS} TEST_DATA "${data}")
  add_executable(${name} ${outputs})
  _ingot_set_up(${name} "${directory}" ${ARGN})
endfunction()

# Sets the properties of targets that consist of generated sources.
function(_ingot_set_up name directory)
  cmake_parse_arguments(PARSE_ARGV 2 ARG "" "OPTIMIZE;TARGET" "")
  if(NOT ARG_TARGET)
    set(ARG_TARGET "${INGOT_TARGET}")
  endif()
  if(ARG_OPTIMIZE STREQUAL "size")
    set(level -Os)
  else()
    set(level -O2)
  endif()
  set(include include)
  if(CMAKE_INSTALL_INCLUDEDIR)
    set(include "${CMAKE_INSTALL_INCLUDEDIR}")
  endif()
  target_include_directories(${name} PUBLIC "$<BUILD_INTERFACE:${directory}>" "$<INSTALL_INTERFACE:${include}>")
  get_target_property(sources ${name} SOURCES)
  if(sources MATCHES "\\.cu(;|$)")
    _ingot_set_up_gpu(${name} "${directory}/${name}.cu" "${ARG_TARGET}")
  endif()
  target_compile_features(${name} PUBLIC cxx_std_17)
  # Generated sources are always optimized, also in debug builds: an unoptimized network is too slow
  # to be useful.
  target_compile_options(${name} PRIVATE
    $<$<COMPILE_LANG_AND_ID:CXX,GNU,Clang,AppleClang>:${level} -fno-exceptions -fno-rtti>
    # For projects that set -ffast-math: clang needs this flag, while pragmas in the generated
    # source disable all other effects of -ffast-math (with GCC, all effects).
    $<$<COMPILE_LANG_AND_ID:CXX,Clang,AppleClang>:-fno-finite-math-only>)
  set_target_properties(${name} PROPERTIES INGOT_OUTPUT_DIR "${directory}")
  # Position-independent code is for loaders, which bare-metal programs do not have.
  if(NOT CMAKE_SYSTEM_NAME STREQUAL "Generic")
    set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  endif()
endfunction()

# Sets the compiler of a model for the GPU `target`: nvcc, or the C++ compiler with an
# emulation.
function(_ingot_set_up_gpu name source target)
  if(INGOT_EMULATED_GPU)
    set_source_files_properties("${source}" PROPERTIES LANGUAGE CXX COMPILE_OPTIONS "-xc++")
    target_include_directories(${name} BEFORE PRIVATE "${INGOT_EMULATION_DIR}")
    return()
  endif()
  get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
  if(NOT "CUDA" IN_LIST languages)
    message(FATAL_ERROR "${name}: ${target} is a GPU: enable_language(CUDA), or set INGOT_EMULATED_GPU")
  endif()
  string(REGEX REPLACE "^sm_" "" architecture "${target}")
  set_target_properties(${name} PROPERTIES CUDA_ARCHITECTURES "${architecture}-real" CUDA_STANDARD 17)
endfunction()

# Adds the command that compiles a model; returns the files that it writes and
# their folder.
function(_ingot_generate name outputs_variable directory_variable)
  cmake_parse_arguments(PARSE_ARGV 3 ARG "OBJECT"
    "MODEL;TARGET;LANGUAGE;WEIGHTS;OPTIMIZE;MAX_RAM;MAX_FLASH;ARENA_SECTION;TEST_DATA;QUANTIZE;CALIBRATION;MAX_LOSS;LABELS" "DIMS;ENTRIES;STATES;OPTIONS;DEPENDS")
  if(ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "${name}: unknown arguments: ${ARG_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT ARG_MODEL)
    message(FATAL_ERROR "${name}: which MODEL?")
  endif()
  get_filename_component(model "${ARG_MODEL}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_SOURCE_DIR}")
  get_source_file_property(generated "${model}" GENERATED)
  if(NOT generated AND (NOT EXISTS "${model}" OR IS_DIRECTORY "${model}"))
    message(FATAL_ERROR "${name}: there is no model ${model}. If a step of the build makes it:\n"
      "  set_source_files_properties(\"${model}\" PROPERTIES GENERATED TRUE)")
  endif()
  if(NOT ARG_TARGET AND INGOT_TARGET)
    set(ARG_TARGET "${INGOT_TARGET}")
  elseif(NOT ARG_TARGET)
    set(ARG_TARGET native)
  endif()
  if(CMAKE_CROSSCOMPILING AND ARG_TARGET MATCHES "(^|,)native(,|$)")
    _ingot_cross_target(${name} cross)
    string(REGEX REPLACE "(^|,)native(,|$)" "\\1${cross}\\2" ARG_TARGET "${ARG_TARGET}")
  endif()
  if(NOT ARG_WEIGHTS)
    set(ARG_WEIGHTS object)
    if(EXISTS "${model}")
      file(SIZE "${model}" bytes)
      if(bytes LESS 1000000)
        set(ARG_WEIGHTS source)
      endif()
    endif()
  elseif(NOT ARG_WEIGHTS MATCHES "^(source|object|file)$")
    message(FATAL_ERROR "${name}: WEIGHTS is source, object or file")
  endif()

  set(directory "${CMAKE_CURRENT_BINARY_DIR}/${name}.ingot")
  file(MAKE_DIRECTORY "${directory}")
  set(extension cpp)
  if(ARG_TARGET MATCHES "^sm_")
    set(extension cu)
  endif()
  if(ARG_LANGUAGE STREQUAL "C")
    set(extension c)
  elseif(ARG_LANGUAGE AND NOT ARG_LANGUAGE STREQUAL "CXX")
    message(FATAL_ERROR "${name}: LANGUAGE is C or CXX")
  endif()
  set(outputs "${directory}/${name}.${extension}" "${directory}/${name}.h")
  if(ARG_WEIGHTS STREQUAL "object")
    list(APPEND outputs "${directory}/${name}.weights.o")
  elseif(ARG_WEIGHTS STREQUAL "file")
    list(APPEND outputs "${directory}/${name}.weights")
  endif()
  set(options --target "${ARG_TARGET}" --name "${name}" --weights "${ARG_WEIGHTS}")
  if(ARG_QUANTIZE)
    if(NOT ARG_CALIBRATION)
      message(FATAL_ERROR "${name}: QUANTIZE needs CALIBRATION with samples, or CALIBRATION none")
    endif()
    set(samples none)
    if(NOT ARG_CALIBRATION STREQUAL "none")
      get_filename_component(samples "${ARG_CALIBRATION}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_SOURCE_DIR}")
      if(IS_DIRECTORY "${samples}")
        file(GLOB_RECURSE files CONFIGURE_DEPENDS "${samples}/*.pb" "${samples}/*.npy")
        list(APPEND ARG_DEPENDS ${files})
      else()
        list(APPEND ARG_DEPENDS "${samples}")
      endif()
    endif()
    list(APPEND options --quantize "${ARG_QUANTIZE}" --calibrate "${samples}")
    if(ARG_LABELS)
      get_filename_component(labels "${ARG_LABELS}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_SOURCE_DIR}")
      list(APPEND options --labels "${labels}")
      list(APPEND ARG_DEPENDS "${labels}")
    endif()
  elseif(ARG_CALIBRATION OR ARG_MAX_LOSS OR ARG_LABELS)
    message(FATAL_ERROR "${name}: CALIBRATION, MAX_LOSS and LABELS go with QUANTIZE")
  endif()
  foreach(option OPTIMIZE MAX_RAM MAX_FLASH ARENA_SECTION MAX_LOSS)
    if(ARG_${option})
      string(TOLOWER "--${option}" word)
      string(REPLACE "_" "-" word "${word}")
      list(APPEND options "${word}" "${ARG_${option}}")
    endif()
  endforeach()
  # Ingot measures code and stack for MAX_RAM and MAX_FLASH with this project's compiler.
  if((ARG_MAX_RAM OR ARG_MAX_FLASH) AND CMAKE_CXX_COMPILER_ID MATCHES "GNU|Clang")
    set(compiler "${CMAKE_CXX_COMPILER} ${CMAKE_CXX_FLAGS}")
    if(CMAKE_CXX_COMPILER_TARGET)
      string(APPEND compiler " --target=${CMAKE_CXX_COMPILER_TARGET}")
    endif()
    if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
      string(APPEND compiler " -fno-finite-math-only")
    endif()
    list(APPEND options --cxx "${compiler}")
  endif()
  set(data "")
  if(ARG_TEST_DATA)
    list(APPEND options --emit-test "${ARG_TEST_DATA}")
    list(APPEND outputs "${directory}/${name}_test.cpp")
    file(GLOB_RECURSE data CONFIGURE_DEPENDS "${ARG_TEST_DATA}/*.pb")
  endif()
  foreach(dim IN LISTS ARG_DIMS)
    list(APPEND options --dim "${dim}")
  endforeach()
  foreach(entry IN LISTS ARG_ENTRIES)
    list(APPEND options --entry "${entry}")
  endforeach()
  foreach(state IN LISTS ARG_STATES)
    list(APPEND options --state "${state}")
  endforeach()

  add_custom_command(OUTPUT ${outputs}
    COMMAND Ingot::ingot "${model}" -o "${directory}/${name}.${extension}" ${options} ${ARG_OPTIONS}
    DEPENDS "${model}" ${ARG_DEPENDS} ${data} $<TARGET_FILE:Ingot::ingot>
    COMMENT "Compiling ${ARG_MODEL} to ${name}.${extension} (${ARG_TARGET})"
    VERBATIM)

  set(${outputs_variable} ${outputs} PARENT_SCOPE)
  set(${directory_variable} "${directory}" PARENT_SCOPE)
endfunction()

# Returns the Ingot target for the machine of a cross build, or stops with an error that says how to
# set TARGET.
function(_ingot_cross_target name variable)
  string(TOLOWER "${CMAKE_SYSTEM_PROCESSOR}" processor)
  string(TOUPPER "${CMAKE_BUILD_TYPE}" type)
  get_directory_property(options COMPILE_OPTIONS)
  string(JOIN " " flags ${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${type}} ${options})
  set(bare OFF)
  if(CMAKE_SYSTEM_NAME MATCHES "^Generic")
    set(bare ON)
  endif()
  set(target "")
  if(processor MATCHES "^(aarch64|arm64|armv8-?a)$")
    set(target armv8-a)
  elseif(processor MATCHES "^(x86_64|amd64|x64)$")
    set(target x86-64-v2)
    if(flags MATCHES "-march=(x86-64-v[234])( |$)")
      set(target "${CMAKE_MATCH_1}")
    endif()
  elseif(processor MATCHES "^(arm|armhf|armv7.*|armv8l)$" AND NOT bare)
    set(target armv7-a)
  elseif(bare AND flags MATCHES "-mcpu=(cortex-m[0-9a-z]+)( |$)")
    set(target "${CMAKE_MATCH_1}")
  elseif(bare AND processor MATCHES "^cortex-m[0-9a-z]+$")
    set(target "${processor}")
  endif()
  get_target_property(program Ingot::ingot IMPORTED_LOCATION)
  execute_process(COMMAND "${program}" targets OUTPUT_VARIABLE known ERROR_QUIET)
  # `ingot targets` lists the targets, then an empty line, then the cores.
  string(REGEX REPLACE "\n\n.*" "" known "${known}")
  string(REGEX MATCHALL "(^|\n)[^ \n]+" names "${known}")
  list(TRANSFORM names STRIP)
  if(NOT target OR (names AND NOT target IN_LIST names))
    if(target)
      set(machine "the core ${target}")
    else()
      set(machine "CMAKE_SYSTEM_PROCESSOR `${CMAKE_SYSTEM_PROCESSOR}` of ${CMAKE_SYSTEM_NAME}")
    endif()
    if(bare AND processor MATCHES "^(arm|cortex|thumb)")
      list(FILTER names INCLUDE REGEX "^cortex-")
    endif()
    list(JOIN names ", " names)
    message(FATAL_ERROR "${name}: this is a cross build, and Ingot knows no target for ${machine}. "
      "Name one with TARGET or -DINGOT_TARGET=...: ${names}, or `generic`, which any machine runs")
  endif()
  message(STATUS "${name}: compiled for ${target}; INGOT_TARGET chooses another target")
  set(${variable} "${target}" PARENT_SCOPE)
endfunction()
