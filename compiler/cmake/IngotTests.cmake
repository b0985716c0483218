# ingot_add_test(NAME quick|sample|full|all COMMAND command... [DEPENDS targets...]
#                [TIMEOUT seconds] [PROCESSORS n] [ENVIRONMENT X=y...])
#
# registers a ctest test. The label says which run it belongs to: `quick` (in
# every run), `sample` (with the quick ones, all together under a minute; a part
# of a test that is full), `full` (./dev test, and what CI runs) or `all`
# (./dev test --all: hours are allowed). What a test needs built is part of the
# target `ingot-tests`, and of `ingot-quick-tests` where it is quick.

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
