# Creates the Python environment in the build folder. Its onnx wheel contains
# the C++ sources of the onnx library, which the importer is built with; tests
# compare with its ONNX Runtime. The versions are pinned in requirements.txt;
# the environment is created again when its copy of requirements.txt differs.
set(INGOT_PYTHON "${INGOT_VENV}/bin/python3")
set(requirements "${PROJECT_SOURCE_DIR}/compiler/cmake/requirements.txt")

file(GLOB onnx_sources "${INGOT_VENV}/lib/python3*/site-packages/onnx/checker.cc")
set(installed "")
if(EXISTS "${INGOT_VENV}/requirements.txt")
  file(READ "${INGOT_VENV}/requirements.txt" installed)
endif()
file(READ "${requirements}" wanted)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${requirements}")
if(NOT onnx_sources OR NOT installed STREQUAL wanted)
  message(NOTICE "Making the Python environment ${INGOT_VENV}")
  find_program(INGOT_SYSTEM_PYTHON NAMES python3 REQUIRED)
  execute_process(COMMAND "${INGOT_SYSTEM_PYTHON}" -m venv "${INGOT_VENV}"
    RESULT_VARIABLE failed)
  if(NOT failed)
    execute_process(COMMAND "${INGOT_PYTHON}" -m pip install --quiet
      --disable-pip-version-check -r "${requirements}" RESULT_VARIABLE failed)
  endif()
  if(failed)
    message(FATAL_ERROR "Cannot make ${INGOT_VENV}: `python3 -m venv` and `pip install` must work")
  endif()
  configure_file("${requirements}" "${INGOT_VENV}/requirements.txt" COPYONLY)
  file(GLOB onnx_sources "${INGOT_VENV}/lib/python3*/site-packages/onnx/checker.cc")
endif()
get_filename_component(site_packages "${onnx_sources}/../.." ABSOLUTE)
set(INGOT_ONNX_SOURCE_DIR "${site_packages}" CACHE PATH
  "Folder that holds onnx/ with the C++ sources of the onnx wheel")
