# SPDX-License-Identifier: Apache-2.0
# The build's vocabulary: one function per kind of target, so that flags,
# include folders and link rules are written once.

set(DLC_WARNINGS -Wall -Wextra -Wno-unused-parameter)

# Flags of our own code; the runtime half uses nothing of LLVM's flags.
add_library(dlc_flags INTERFACE)
target_compile_options(dlc_flags INTERFACE ${DLC_WARNINGS})
# g++ 12 is wrong about most variables that it finds uninitialized and copies
# that it finds overlapping (LLVM's build turns the first off as well).
target_compile_options(dlc_flags INTERFACE
  "$<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized;-Wno-restrict>")
if(DLC_SANITIZE)
  add_compile_options(-fsanitize=${DLC_SANITIZE} -fno-omit-frame-pointer
                      -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${DLC_SANITIZE})
endif()

# dlc_add_runtime_library(NAME SRC... [DEPENDS T...] [LINK LIB...])
# A static library of the runtime half: plain C++20, no LLVM, no exceptions.
function(dlc_add_runtime_library name)
  dlc_add_library(${name} ${ARGN})
  target_compile_options(${name} PRIVATE -fno-exceptions -fvisibility=hidden
                                         -fvisibility-inlines-hidden)
endfunction()

# dlc_add_library(NAME SRC... [DEPENDS T...] [LINK LIB...])
# A static library of plain C++ outside the runtime (lib/Planning).
function(dlc_add_library name)
  cmake_parse_arguments(ARG "" "" "DEPENDS;LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE dlc_flags PUBLIC ${ARG_LINK})
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
endfunction()

function(dlc_use_mlir name)
  target_include_directories(${name} SYSTEM PUBLIC ${MLIR_INCLUDE_DIRS}
                                                   ${LLVM_INCLUDE_DIRS})
  target_compile_definitions(${name} PUBLIC ${LLVM_DEFINITIONS_LIST})
  target_compile_options(${name} PRIVATE -fno-exceptions)
  target_link_libraries(${name} PUBLIC MLIR LLVM)
endfunction()

# Three quarters of the time to compile a file on MLIR is MLIR's headers: they
# are parsed once. A file still includes what it uses; to see whether it does,
# configure with CMAKE_DISABLE_PRECOMPILE_HEADERS.
function(dlc_precompile_mlir_headers)
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/mlir_headers.cpp CONTENT "")
  dlc_add_library(dlc_mlir_headers ${CMAKE_BINARY_DIR}/mlir_headers.cpp)
  dlc_use_mlir(dlc_mlir_headers)
  # ccache compares contents, and timestamps would differ.
  target_compile_options(dlc_mlir_headers PRIVATE
                         "SHELL:-Xclang -fno-pch-timestamp")
  set(headers Dialect/Affine/IR/AffineOps.h Dialect/Arith/IR/Arith.h
      Dialect/ControlFlow/IR/ControlFlow.h Dialect/Func/IR/FuncOps.h
      Dialect/LLVMIR/LLVMDialect.h Dialect/Linalg/IR/Linalg.h
      Dialect/Math/IR/Math.h Dialect/MemRef/IR/MemRef.h Dialect/SCF/IR/SCF.h
      Dialect/Vector/IR/VectorOps.h IR/Matchers.h IR/Remarks.h
      Pass/PassManager.h Transforms/DialectConversion.h
      Transforms/RegionUtils.h)
  list(TRANSFORM headers REPLACE "(.+)" "<mlir/\\1>")
  target_precompile_headers(dlc_mlir_headers PRIVATE ${headers})
endfunction()

# dlc_use_mlir_headers(NAME)
# Takes MLIR's headers as they were parsed once, which asks for the flags that
# they were parsed with.
function(dlc_use_mlir_headers name)
  target_compile_options(${name} PRIVATE -fno-exceptions -fPIC)
  target_precompile_headers(${name} REUSE_FROM dlc_mlir_headers)
endfunction()

# dlc_add_compiler_library(NAME SRC... [DEPENDS T...] [LINK LIB...])
# A static library of the compiler half, on MLIR: RTTI as LLVM was built, no
# exceptions. MLIR itself comes from the one shared library.
function(dlc_add_compiler_library name)
  dlc_add_library(${name} ${ARGN})
  dlc_use_mlir(${name})
  dlc_use_mlir_headers(${name})
  add_dependencies(${name} dlc_tablegen)
endfunction()

# dlc_install_tool(NAME COMPONENT)
# Installs a program so that it finds LLVM where the build found it.
function(dlc_install_tool name component)
  if(component STREQUAL Compiler)
    set_target_properties(${name} PROPERTIES
                          INSTALL_RPATH "${LLVM_LIBRARY_DIR}")
  endif()
  install(TARGETS ${name} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR}
          COMPONENT ${component})
endfunction()

# dlc_add_mlir_tool(NAME SRC... LINK LIB...)
# A program around one of MLIR's main functions, which are in libMLIR.so.
function(dlc_add_mlir_tool name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  dlc_use_mlir(${name})
  target_link_libraries(${name} PRIVATE dlc_flags ${ARG_LINK})
  dlc_install_tool(${name} Compiler)
endfunction()

# GoogleTest's headers and those that every test needs, parsed once.
function(dlc_precompile_test_headers)
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/test_headers.cpp CONTENT "")
  dlc_add_library(dlc_test_headers ${CMAKE_BINARY_DIR}/test_headers.cpp
                  LINK GTest::gtest)
  target_compile_options(dlc_test_headers PRIVATE -fPIE
    "$<$<CXX_COMPILER_ID:Clang>:SHELL:-Xclang -fno-pch-timestamp>")
  target_precompile_headers(dlc_test_headers PRIVATE <gtest/gtest.h>
    <algorithm> <atomic> <filesystem> <random> <thread>)
