/** Linters that know OpenAPI find no error in the API document. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ContractGateway, startContractGateway } from "./contract-gateway.ts";
import { openApiPackages, run } from "./tools.ts";

const packages = openApiPackages();

describe.skipIf(packages === null)("the API document", () => {
	const folder = mkdtempSync(join(tmpdir(), "turnpike-linters-"));
	const program = (path: string) => ["node", join(packages ?? "", path)];
	let fixture: ContractGateway;

	beforeAll(async () => {
		fixture = await startContractGateway();
		writeFileSync(join(folder, "openapi.json"), JSON.stringify(await fixture.document()));
		writeFileSync(join(folder, "ruleset.yaml"), 'extends: ["spectral:oas"]\n');
		writeFileSync(join(folder, "redocly.yaml"), "extends: [recommended]\n");
	});
	afterAll(async () => {
		await fixture?.stop();
		rmSync(folder, { recursive: true, force: true });
	});

	test("has no error for Spectral", async () => {
		const spectral = program("@stoplight/spectral-cli/dist/index.js");
		const out = await run([...spectral, "lint", "--ruleset=ruleset.yaml", "--fail-severity=error", "openapi.json"], folder);
		expect(out).toMatch(/No results|\(0 errors/);
	});

	test("has no error for Redocly", async () => {
		const out = await run([...program("@redocly/cli/bin/cli.js"), "lint", "--config=redocly.yaml", "openapi.json"], folder);
		expect(out).toContain("Your API description is valid");
	});
});
