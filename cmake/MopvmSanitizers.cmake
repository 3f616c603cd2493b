# SPDX-License-Identifier: MIT
# Assertions, noise, sanitizers and coverage for the project's own targets.

# mopvm_instrument(<target>): applies MOPVM_ASSERTIONS, MOPVM_NOISE, MOPVM_SANITIZE and
# MOPVM_COVERAGE to the sources of <target> and, when it is linked, to that.
function(mopvm_instrument target)
  if(MOPVM_ASSERTIONS)
    target_compile_options(${target} PRIVATE -UNDEBUG)
    target_compile_definitions(${target} PRIVATE _GLIBCXX_ASSERTIONS)
  endif()

  # The definition must be the same wherever headers of src/ are seen; the option fills variables on
  # the stack.
  if(MOPVM_NOISE)
    target_compile_definitions(${target} PRIVATE MOPVM_NOISE)
    target_compile_options(${target} PRIVATE -ftrivial-auto-var-init=pattern)
  endif()

  if(MOPVM_SANITIZE)
    list(JOIN MOPVM_SANITIZE "," names)
    target_compile_options(${target} PRIVATE
      -fsanitize=${names}
      -fno-sanitize-recover=all
      -fno-omit-frame-pointer
    )
    target_link_options(${target} PRIVATE -fsanitize=${names})
  endif()

  if(MOPVM_COVERAGE)
    target_compile_options(${target} PRIVATE -fprofile-instr-generate -fcoverage-mapping)
    target_link_options(${target} PRIVATE -fprofile-instr-generate)
  endif()

  # The instrumentation of libFuzzer without its main: fuzz targets link that themselves.
  if(MOPVM_BUILD_FUZZERS)
    target_compile_options(${target} PRIVATE -fsanitize=fuzzer-no-link)
    target_link_options(${target} PRIVATE -fsanitize=fuzzer-no-link)
  endif()
endfunction()
