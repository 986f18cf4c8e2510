#!/usr/bin/env node
/** Prints the path of a Python that has Schemathesis, which tests an API against its OpenAPI document. */
import { fileURLToPath } from "node:url";
import { printPython, pythonWith } from "./python-environment.mjs";

/** @returns {Promise<string>} the Python's path; throws as `pythonWith` does */
export const pythonWithSchemathesis = () => pythonWith("schemathesis", "4.32.5", ["schemathesis.cli"]);

if (process.argv[1] === fileURLToPath(import.meta.url)) await printPython(pythonWithSchemathesis());
