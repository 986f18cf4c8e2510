#!/usr/bin/env node
/** Prints the path of a Python that has web3.py. */
import { fileURLToPath } from "node:url";
import { printPython, pythonWith } from "./python-environment.mjs";

/** @returns {Promise<string>} the Python's path; throws as `pythonWith` does */
export const pythonWithWeb3 = () => pythonWith("web3", "8.0.0", ["web3"]);

if (process.argv[1] === fileURLToPath(import.meta.url)) await printPython(pythonWithWeb3());
