#!/usr/bin/env node
/** Prints the path of a Python with `kokoro-onnx`, which runs the voices' model as we do, on a runtime of a pinned version. */
import { printPython, pythonWith } from "./python-environment.mjs";

await printPython(pythonWith("kokoro-onnx", "0.6.1", ["kokoro_onnx"], ["onnxruntime==1.32.0"]));
