#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Bad input to the dlc tool gives one message, exit 1 or 2, and no file.

Each case runs dlc in a folder of its own, on a model of test/Frontend/ONNX, on
the committed digits network, or on bytes derived from them. A case fails when
the exit status differs, when standard error is not one message that names what
it should, when a file is left behind or changed, or when dlc hangs.
usage: bad_input.py DLC [FILTER]
"""

import os
import pathlib
import random
import resource
import shutil
import socket
import stat
import struct
import subprocess
import sys
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODELS = ROOT / "test/Frontend/ONNX/Inputs"
DIGITS = ROOT / "tools/examples/digits/digits.onnx"
BAD_INPUT, BAD_USAGE = 1, 2
# Under the sanitizers a compilation takes seconds.
TIMEOUT = 120

# What a message must never hold: IR of ours, or the trace of a crash.
FORBIDDEN = ["see current operation", "^bb0", "LLVM ERROR", "Stack dump",
             "PLEASE submit", "Assertion", "terminate called", "Sanitizer",
             "runtime error:", "internal: no reason"]  # fmt: skip


class Folder:
    """A case's working folder, what it holds, and what else dlc is given."""

    def __init__(self, path):
        self.path = pathlib.Path(path)
        self.stdout = subprocess.PIPE
        self.prepare = None  # Called in the process that becomes dlc.

    def write(self, name, data):
        if isinstance(data, str):
            data = data.encode()
        (self.path / name).write_bytes(data)
        return name

    def copy(self, source, name=None):
        name = name or source.name
        shutil.copyfile(source, self.path / name)
        return name

    def state(self):
        found = {}
        for path in sorted(self.path.rglob("*")):
            name = str(path.relative_to(self.path))
            kind = stat.S_IFMT(path.lstat().st_mode)
            data = path.read_bytes() if path.is_file() else None
            found[name] = (kind, data)
        return found


def npy(dtype, shape, data=None):
    """The bytes of a .npy file of version 1.0."""
    count = 1
    for dim in shape:
        count *= dim
    size = int(dtype[2:])
    dims = "".join(f"{dim}, " for dim in shape)
    head = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': ({dims}), }}"
    head += " " * (-(len(head) + 11) % 64) + "\n"
    body = bytes(count * size) if data is None else data
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + body


# name -> (function of the folder that gives the arguments, status, words)
CASES = {}


def case(name, status, *words):
    def add(function):
        assert name not in CASES, name
        CASES[name] = (function, status, words)
        return function

    return add


def compiling(model, status, *words, extra=()):
    """A case that compiles a committed model."""

    def arguments(folder):
        folder.copy(MODELS / "weights.bin")
        folder.copy(MODELS / f"{model}.onnx")
        return ["compile", f"{model}.onnx", "-o", "out.dlc", *extra]

    label = " ".join([model, *extra])
    CASES[f"compile {label}"] = (arguments, status, (model, *words))


# The models of the importer's tests, through the tool.
for MODEL, WORDS in {
    "empty": ["IR version"],
    "truncated": ["malformed protobuf"],
    "noise": ["malformed protobuf"],
    "old-ir": ["IR version 2"],
    "new-opset": ["opset 29"],
    "no-opset": ["opset import"],
    "other-domain": ["Binarizer"],
    "unknown-operator": ["unknown operator Frobnicate"],
    "removed-operator": ["Upsample was removed"],
    "too-early": ["Gelu does not exist"],
    "unknown-attribute": ["slope"],
    "wrong-attribute-kind": ["axis", "INT"],
    "missing-input": ["input 1 is missing"],
    "too-many-inputs": ["at most 1 inputs"],
    "too-many-outputs": ["at most 1 outputs"],
    "unknown-value": ["unknown value 'nobody'"],
    "unsorted": ["topological order"],
    "cycle": ["topological order"],
    "defined-twice": ["'y' is defined twice"],
    "duplicate-input": ["'x' is defined twice"],
    "wrong-rank": ["rank 3 or more, got 1"],
    "wrong-shapes": ["broadcast"],
    "unknown-rank": ["rank"],
    "output-type": ["'y'", "INT64"],
    "negative-dim": ["'x'", "-2"],
    "overflowing-dim": ["'x'", "2^47"],
    "initializer-size": ["expected 12 bytes", "got 8"],
    "initializer-dims": ["'w'", "-2"],
    "initializer-overflow": ["'w'", "64 bits"],
    "external-outside": ["'..'"],
    "function-cycle": ["calls itself"],
    "function-bomb": ["expand"],
    "strings": ["STRING"],
    "float8": ["FLOAT8E4M3FN"],
    "sequence-input": ["not a tensor"],
    "huge-splat": ["ConstantOfShape", "4503599627370496 bytes"],
    "default-size": ["'w'"],
    "two-opsets": ["13 and 17"],
    "function-opset": ["opset 999", "function 'f'"],
    "output-twice": ["distinct names", "'y'"],
    "external-itself": ["'w'", "the model itself"],
    "newline-name": ["two\\nlines\\x1B", "Frobnicate"],
}.items():
    compiling(MODEL, BAD_INPUT, *WORDS)