endfunction()

# dlc_add_test(NAME [MLIR] SRC... LINK LIB...)
# A GoogleTest program that ctest runs; MLIR says that it includes MLIR.
function(dlc_add_test name)
  cmake_parse_arguments(ARG "MLIR" "" "LINK" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE dlc_flags ${ARG_LINK}
                                        GTest::gtest_main)
  if(ARG_MLIR)
    dlc_use_mlir_headers(${name})
  else()
    target_compile_options(${name} PRIVATE -fPIE)
    target_precompile_headers(${name} REUSE_FROM dlc_test_headers)
  endif()
  add_test(NAME ${name} COMMAND ${name})
endfunction()

# dlc_mark_threaded(TEST... [TARGETS T...])
# Tests of what several threads share: those that ThreadSanitizer is for. They
# have the label `threads` in ctest, and their programs (of the same names
# without TARGETS) are the target `threaded-tests`.
function(dlc_mark_threaded)
  cmake_parse_arguments(ARG "" "" "TARGETS" ${ARGN})
  if(NOT TARGET threaded-tests)
    add_custom_target(threaded-tests)
  endif()
  if(NOT ARG_TARGETS)
    set(ARG_TARGETS ${ARG_UNPARSED_ARGUMENTS})
  endif()
  add_dependencies(threaded-tests ${ARG_TARGETS})
  set_tests_properties(${ARG_UNPARSED_ARGUMENTS} PROPERTIES LABELS threads)
endfunction()

# dlc_add_fuzzer(NAME SRC... LINK LIB... [SEEDS DIR])
# A libFuzzer program, part of the target `fuzzers`; without DLC_ENABLE_FUZZERS
# nothing is built. The libraries it links by name count their branches for it,
# which every program on them then needs a sanitizer's runtime for
# (DLC_SANITIZE). tools/scripts/fuzz.sh starts it with the files of SEEDS.
function(dlc_add_fuzzer name)
  if(NOT DLC_ENABLE_FUZZERS)
    return()
  endif()
  cmake_parse_arguments(ARG "" "SEEDS" "LINK" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  if(NOT TARGET fuzzers)
    add_custom_target(fuzzers)
  endif()
  add_dependencies(fuzzers ${name})
  set(seeds "")
  if(ARG_SEEDS)
    cmake_path(ABSOLUTE_PATH ARG_SEEDS OUTPUT_VARIABLE seeds)
  endif()
  file(WRITE ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/${name}.seeds "${seeds}\n")
  target_compile_options(${name} PRIVATE -fsanitize=fuzzer)
  target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  target_link_libraries(${name} PRIVATE dlc_flags ${ARG_LINK})
  foreach(library IN LISTS ARG_LINK)
    target_compile_options(${library} PRIVATE -fsanitize=fuzzer-no-link)
    # They were precompiled without.
    set_target_properties(${library} PROPERTIES DISABLE_PRECOMPILE_HEADERS ON)
  endforeach()
endfunction()

# All headers that mlir-tblgen writes.
if(DLC_ENABLE_COMPILER AND NOT TARGET dlc_tablegen)
  add_custom_target(dlc_tablegen)
endif()

# dlc_add_dialect_tablegen(DIALECT_TD_STEM OPS_TD_STEM NAME)
# Generates <OPS>.{h,cpp}.inc and <DIALECT>.{h,cpp}.inc from <OPS>.td, which
# includes the dialect's definition, and the dialect's reference in docs/.
function(dlc_add_dialect_tablegen dialect ops name)
  set(LLVM_TARGET_DEFINITIONS ${ops}.td)
  set(flags -I${CMAKE_SOURCE_DIR}/include -I${MLIR_INCLUDE_DIRS})
  mlir_tablegen(${ops}.h.inc -gen-op-decls -dialect=${name} ${flags})
  mlir_tablegen(${ops}.cpp.inc -gen-op-defs -dialect=${name} ${flags})
  mlir_tablegen(${dialect}.h.inc -gen-dialect-decls -dialect=${name} ${flags})
  mlir_tablegen(${dialect}.cpp.inc -gen-dialect-defs -dialect=${name} ${flags})
  mlir_tablegen(${dialect}.md -gen-dialect-doc -dialect=${name} ${flags})
  add_public_tablegen_target(dlc_${name}_dialect_tablegen)
  add_dependencies(dlc_tablegen dlc_${name}_dialect_tablegen)
endfunction()

# dlc_add_pass_tablegen(FOLDER)
# Generates Passes.h.inc and Passes.md from this folder's Passes.td.
function(dlc_add_pass_tablegen name)
  set(LLVM_TARGET_DEFINITIONS Passes.td)
  set(flags -I${CMAKE_SOURCE_DIR}/include -I${MLIR_INCLUDE_DIRS})
  mlir_tablegen(Passes.h.inc -gen-pass-decls -name ${name} ${flags})
  mlir_tablegen(Passes.md -gen-pass-doc ${flags})
  add_public_tablegen_target(dlc_${name}_passes_tablegen)
  add_dependencies(dlc_tablegen dlc_${name}_passes_tablegen)
endfunction()
