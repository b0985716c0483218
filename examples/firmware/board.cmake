# The emulated boards: start-up code, and functions that add programs. For a CMake project that was
# configured with Ingot's toolchain file for the core and has found Ingot.

set(board_of_cortex-m4 mps2-an386)
set(board_of_cortex-m55 mps3-an547)
set(board ${board_of_${INGOT_TARGET}})
if(NOT board)
  message(FATAL_ERROR "There is a board here for cortex-m4 and cortex-m55, not for `${INGOT_TARGET}`")
endif()
# The timer of each board, and the QEMU option with which one timer tick is a fixed number of
# instructions.
set(timer_of_mps2-an386 BOARD_TIMER=0x40000000u)
set(timer_of_mps3-an547 BOARD_SYSTEM_COUNTER=0x58100000u)
set(counting_of_mps2-an386 -icount shift=6)
set(counting_of_mps3-an547 -icount shift=5)
set(emulator qemu-system-arm -M ${board} -nographic -monitor none -serial none
  -semihosting-config enable=on,target=native)

set(board_folder ${CMAKE_CURRENT_LIST_DIR})
add_library(board STATIC ${board_folder}/start.c ${board_folder}/semihosting.c ${board_folder}/clock.c)
target_include_directories(board PUBLIC ${board_folder})
target_compile_definitions(board PRIVATE ${timer_of_${board}})
# -ffreestanding: otherwise the compiler replaces the loop in memcpy by a call of memcpy.
target_compile_options(board PRIVATE -ffreestanding -Wall -Wextra -Wpedantic -Os)
target_link_options(board PUBLIC -nostdlib -T ${board_folder}/boards/${board}.ld
  -L ${board_folder}/boards -Wl,--gc-sections -Wl,-z,noexecstack)

# Links program NAME with the board's code into NAME.elf and adds the target run-NAME, which runs it
# in QEMU. Further arguments are passed to QEMU.
function(make_image name)
  target_link_libraries(${name} PRIVATE board gcc)
  set_target_properties(${name} PROPERTIES SUFFIX .elf)
  add_custom_target(run-${name} COMMAND ${emulator} ${ARGN} -kernel $<TARGET_FILE:${name}>
    DEPENDS ${name} USES_TERMINAL VERBATIM)
endfunction()

# add_firmware(NAME SOURCES... MODELS... [EMULATOR OPTIONS...]): adds a program that uses compiled
# models.
function(add_firmware name)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "" "SOURCES;MODELS;EMULATOR")
  add_executable(${name} ${ARG_SOURCES})
  target_compile_options(${name} PRIVATE
    $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -fno-exceptions -fno-rtti -fno-threadsafe-statics -O2>)
  target_link_libraries(${name} PRIVATE ${ARG_MODELS})
  make_image(${name} ${ARG_EMULATOR})
endfunction()