compiling("basic", BAD_INPUT, "'z'", extra=["--shape", "z=1x2"])
compiling("basic", BAD_INPUT, "'x'", "2 dims", extra=["--shape", "x=1"])
compiling("basic", BAD_INPUT, "'x' to be 3", extra=["--shape", "x=2x9"])
compiling("shapes", BAD_INPUT, "'x' to be 2", extra=["--shape", "x=7x3x4"])
compiling("symbol-twice", BAD_INPUT, "'N'", extra=["--shape", "x=2x3"])
compiling(
    "basic", BAD_INPUT, "'x'", "2^47",
    extra=["--shape", "x=9223372036854775807x3"])  # fmt: skip


def usage(name, words, *arguments):
    """A case of bad usage; `basic.onnx` and `out.dlc` may be named."""

    def prepare(folder):
        folder.copy(MODELS / "basic.onnx")
        return list(arguments)

    CASES[f"usage {name}"] = (prepare, BAD_USAGE, words)


usage("two shapes of one input", ["'x'", "two"], "compile", "basic.onnx", "-o",
      "out.dlc", "--shape", "x=2x3", "--shape", "x=4x3")  # fmt: skip
usage("no command", ["expected a command", "dlc --help", "got none"])
usage("unknown command", ["expected a command", "'frob'"], "frob")
usage("unknown option first", ["expected a command", "'--frob'"], "--frob")
usage("no model", ["'model'", "compile --help", "got none"], "compile", "-o",
      "out.dlc")  # fmt: skip
usage("two models", ["no further argument", "'b.onnx'"], "run", "a.onnx",
      "b.onnx")  # fmt: skip
usage("no output", ["-o"], "compile", "basic.onnx")
usage("no value", ["expected a value for --output", "got none"], "compile",
      "basic.onnx", "-o")  # fmt: skip
usage("twice", ["expected --output once, got it 2 times"], "compile",
      "basic.onnx", "-o", "a", "-o", "b")  # fmt: skip
usage("flag", ["expected an option of dlc compile", "'--frob'"], "compile", "basic.onnx",
      "-o", "out.dlc", "--frob")  # fmt: skip
usage("value of a flag", ["expected no value for --json"], "bench",
      "basic.onnx", "--json=perhaps")  # fmt: skip
usage("constants of an artifact", ["--constants", "--emit"], "compile",
      "basic.onnx", "-o", "out.dlc", "--constants")  # fmt: skip
