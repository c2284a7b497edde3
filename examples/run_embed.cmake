# Runs PROGRAM in the empty folder WORK and compares what it prints.
file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK})
execute_process(COMMAND ${PROGRAM} WORKING_DIRECTORY ${WORK} OUTPUT_VARIABLE output RESULT_VARIABLE result)
if(NOT result EQUAL 0 OR NOT output STREQUAL "temperature{room=\"hall\"} 21.5\n")
  message(FATAL_ERROR "exit ${result}, printed: ${output}")
endif()
