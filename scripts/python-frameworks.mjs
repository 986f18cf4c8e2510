#!/usr/bin/env node
/** Prints the path of a Python that has LiteLLM and LangChain's `ChatOpenAI`. */
import { fileURLToPath } from "node:url";
import { printPython, pythonWith } from "./python-environment.mjs";

/** @returns {Promise<string>} the Python's path; throws as `pythonWith` does */
export const pythonWithFrameworks = () =>
	pythonWith("litellm", "1.110.2", ["litellm", "langchain_openai"], ["langchain-openai==1.7.4"]);

if (process.argv[1] === fileURLToPath(import.meta.url)) await printPython(pythonWithFrameworks());