for COMMAND, OPTION, VALUE, WORDS in [
    ("run", "--threads", "20000", "a whole number from 0 to 1024"),
    ("compile", "--threads", "1025", "a whole number from 0 to 1024"),
    ("bench", "--threads", "-1", "a whole number from 0 to 1024"),
    ("run", "--threads", "1x", "a whole number from 0 to 1024"),
    ("run", "--threads", "", "a whole number from 0 to 1024"),
    ("run", "--seed", "99999999999999999999", "to 18446744073709551615"),
    ("run", "--seed", "-1", "to 18446744073709551615"),
    ("bench", "--seconds", "nan", "a number above 0"),
    ("bench", "--seconds", "0", "a number above 0"),
    ("bench", "--seconds", "inf", "a number above 0"),
    ("bench", "--warmup", "2.5", "a whole number from 0 to 4294967295"),
    ("explain", "--runs", "0", "a whole number from 1 to 4294967295"),
    ("plan-memory", "--capacity", "0", "from 1 to 9223372036854775807"),
    ("plan-memory", "--capacity", "99999999999999999999", "from 1 to 9223"),
    ("plan-memory", "--steps", "-5", "from 0 to 9223372036854775807"),
    ("test", "--timeout", "-1", "a number above 0"),
    ("test", "--jobs", "0", "a whole number from 1 to 4294967295"),
    ("test", "--rtol", "-1", "a number of at least 0"),
    ("test", "--atol", "nan", "a number of at least 0"),
]:
    usage(f"{COMMAND} {OPTION} {VALUE}", [WORDS, OPTION, f"got '{VALUE}'"],
          COMMAND, "basic.onnx", OPTION, VALUE)  # fmt: skip
usage("emit", ["--emit", "'frob'"], "compile", "basic.onnx", "--emit=frob")
usage("target", ["x86-64-v3", "frob"], "compile", "basic.onnx", "-o",
      "out.dlc", "--target", "frob")  # fmt: skip
usage("target twice", ["once", "x86-64-v3"], "compile", "basic.onnx", "-o",
      "out.dlc", "--target", "x86-64-v3,x86-64-v3")  # fmt: skip
usage("precision", ["fp8"], "compile", "basic.onnx", "-o", "out.dlc",
      "--precision", "fp8")  # fmt: skip
usage("device", ["cuda:0"], "run", "basic.onnx", "--device", "cuda:0")
for SHAPE in ["x", "=1x2", "x=1xx2", "x=1x2x", "x=-1x3", "x=ax3",
              "x=99999999999999999999x3"]:  # fmt: skip
    usage(f"shape {SHAPE}", ["shape"], "compile", "basic.onnx", "-o",
          "out.dlc", "--shape", SHAPE)  # fmt: skip


# Damaged models.
# Whatever is not there is named once: see run().
for NAME in ("absent.onnx", "absent-symbol.json", "absent.mlir", "absent.dlc"):
    for COMMAND in (["compile", NAME, "-o", "out.dlc"], ["run", NAME, "--random"],
                    ["bench", NAME], ["explain", NAME], ["import-report", NAME],
                    ["export", NAME, "-o", "out.onnx"], ["dump", NAME]):

        @case(" ".join(COMMAND), BAD_INPUT, NAME, "No such file")
        def absent(folder, command=COMMAND):
            return command


for OPTION in (["--params", "absent.params"], ["--inputs", "absent.npz"],
               ["--input", "x=absent.npy"]):  # fmt: skip

    @case("run " + " ".join(OPTION), BAD_INPUT, "absent", "No such file")
    def absent_option(folder, option=OPTION):
        folder.copy(MODELS / "basic.onnx")
        return ["run", "basic.onnx", *option]


@case("model is a folder", BAD_INPUT, "folder.onnx")
def model_folder(folder):
    (folder.path / "folder.onnx").mkdir()
    return ["compile", "folder.onnx", "-o", "out.dlc"]


for SHARE in [0.001, 0.1, 0.5, 0.9, 0.999]:

    @case(f"cut to {SHARE}", BAD_INPUT, "cut.onnx")
    def cut(folder, share=SHARE):
        data = DIGITS.read_bytes()
        folder.write("cut.onnx", data[: int(len(data) * share)])
        return ["compile", "cut.onnx", "-o", "out.dlc"]


for SEED in range(6):

    @case(f"random bytes {SEED}", BAD_INPUT, "random.onnx")
    def noise(folder, seed=SEED):
        data = random.Random(seed).randbytes(1 << (2 * seed))
        folder.write("random.onnx", data)
        return ["compile", "random.onnx", "-o", "out.dlc"]


