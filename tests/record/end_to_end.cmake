# The recorder end to end, without a GPU: programs on stand-ins for NVIDIA's libraries (tests/fake).
if(NOT FW_HAS_FAKE_CUDA)
  add_test(NAME record.left_out COMMAND sh -c
    "echo 'skipped: the tests of the recorder need the CUPTI headers of CUDA 13 (CUDA_HOME)'; exit 77")
  set_tests_properties(record.left_out PROPERTIES LABELS record SKIP_RETURN_CODE 77)
  return()
endif()

# Built with the project's own flags: a sanitized library can only be loaded into a program with the same sanitizer.
foreach(major 12 13)
  add_executable(record_program${major} program.c program_threads.c program_endings.c)
  target_link_libraries(record_program${major} PRIVATE fake_cudart${major} Threads::Threads ${CMAKE_DL_LIBS})
  target_include_directories(record_program${major} SYSTEM PRIVATE ${FW_CUDA13_INCLUDE})
endforeach()

# The same, linked with CUPTI: it profiles itself.
add_executable(record_profiler program.c program_threads.c program_endings.c program_profiler.c)
target_link_libraries(record_profiler PRIVATE fake_cudart13 fake_cupti13 Threads::Threads ${CMAKE_DL_LIBS})
target_include_directories(record_profiler SYSTEM PRIVATE ${FW_CUDA13_INCLUDE})

# A program of its own for each way in which calls get to CUPTI: bound at the start, bound when first called, dlsym.
foreach(way now lazy dlopen)
  add_executable(record_self_${way} self_profile.c self_profile_work.c)
  target_link_libraries(record_self_${way} PRIVATE fake_cudart13 Threads::Threads ${CMAKE_DL_LIBS})
  target_include_directories(record_self_${way} SYSTEM PRIVATE ${FW_CUDA13_INCLUDE})
endforeach()
foreach(way now lazy)
  target_link_libraries(record_self_${way} PRIVATE fake_cupti13)
  target_link_options(record_self_${way} PRIVATE -Wl,-z,${way})
  target_compile_definitions(record_self_${way} PRIVATE SELF_IS_LINKED)
endforeach()

add_library(record_floor MODULE floor.c)
target_link_libraries(record_floor PRIVATE fake_cupti13)
set_target_properties(record_floor PROPERTIES PREFIX "" C_VISIBILITY_PRESET default)
target_include_directories(record_floor SYSTEM PRIVATE ${FW_CUDA13_INCLUDE})

set(inject "")
if(TARGET fullwarp_inject)
  set(inject $<TARGET_FILE:fullwarp_inject>)
endif()
set(recorder "")
if(EXISTS ${PROJECT_SOURCE_DIR}/src/cli/cmd_record.c)
  set(recorder $<TARGET_FILE:fullwarp_cli>)
endif()

# Python needs the sanitizer's run-time loaded before a library built with it, which only GCC's address sanitizer allows.
set(preload "")
if(FW_SANITIZE MATCHES address AND CMAKE_C_COMPILER_ID STREQUAL GNU)
  execute_process(COMMAND ${CMAKE_C_COMPILER} -print-file-name=libasan.so
    OUTPUT_VARIABLE preload OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(NOT IS_ABSOLUTE "${preload}")
    set(preload "")
  endif()
endif()

# Every test_*.py is one test; 77 means that all of it was skipped.
file(GLOB scripts CONFIGURE_DEPENDS test_*.py)
foreach(script ${scripts})
  get_filename_component(name ${script} NAME_WE)
  string(REPLACE test_ "" name ${name})
  add_test(NAME record.${name} COMMAND ${Python3_EXECUTABLE} -B ${script})
  set_tests_properties(record.${name} PROPERTIES LABELS "record;thread" TIMEOUT 300 SKIP_RETURN_CODE 77 ENVIRONMENT
    "FW_PROGRAM=$<TARGET_FILE:record_program13>;FW_PROGRAM12=$<TARGET_FILE:record_program12>;FW_PROFILER=$<TARGET_FILE:record_profiler>;FW_SELF=$<TARGET_FILE_DIR:record_self_now>;FW_FLOOR=$<TARGET_FILE:record_floor>;FW_INJECT=${inject};FW_RECORDER=${recorder};FW_FAKE=$<TARGET_FILE_DIR:fake_cuda>;FW_SANITIZE=${FW_SANITIZE};FW_PRELOAD=${preload}")
endforeach()
# The longest first.
set_tests_properties(record.hostile record.python record.recorder record.kills PROPERTIES COST 25)
