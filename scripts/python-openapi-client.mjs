#!/usr/bin/env node
/** Prints the path of a Python that has openapi-python-client, and mypy to check what that generates. */
import { fileURLToPath } from "node:url";
import { printPython, pythonWith } from "./python-environment.mjs";

/** @returns {Promise<string>} the Python's path; throws as `pythonWith` does */
export const pythonWithOpenApiClient = () =>
	pythonWith("openapi-python-client", "0.29.1", ["openapi_python_client.cli", "mypy.main"], ["mypy==2.4.1"]);

if (process.argv[1] === fileURLToPath(import.meta.url)) await printPython(pythonWithOpenApiClient());