# External data: external.onnx reads weights.bin beside it.
def external(name, *words):
    def add(function):
        def arguments(folder):
            folder.copy(MODELS / "external.onnx")
            function(folder)
            return ["compile", "external.onnx", "-o", "out.dlc"]

        CASES[f"external {name}"] = (
            arguments,
            BAD_INPUT,
            ("external.onnx", "weights.bin", *words),
        )
        return function

    return add


@external("absent")
def external_absent(folder):
    pass


@external("symlink")
def external_symlink(folder):
    folder.copy(MODELS / "weights.bin", "real.bin")
    (folder.path / "weights.bin").symlink_to("real.bin")


@external("hard link")
def external_hard_link(folder):
    folder.copy(MODELS / "weights.bin", "real.bin")
    os.link(folder.path / "real.bin", folder.path / "weights.bin")


@external("past the end")
def external_short(folder):
    folder.write("weights.bin", b"\0" * 3)


@external("folder")
def external_folder(folder):
    (folder.path / "weights.bin").mkdir()


@external("pipe")
def external_pipe(folder):
    os.mkfifo(folder.path / "weights.bin")


# Outputs that cannot be written, for the artifact and for text.
for EMIT in ["artifact", "graph"]:

    @case(f"output folder is missing, {EMIT}", BAD_INPUT, "no/out", "No such")
    def output_missing(folder, emit=EMIT):
        folder.copy(MODELS / "basic.onnx")
        return ["compile", "basic.onnx", f"--emit={emit}", "-o", "no/out"]

    @case(f"output is a folder, {EMIT}", BAD_INPUT, "out")
    def output_folder(folder, emit=EMIT):
        folder.copy(MODELS / "basic.onnx")
        (folder.path / "out").mkdir()
        return ["compile", "basic.onnx", f"--emit={emit}", "-o", "out"]

    @case(f"output below a file, {EMIT}", BAD_INPUT, "basic.onnx/out")
    def output_below(folder, emit=EMIT):
        folder.copy(MODELS / "basic.onnx")
        return ["compile", "basic.onnx", f"--emit={emit}", "-o", "basic.onnx/out"]

    # The superuser may write anywhere but to what the kernel guards.
    @case(f"output is read-only, {EMIT}", BAD_INPUT, "/proc/out")
    def output_read_only(folder, emit=EMIT):
        folder.copy(MODELS / "basic.onnx")
        return ["compile", "basic.onnx", f"--emit={emit}", "-o", "/proc/out"]

    @case(f"a good output survives, {EMIT}", BAD_INPUT, "cycle.onnx")
    def output_survives(folder, emit=EMIT):
        folder.copy(MODELS / "cycle.onnx")
        folder.write("out", "what was here")
        return ["compile", "cycle.onnx", f"--emit={emit}", "-o", "out"]


    # What is there is spared when it is not a regular file.
    @case(f"output is a pipe, {EMIT}", BAD_INPUT, "out", "found a pipe")
    def output_pipe(folder, emit=EMIT):
        folder.copy(MODELS / "basic.onnx")
        os.mkfifo(folder.path / "out")
        return ["compile", "basic.onnx", f"--emit={emit}", "-o", "out"]

    @case(f"output leads to a pipe, {EMIT}", BAD_INPUT, "out", "found a pipe")
    def output_to_pipe(folder, emit=EMIT):
        folder.copy(MODELS / "basic.onnx")
        os.mkfifo(folder.path / "pipe")
        (folder.path / "out").symlink_to("pipe")
        return ["compile", "basic.onnx", f"--emit={emit}", "-o", "out"]

    @case(f"output is a socket, {EMIT}", BAD_INPUT, "out", "found a socket")
    def output_socket(folder, emit=EMIT):
        folder.copy(MODELS / "basic.onnx")
        with socket.socket(socket.AF_UNIX) as end:
            end.bind(str(folder.path / "out"))
        return ["compile", "basic.onnx", f"--emit={emit}", "-o", "out"]

    for LABEL, PLACE in {
        "same name": lambda folder: None,
        "symlink": lambda folder: folder.symlink_to("basic.onnx"),
        "hard link": lambda folder: folder.hardlink_to(
            folder.parent / "basic.onnx"
        ),
    }.items():

        @case(f"output is the model, {LABEL}, {EMIT}", BAD_INPUT, "-o",
              "the model", "got one for both")  # fmt: skip
        def output_model(folder, emit=EMIT, label=LABEL, place=PLACE):
            folder.copy(MODELS / "basic.onnx")
            place(folder.path / "out")
            out = "basic.onnx" if label == "same name" else "out"
            return ["compile", "basic.onnx", f"--emit={emit}", "-o", out]


