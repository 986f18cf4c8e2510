/** Programs that read the API document and are no dependencies: where they are, and how they are run. */
import { spawnSync } from "node:child_process";
import { join } from "node:path";

const ROOT = join(import.meta.dir, "../..");

export const hasPython = ["python3", "python", "py"].some(
	(name) => spawnSync(name, ["-c", "import venv, ensurepip"]).status === 0,
);

/** node_modules with the linters and the generator of types; null where they could not be fetched: npm has said why. */
export function openApiPackages(): string | null {
	const made = spawnSync("node", ["scripts/client-packages.mjs", "openapi"], { cwd: ROOT, encoding: "utf8" });
	if (made.status !== 0)
		console.log(`The linters of OpenAPI could not be installed, their tests are skipped: ${made.stderr.trim()}`);
	return made.status === 0 ? join(made.stdout.trim(), "node_modules") : null;
}

/** The path of a Python that a script of ours brings. Throws with what pip says. */
export function pythonOf(script: "python-schemathesis" | "python-openapi-client"): string {
	const made = spawnSync("node", [`scripts/${script}.mjs`], { cwd: ROOT, encoding: "utf8" });
	if (made.status !== 0) throw new Error(made.stderr);
	return made.stdout.trim();
}

/** Runs a program in a folder. Throws with what it wrote, unless it ends with 0. */
export async function run(command: readonly string[], cwd: string): Promise<string> {
	// Redocly CLI asks for news of itself otherwise, and tells that it was used.
	const env = { ...process.env, REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true", NO_COLOR: "1" };
	const child = Bun.spawn([...command], { cwd, env, stdin: "ignore", stdout: "pipe", stderr: "pipe" });
	const [out, fault] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
	if ((await child.exited) !== 0) throw new Error(`${command.join(" ").slice(0, 500)}\n${out}\n${fault}`);
	return out + fault;
}
