# One installation and one consumer; see CMakeLists.txt beside it for the variables.
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  message("${output}")
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "failed (${result}): ${ARGN}")
  endif()
endfunction()

file(REMOVE_RECURSE ${WORK})
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix --component library)
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix --component dev)
# The installed tree must not depend on where it was installed.
file(RENAME ${WORK}/prefix ${WORK}/moved)

if(KIND STREQUAL pkgconfig)
  set(ENV{PKG_CONFIG_PATH} ${WORK}/moved/${LIBDIR}/pkgconfig)
  execute_process(COMMAND pkg-config --cflags --libs tsdb OUTPUT_VARIABLE flags RESULT_VARIABLE result
    OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "pkg-config does not find tsdb in ${WORK}/moved/${LIBDIR}/pkgconfig")
  endif()
  separate_arguments(flags UNIX_COMMAND "${flags}")
  file(MAKE_DIRECTORY ${WORK}/build)
  separate_arguments(cxx_flags UNIX_COMMAND "${CXX_FLAGS}")
  run(${CXX} -std=c++20 ${cxx_flags} ${CONSUMER}/main.cc -o ${WORK}/build/consumer ${flags}
    -Wl,-rpath,${WORK}/moved/${LIBDIR})
else()
  run(${CMAKE_COMMAND} -S ${CONSUMER} -B ${WORK}/build -G Ninja -DCMAKE_PREFIX_PATH=${WORK}/moved
    -DCMAKE_CXX_COMPILER=${CXX} -DCMAKE_C_COMPILER=${CC} -DCMAKE_CXX_FLAGS=${CXX_FLAGS} -DTSDB_KIND=${KIND})
  run(${CMAKE_COMMAND} --build ${WORK}/build)
endif()

# Twice: the second run finds what the first one stored.
run(${WORK}/build/consumer ${WORK}/database 1)
run(${WORK}/build/consumer ${WORK}/database 2)