# name -> arguments; the folder has basic.onnx, good.dlc, x.npy and x.npz.
RUN = ["run", "basic.onnx", "--input", "x=x.npy"]
for NAME, ARGUMENTS in {
    "--outputs over the model": [*RUN, "--outputs", "basic.onnx"],
    "--outputs over an artifact": ["run", "good.dlc", "--random", "--outputs",
                                   "./good.dlc"],
    "--outputs over an input": [*RUN, "--outputs", "x.npy"],
    "--outputs over the inputs": ["run", "basic.onnx", "--inputs", "x.npz",
                                  "--outputs", "x.npz"],
    "--trace over --outputs": [*RUN, "--trace", "same", "--outputs",
                               "../{folder}/same"],
    "--reproducer over -o": ["compile", "basic.onnx", "--reproducer", "same",
                             "-o", "same"],
    "explain over the model": ["explain", "basic.onnx", "--shape", "x=2x3",
                               "-o", "basic.onnx"],
    "explain over an artifact": ["explain", "good.dlc", "-o", "good.dlc"],
    "plan over its problem": ["plan-memory", "p.csv", "-o", "p.csv"],
}.items():  # fmt: skip

    @case(f"output {NAME}", BAD_INPUT, "another file", "got one for both")
    def output_over(folder, arguments=ARGUMENTS):
        folder.copy(MODELS / "basic.onnx")
        folder.copy(ARTIFACT, "good.dlc")
        folder.write("x.npy", npy("<f4", [2, 3]))
        with zipfile.ZipFile(folder.path / "x.npz", "w") as archive:
            archive.writestr("x.npy", npy("<f4", [2, 3]))
        folder.write("p.csv", "id,lower,upper,size\n1,0,2,4\n")
        return [a.replace("{folder}", folder.path.name) for a in arguments]


for OPTION in ["--outputs", "--trace"]:

    @case(f"output {OPTION} is standard output", BAD_INPUT, OPTION, "'-'")
    def output_dash(folder, option=OPTION):
        folder.copy(ARTIFACT, "good.dlc")
        return ["run", "good.dlc", "--random", option, "-"]


@case("output is beyond the limit of sizes", BAD_INPUT, "File too large")
def output_large(folder):
    folder.copy(ARTIFACT, "good.dlc")
    folder.write("p.csv", "id,lower,upper,size\n" +
                 "".join(f"{i},0,2,4\n" for i in range(1000)))
    limit = (4096, 4096)
    folder.prepare = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limit)
    return ["plan-memory", "p.csv", "-o", "out.csv"]


@case("standard output is beyond the limit of sizes", BAD_INPUT,
      "cannot write to standard output: File too large")  # fmt: skip
def printed_large(folder):
    folder.write("p.csv", "id,lower,upper,size\n" +
                 "".join(f"{i},0,2,4\n" for i in range(1000)))
    folder.stdout = tempfile.TemporaryFile()
    limit = (4096, 4096)
    folder.prepare = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limit)
    return ["plan-memory", "p.csv", "-o", "-"]


# Standard output that is full, and one that is closed.
def to_full(folder):
    folder.stdout = open("/dev/full", "wb")


def to_nothing(folder):
    folder.prepare = lambda: os.close(1)


