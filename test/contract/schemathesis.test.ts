/**
 * Schemathesis with all of its checks: every answer is as the API document says, what it allows is taken, what it does not
 * is refused. The seed is fixed, so that a run can be repeated. Skipped on a machine without Python.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ContractGateway, startContractGateway } from "./contract-gateway.ts";
import { type FuzzedDocument, operationSettings, withNamesThatExist } from "./fuzzed-document.ts";
import { hasPython, pythonOf, run } from "./tools.ts";

const SEED = 20_260_131;
/** Of each operation, in the phase of random values; that of borders has as many as the schema has. */
const EXAMPLES = 10;

describe.skipIf(!hasPython)("Schemathesis", () => {
	const folder = mkdtempSync(join(tmpdir(), "turnpike-schemathesis-"));
	let fixture: ContractGateway;

	beforeAll(async () => {
		fixture = await startContractGateway();
	});
	afterAll(async () => {
		await fixture?.stop();
		rmSync(folder, { recursive: true, force: true });
	});

	test("finds nothing wrong in any route", async () => {
		const { gate } = fixture;
		const document = withNamesThatExist((await fixture.document()) as FuzzedDocument);
		const settings = join(folder, "schemathesis.toml");
		writeFileSync(join(folder, "openapi.json"), JSON.stringify(document));
		writeFileSync(settings, operationSettings(document, { accountId: gate.accountId }));
		const options = [`--url=${gate.url}/api/v1`, `--header=Authorization: Bearer ${gate.key}`, "--continue-on-failure"];
		const bounds = ["--phases=coverage,fuzzing,stateful", `--max-examples=${EXAMPLES}`, `--seed=${SEED}`, "--warnings=off"];
		const schemathesis = [pythonOf("python-schemathesis"), "-m", "schemathesis.cli", "--no-color", `--config-file=${settings}`];
		const out = await run([...schemathesis, "run", "openapi.json", ...options, ...bounds], folder);
		expect(out).toContain(`Tested: ${Object.values(document.paths).flatMap((methods) => Object.keys(methods)).length}`);
		expect((await gate.audit()).findings).toEqual([]);
	});
});
