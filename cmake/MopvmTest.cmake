# SPDX-License-Identifier: MIT
# How the project's tests are declared: one naming scheme, one label scheme.

# mopvm_executable(<name> SOURCES <file>… LIBRARIES <target>…): an executable of the project with
# its warnings and instrumentation, that may look inside the library.
function(mopvm_executable name)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "" "SOURCES;LIBRARIES")
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE mopvm::internal ${ARG_LIBRARIES})
  set_target_properties(${name} PROPERTIES CXX_EXTENSIONS OFF)
  mopvm_warnings(${name})
  mopvm_instrument(${name})
endfunction()

# mopvm_add_test(NAME <executable> KIND <kind> [LABELS <label>…] SOURCES <file>… [LIBRARIES <target>…])
#
# Builds a GoogleTest executable and adds each of its tests as `mopvm/<kind>/<suite>.<behaviour>`
# with the label <kind> and the further <label>s. Sources may include from tests/ and find the
# test data under MOPVM_TEST_DATA.
function(mopvm_add_test)
  cmake_parse_arguments(PARSE_ARGV 0 ARG "" "NAME;KIND" "LABELS;SOURCES;LIBRARIES")
  mopvm_executable(${ARG_NAME}
    SOURCES ${ARG_SOURCES}
    LIBRARIES GTest::gtest_main ${ARG_LIBRARIES}
  )
  # What is tested is optimised as users get it; the tests themselves only take longer to compile.
  target_compile_options(${ARG_NAME} PRIVATE $<$<CONFIG:Release>:-O1>)
  target_include_directories(${ARG_NAME} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  target_compile_definitions(${ARG_NAME} PRIVATE
    MOPVM_TEST_DATA="${PROJECT_SOURCE_DIR}/tests/data"
  )
  gtest_discover_tests(${ARG_NAME}
    TEST_PREFIX mopvm/${ARG_KIND}/
    PROPERTIES LABELS ${ARG_KIND}
    DISCOVERY_TIMEOUT 120
  )
  # The call above takes one label only; the list that it leaves behind takes more.
  if(ARG_LABELS)
    set(labels ${CMAKE_CURRENT_BINARY_DIR}/${ARG_NAME}_labels.cmake)
    file(CONFIGURE OUTPUT ${labels} @ONLY CONTENT
      [[set_tests_properties(${@ARG_NAME@_TESTS} PROPERTIES LABELS "@ARG_KIND@;@ARG_LABELS@")]]
    )
    set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${labels})
  endif()
endfunction()

# mopvm_add_command_test(NAME <suite>.<behaviour> KIND <kind> [LABELS <label>…] COMMAND <word>…)
#
# Adds a command as the test `mopvm/<kind>/<suite>.<behaviour>`; exit status 0 is success.
function(mopvm_add_command_test)
  cmake_parse_arguments(PARSE_ARGV 0 ARG "" "NAME;KIND" "LABELS;COMMAND")
  set(name mopvm/${ARG_KIND}/${ARG_NAME})
  add_test(NAME ${name} COMMAND ${ARG_COMMAND})
  set_tests_properties(${name} PROPERTIES LABELS "${ARG_KIND};${ARG_LABELS}")
endfunction()

# mopvm_add_fuzzer(NAME <subject> SOURCES <file>… [LIBRARIES <target>…])
#
# Builds `mopvm-fuzz-<subject>` and adds the test `mopvm/fuzz/<subject>.corpus`, which replays the
# files of corpus/<subject>. With MOPVM_BUILD_FUZZERS the executable is a libFuzzer one; otherwise
# replay.cpp has its main, and any compiler will do.
function(mopvm_add_fuzzer)
  cmake_parse_arguments(PARSE_ARGV 0 ARG "" "NAME" "SOURCES;LIBRARIES")
  set(target mopvm-fuzz-${ARG_NAME})
  if(MOPVM_BUILD_FUZZERS)
    mopvm_executable(${target} SOURCES ${ARG_SOURCES} LIBRARIES ${ARG_LIBRARIES})
    target_link_options(${target} PRIVATE -fsanitize=fuzzer)
    set(arguments -runs=0)
  else()
    mopvm_executable(${target} SOURCES ${ARG_SOURCES} replay.cpp LIBRARIES ${ARG_LIBRARIES})
    set(arguments "")
  endif()
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  mopvm_add_command_test(NAME ${ARG_NAME}.corpus KIND fuzz
    COMMAND ${target} ${arguments} ${CMAKE_CURRENT_SOURCE_DIR}/corpus/${ARG_NAME}
  )
endfunction()

if(MOPVM_BUILD_TESTS)
  find_package(GTest REQUIRED)
  include(GoogleTest)
endif()