for NAME, ARGUMENTS in {
    "run": ["run", "good.dlc", "--random"],
    "bench": ["bench", "good.dlc", "--seconds", "0.01", "--json"],
    "explain": ["explain", "good.dlc", "--runs", "1"],
    "explain to a page": ["explain", "good.dlc", "--runs", "1", "-o", "-"],
    "dump": ["dump", "good.dlc"],
    "plan-memory": ["plan-memory", "p.csv"],
    "test": ["test", "."],
    "text": ["compile", "basic.onnx", "--emit=graph"],
    "an artifact": ["compile", "basic.onnx", "--shape", "x=2x3", "-o", "-"],
    "help": ["run", "--help"],
    "version": ["--version"],
}.items():
    for WHERE, SEND in {"a full device": to_full, "nothing": to_nothing}.items():

        @case(f"{NAME} to {WHERE}", BAD_INPUT, "cannot write to standard output")
        def lost(folder, arguments=ARGUMENTS, send=SEND):
            folder.copy(MODELS / "basic.onnx")
            folder.copy(MODELS / "basic.onnx", "model.onnx")
            folder.copy(ARTIFACT, "good.dlc")
            folder.write("p.csv", "id,lower,upper,size\n1,0,2,4\n")
            send(folder)
            return arguments


# Values of inputs. basic.onnx has x of Nx3 floats.
def value(name, status, *words):
    def add(function):
        def arguments(folder):
            folder.copy(MODELS / "basic.onnx")
            return ["run", "basic.onnx", *function(folder)]

        CASES[f"input {name}"] = (arguments, status, words)
        return function

    return add


@value("unknown", BAD_INPUT, "'z'", "(x)")
def input_unknown(folder):
    folder.write("x.npy", npy("<f4", [2, 3]))
    return ["--input", "x=x.npy", "--input", "z=x.npy"]


@value("not given", BAD_INPUT, "'x'")
def input_absent(folder):
    return []


@value("no shape", BAD_INPUT, "'x'", "--shape")
def input_symbolic(folder):
    return ["--random"]


@value("no file", BAD_INPUT, "x.npy")
def input_no_file(folder):
    return ["--input", "x=x.npy"]


@value("given twice", BAD_USAGE, "one value", "'x'")
def input_twice(folder):
    folder.write("x.npy", npy("<f4", [2, 3]))
    return ["--input", "x=x.npy", "--input", "x=x.npy"]


@value("not a pair", BAD_USAGE, "x.npy")
def input_no_name(folder):
    return ["--input", "x.npy"]


for LABEL, BYTES, WORDS in [
    ("type", npy("<f8", [2, 3]), ["'x'", "got 2x3xf64"]),
    ("size", npy("<f4", [2, 4]), ["'x'", "to be 3", "got 4"]),
    ("rank", npy("<f4", [3]), ["'x'", "2 dims", "got 1"]),
]:

    @value(f"wrong {LABEL}", BAD_INPUT, *WORDS)
    def input_wrong(folder, data=BYTES):
        folder.write("x.npy", data)
        return ["--input", "x=x.npy"]


for LABEL, BYTES in {
    "empty": b"",
    "cut": npy("<f4", [2, 3])[:-1],
    "garbage": b"not numpy at all",
    "header": npy("<f4", [2, 3])[:40],
    "object type": npy("|O8", [2, 3]),
    "text": npy("<U2", [2, 3], bytes(48)),
    "overflow": npy("<f4", [2, 3]).replace(b"(2, 3, )", b"(1 << 63)"),
}.items():

    @value(f"bad npy {LABEL}", BAD_INPUT, "x.npy")
    def input_bad(folder, data=BYTES):
        folder.write("x.npy", data)
        return ["--input", "x=x.npy"]

    @value(f"bad npz {LABEL}", BAD_INPUT, "x.npz")
    def input_bad_archive(folder, data=BYTES):
        folder.write("x.npz", data)
        return ["--inputs", "x.npz"]


for OPTION in ["--outputs", "--trace"]:

    @value(f"{OPTION} cannot be written", BAD_INPUT, "no/file")
    def output_bad(folder, option=OPTION):
        return ["--shape", "x=2x3", "--random", option, "no/file"]


