# ingot_add_test(NAME quick|sample|full|all COMMAND command... [DEPENDS targets...]
#                [TIMEOUT seconds] [PROCESSORS n] [ENVIRONMENT X=y...])
#
# registers a ctest test. The label tells which runs include the test: `quick`
# (every run), `sample` (only ./dev test --quick, which takes under a minute;
# the test executes a part of a full one), `full` (./dev test, and CI) or `all`
# (only ./dev test --all, which may take hours). The dependencies of a test
# become part of the target `ingot-tests`, or of `ingot-quick-tests` for quick
# and sample tests.

add_custom_target(ingot-quick-tests)
add_custom_target(ingot-tests)
add_dependencies(ingot-tests ingot-quick-tests)

function(ingot_add_test name label)
  cmake_parse_arguments(PARSE_ARGV 2 ARG "" "TIMEOUT;PROCESSORS" "COMMAND;DEPENDS;ENVIRONMENT")
  if(NOT label MATCHES "^(quick|sample|full|all)$")
    message(FATAL_ERROR "${name}: the label is quick, sample, full or all, not `${label}`")
  endif()
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 600)
  endif()
  if(NOT ARG_PROCESSORS)
    set(ARG_PROCESSORS 1)
  endif()
  add_test(NAME ${name} COMMAND ${ARG_COMMAND})
  set_tests_properties(${name} PROPERTIES LABELS ${label} TIMEOUT ${ARG_TIMEOUT}
    PROCESSORS ${ARG_PROCESSORS} SKIP_RETURN_CODE 77 ENVIRONMENT "${ARG_ENVIRONMENT}")
  if(ARG_DEPENDS)
    if(label MATCHES "^(quick|sample)$")
      add_dependencies(ingot-quick-tests ${ARG_DEPENDS})
    else()
      add_dependencies(ingot-tests ${ARG_DEPENDS})
    endif()
  endif()
endfunction()
