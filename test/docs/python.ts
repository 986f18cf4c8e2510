/** A Python that has what the examples import: `requests`, `openai`, `langchain_openai`. */
import { spawnSync } from "node:child_process";
import { join } from "node:path";

const SCRIPT = join(import.meta.dir, "../../scripts/python-frameworks.mjs");

export const hasPython = ["python3", "python", "py"].some(
	(name) => spawnSync(name, ["-c", "import venv, ensurepip"]).status === 0,
);

/** Its path; made at first use. Throws where it cannot be had. */
export function pythonForExamples(): string {
	const made = spawnSync("node", [SCRIPT], { encoding: "utf8" });
	if (made.status !== 0) throw new Error(made.stderr);
	return made.stdout.trim();
}