# Graph text.
for LABEL, TEXT in {
    "empty": "",
    "noise": "\x00\x01 func",
    "words": "this is not MLIR",
    "unknown op": "func.func @main() { graph.frob : () -> () return }",
    "no function": "module {}",
    "bad types": "func.func @main(%a: tensor<2xf32>, %b: tensor<3xf32>)"
    " -> tensor<3xf32> {\n %c = graph.add %a, %b : (tensor<2xf32>,"
    " tensor<3xf32>) -> tensor<3xf32>\n return %c : tensor<3xf32>\n}",
    "other dialects": "llvm.func @main()",
    "unknown rank": "func.func @main(%a: tensor<*xf32>) -> tensor<*xf32> {"
    "\n return %a : tensor<*xf32>\n}",
    "no tensor": "func.func @main(%a: i32) -> i32 {\n return %a : i32\n}",
    "declaration": "func.func private @main(tensor<2xf32>)",
    "function type": "func.func @main() -> (() -> ()) {\n"
    " %0 = func.constant @main : () -> (() -> ())\n return %0 : () -> ()\n}",
    "deep": "(" * 100000,
    "device": "func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {\n"
    " %b = graph.relu %a {device = #dlc.device<cuda:0>} : tensor<2xf32>\n"
    " return %b : tensor<2xf32>\n}",
    "plan": "plan.program @main {\n}",
    "kernels": "kernel.func @k(%x: memref<2xf32>) attributes {outputs = 1 : i64}"
    " {\n memref.alloca() : memref<2xf32>\n kernel.return\n}",
    "other name": "func.func @other() {\n return\n}",
}.items():

    @case(f"text {LABEL}", BAD_INPUT, "bad.mlir")
    def text(folder, data=TEXT):
        folder.write("bad.mlir", data)
        return ["compile", "bad.mlir", "-o", "out.dlc"]


# Artifacts: a good one, damaged.
def damaged(name, function):
    for command in ["run", "dump"]:

        @case(f"artifact {name}, {command}", BAD_INPUT, "bad.dlc")
        def arguments(folder, command=command):
            data = bytearray(ARTIFACT.read_bytes())
            folder.write("bad.dlc", bytes(function(data)))
            return [command, "bad.dlc", *(["--random"] if command == "run" else [])]


def flipped(position):
    def flip(data):
        at = position if position >= 0 else len(data) + position
        data[at] ^= 0xFF
        return data

    return flip


damaged("empty", lambda data: b"")
damaged("noise", lambda data: random.Random(1).randbytes(5000))
damaged("magic", flipped(0))
damaged("version", flipped(8))
damaged("one byte longer", lambda data: data + b"\0")
damaged("one byte shorter", lambda data: data[:-1])
for CUT in [1, 8, 63, 64, 200, 4096]:
    damaged(f"cut to {CUT} bytes", lambda data, cut=CUT: data[:cut])
for AT in [12, 20, 28, 36, 44, 52, 60, 64, 80, 128, 300]:
    damaged(f"byte {AT} flipped", flipped(AT))


@case("artifact absent", BAD_INPUT, "absent.dlc")
def artifact_absent(folder):
    return ["run", "absent.dlc", "--random"]


# What says how to compile does not apply to what is compiled.
for COMMAND in ["run", "bench", "explain"]:
    for EXTRA in [["--target", "frob"], ["--precision", "zz"],
                  ["--reproducer", "r.mlir"], ["--remarks"],
                  ["--timing"]]:  # fmt: skip

        @case(f"{COMMAND} of an artifact with {EXTRA[0]}", BAD_USAGE,
              f"expected a model for {EXTRA[0]}", "got an artifact")  # fmt: skip
        def artifact_option(folder, command=COMMAND, extra=EXTRA):
            folder.copy(ARTIFACT, "good")
            return [command, "good", *extra]


for NAME in ["good.dlc", "good.onnx"]:

    @case(f"compile {NAME}, an artifact", BAD_INPUT, NAME, "got an artifact")
    def artifact_compiled(folder, name=NAME):
        folder.copy(ARTIFACT, name)
        return ["compile", name, "-o", "out.dlc"]


