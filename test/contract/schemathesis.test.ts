/**
 * Schemathesis with all of its checks: every answer is as the API document says, what it allows is taken, what it does not
 * is refused. The order of its random numbers is fixed, so that a run can be repeated. Skipped on a machine without Python.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ContractGateway, startContractGateway } from "./contract-gateway.ts";
import { type FuzzedDocument, operationSettings, withNamesThatExist } from "./fuzzed-document.ts";

const ROOT = join(import.meta.dir, "../..");
const SEED = 20_260_131;
/** Of each operation, in the phase of random values; that of borders has as many as the schema has. */
const EXAMPLES = 10;
const hasPython = ["python3", "python", "py"].some((name) => spawnSync(name, ["-c", "import venv, ensurepip"]).status === 0);

describe.skipIf(!hasPython)("Schemathesis", () => {
	const folder = mkdtempSync(join(tmpdir(), "turnpike-schemathesis-"));
	let bed: ContractGateway;

	beforeAll(async () => {
		bed = await startContractGateway();
	});
	afterAll(async () => {
		await bed?.stop();
		rmSync(folder, { recursive: true, force: true });
	});

	test("finds nothing wrong in any route", async () => {
		const { gate } = bed;
		const made = spawnSync("node", ["scripts/python-schemathesis.mjs"], { cwd: ROOT, encoding: "utf8" });
		expect([made.status, made.stderr.slice(-2_000)]).toEqual([0, expect.any(String)]);
		const document = withNamesThatExist((await bed.document()) as FuzzedDocument);
		writeFileSync(join(folder, "openapi.json"), JSON.stringify(document));
		writeFileSync(join(folder, "schemathesis.toml"), operationSettings(document, { accountId: gate.accountId }));
		const settings = [`--config-file=${join(folder, "schemathesis.toml")}`, "--no-color"];
		const run = ["--phases=coverage,fuzzing", `--max-examples=${EXAMPLES}`, `--seed=${SEED}`, "--warnings=off"];
		const child = Bun.spawn(
			[
				made.stdout.trim(),
				"-m",
				"schemathesis.cli",
				...settings,
				"run",
				join(folder, "openapi.json"),
				`--url=${gate.url}/api/v1`,
				`--header=Authorization: Bearer ${gate.key}`,
				...run,
				"--continue-on-failure",
			],
			{ cwd: folder, stdin: "ignore", stdout: "pipe", stderr: "pipe" },
		);
		const [out, fault] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
		if ((await child.exited) !== 0) throw new Error(`${out}\n${fault}`);
		expect(out).toContain(`Tested: ${Object.values(document.paths).flatMap((methods) => Object.keys(methods)).length}`);
		expect((await gate.audit()).findings).toEqual([]);
	});
});
