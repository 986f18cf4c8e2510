#!/usr/bin/env node
/** Prints the path of a Python that has the `openai` package. */
import { fileURLToPath } from "node:url";
import { printPython, pythonWith } from "./python-environment.mjs";

/** @returns {Promise<string>} the Python's path; throws as `pythonWith` does */
export const pythonWithOpenAi = () => pythonWith("openai", "3.57.0", ["openai"]);

if (process.argv[1] === fileURLToPath(import.meta.url)) await printPython(pythonWithOpenAi());