@case("a model named as an artifact", BAD_INPUT, "model.dlc")
def artifact_name(folder):
    folder.copy(MODELS / "basic.onnx", "model.dlc")
    return ["run", "model.dlc", "--random"]


# Problems of plan-memory.
for LABEL, TEXT in {
    "empty": "",
    "header": "a,b,c\n",
    "row": "id,lower,upper,size\n1,2\n",
    "number": "id,lower,upper,size\n1,0,x,4\n",
    "negative": "id,lower,upper,size\n1,0,2,-4\n",
    "order": "id,lower,upper,size\n1,3,2,4\n",
    "overflow": "id,lower,upper,size\n1,0,2,99999999999999999999\n",
}.items():

    @case(f"problem {LABEL}", BAD_INPUT, "bad.csv")
    def problem(folder, data=TEXT):
        folder.write("bad.csv", data)
        return ["plan-memory", "bad.csv", "-o", "out.csv"]


# Conformance folders: nothing may pass by being absent.
@case("test of an absent folder", BAD_INPUT, "absent")
def test_absent(folder):
    return ["test", "absent"]


@case("test of an empty folder", BAD_INPUT, "none")
def test_empty(folder):
    (folder.path / "empty").mkdir()
    return ["test", "empty"]


def run(dlc, name):
    """What is wrong with a case, or ''."""
    function, status, words = CASES[name]
    with tempfile.TemporaryDirectory() as path:
        folder = Folder(path)
        arguments = function(folder)
        before = folder.state()
        try:
            done = subprocess.run([dlc, *arguments], cwd=path, timeout=TIMEOUT,
                                  stdin=subprocess.DEVNULL, stdout=folder.stdout,
                                  stderr=subprocess.PIPE,
                                  preexec_fn=folder.prepare)  # fmt: skip
        except subprocess.TimeoutExpired:
            return f"expected an answer within {TIMEOUT} s, got none"
        # What a command notes before it fails is no fault.
        error = "".join(
            line for line in done.stderr.decode(errors="replace").splitlines(True)
            if not line.startswith("note: "))
        if done.returncode != status:
            return f"expected exit {status}, got {done.returncode}: {error[:800]}"
        for word in FORBIDDEN:
            if word in error:
                return f"expected no '{word}', got: {error[:800]}"
        if error.count("error:") != 1 or not error.startswith("dlc: error: "):
            return f"expected one error, got: {error[:800]!r}"
        if len(error) > 1000:
            return f"expected a short message, got {len(error)} bytes"
        text = error.removeprefix("dlc: error: ").removesuffix("\n")
        if status == BAD_USAGE and ("\n" in text or text[:1].isupper()):
            return f"expected one line in lower case, got: {error[:800]!r}"
        if status == BAD_INPUT:
            for line in error.splitlines()[1:]:
                if not line.startswith(("note: ", "warning: ")):
                    return f"expected one line, got: {error[:800]!r}"
        for word in words:
            if word not in error:
                return f"expected '{word}' in the message, got: {error[:800]!r}"
        for argument in arguments:
            path = argument.rpartition("=")[2]
            if "No such file" in error and "." in path and error.count(path) > 1:
                return f"expected '{path}' once, got: {error[:800]!r}"
        if folder.state() != before:
            left = sorted(set(folder.state()) - set(before))
            return f"expected no file left or changed, got {left or 'a change'}"
    return ""


def main():
    global ARTIFACT
    dlc = os.path.abspath(sys.argv[1])
    chosen = [name for name in CASES if all(part in name for part in sys.argv[2:])]
    failures = 0
    with tempfile.TemporaryDirectory() as path:
        ARTIFACT = pathlib.Path(path) / "good.dlc"
        subprocess.run([dlc, "compile", MODELS / "scalars.onnx", "-o", ARTIFACT],
                       check=True, timeout=TIMEOUT)  # fmt: skip
        for name in chosen:
            problem = run(dlc, name)
            if problem:
                failures += 1
                print(f"FAIL {name}: {problem}")
    print(f"{len(chosen) - failures} passed, {failures} failed")
    return 1 if failures or not chosen else 0


if __name__ == "__main__":
    sys.exit(main())
