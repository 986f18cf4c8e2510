/** The examples of the endpoints' pages, in three languages, as a reader pastes them. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { endpointPages, type OpenApi } from "../../scripts/docs/endpoint-pages.ts";
import { BASE, curl, python, typescript } from "../../scripts/docs/example-code.ts";
import { EXAMPLES } from "../../scripts/docs/examples.ts";
import { type FullGateway, startFullGateway } from "../support/full-gateway.ts";
import { plainPicture } from "../support/image-gateway.ts";
import { type ScriptedChain, startScriptedChain } from "../support/scripted-chain.ts";
import { toneFile } from "../support/tone-file.ts";
import { hasPython, pythonForExamples } from "./python.ts";

const hasCurl = Bun.which("curl") !== null && Bun.which("bash") !== null;
/** Endpoints whose request is made of what a wallet signs, ends something, or needs hardware: their guides show them. */
const SHOWN_ELSEWHERE = [
	"tee-attestation",
	"tee-signature",
	"audio-voices_post",
	"audio-voices-delete_delete",
	"image-multi-edit_post",
	"image-upscale_post",
	"image-background-remove_post",
	"embeddings_post",
	"character",
	"character-reviews",
	"api-keys_delete",
	"generate-web3-key_post",
	"admin-debits_post",
	"admin-refunds_post",
	"admin-key_patch",
	"admin-key_delete",
	"x402-top-up_post",
	"x402-balance",
	"x402-transactions",
];

const folder = mkdtempSync(join(tmpdir(), "turnpike-examples-"));
let chain: ScriptedChain;
let fixture: FullGateway;
let document: OpenApi;
let env: Record<string, string>;

beforeAll(async () => {
	chain = await startScriptedChain();
	fixture = await startFullGateway(chain.url);
	const { gate, site } = fixture;
	document = (await (await fetch(`${gate.url}/api/v1/openapi.json`)).json()) as OpenApi;
	const key = await gate.newKey({ creditUsd: "1" });
	const own = await gate.call("POST", "/api_keys", { apiKeyType: "INFERENCE", description: "mine" });
	const { data } = (await own.json()) as { data: { id: string } };
	writeFileSync(join(folder, "photo.png"), await plainPicture("600x400", { r: 200, g: 10, b: 10 }));
	writeFileSync(join(folder, "report.txt"), "A report.\n");
	writeFileSync(join(folder, "speech.wav"), await toneFile(fixture.encoder, "wav", 1));
	env = {
		PATH: process.env.PATH ?? "",
		HOME: folder,
		TURNPIKE_KEY: gate.key,
		ACCOUNT_ID: key.accountId,
		KEY_ID: data.id,
		MODEL_ID: "text-large",
		PAGE_URL: "http://pages.example/page",
	};
	site.paths = {
		"/page": () =>
			new Response("<h1>A page</h1><p>With a text that is long enough.</p>", { headers: { "content-type": "text/html" } }),
	};
});
afterAll(async () => {
	await fixture?.stop();
	await chain?.stop();
	rmSync(folder, { recursive: true, force: true });
});

/** Every example in one language, aimed at the gateway. */
function pieces(write: typeof curl): { id: string; code: string }[] {
	return Object.entries(document.paths).flatMap(([path, methods]) =>
		Object.entries(methods).flatMap(([method, { operationId }]) => {
			const example = EXAMPLES[operationId];
			if (example === undefined) return [];
			const code = write({ method: method.toUpperCase(), path }, example);
			return [{ id: operationId, code: code.replaceAll(BASE, `${fixture.gate.url}/api/v1`) }];
		}),
	);
}

async function run(command: readonly string[], cwd: string, reference: string): Promise<string | null> {
	const child = Bun.spawn([...command], {
		cwd,
		env: { ...env, REFERENCE: reference },
		stdin: "ignore",
		stdout: "pipe",
		stderr: "pipe",
	});
	const [out, fault] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
	return (await child.exited) === 0 ? null : `${out}\n${fault}`.trim().slice(-600);
}

describe("every endpoint", () => {
	test("has a page, with an example unless its guide shows it", () => {
		const ids = Object.values(document.paths).flatMap((methods) => Object.values(methods).map(({ operationId }) => operationId));
		expect(ids.filter((id) => EXAMPLES[id] === undefined).sort()).toEqual([...SHOWN_ELSEWHERE].sort());
		const pages = endpointPages(document);
		expect(pages.length).toBe(ids.length);
		expect(new Set(pages.map(({ file }) => file)).size).toBe(ids.length);
		for (const { text, title } of pages) expect(text).toStartWith(`# ${title}\n`);
	});
});

describe("the examples run", () => {
	test.skipIf(!hasCurl)("in curl", async () => {
		const faults: string[] = [];
		for (const { id, code } of pieces(curl)) {
			const fault = await run(["bash", "-c", code.replaceAll("curl ", "curl -sS ")], folder, `curl-${id}`);
			if (fault !== null) faults.push(`${id}: ${code}\n${fault}`);
		}
		expect(faults).toEqual([]);
	});

	test.skipIf(!hasPython)("in Python", async () => {
		const program = pythonForExamples();
		// One process for all: an example is a cell, as in a notebook.
		const cells = pieces(python).map(({ id, code }) => ({ id, code }));
		writeFileSync(join(folder, "cells.json"), JSON.stringify(cells));
		writeFileSync(
			join(folder, "run.py"),
			[
				"import json, sys, contextlib, io",
				"faults = []",
				"for cell in json.load(open('cells.json')):",
				"    try:",
				"        with contextlib.redirect_stdout(io.StringIO()):",
				"            exec(compile(cell['code'], cell['id'], 'exec'), {})",
				"    except Exception as fault:",
				"        faults.append(cell['id'] + ': ' + repr(fault) + ' ' + getattr(getattr(fault, 'response', None), 'text', ''))",
				"if faults: sys.exit('\\n'.join(faults))",
			].join("\n"),
		);
		expect(await run([program, "run.py"], folder, "python")).toBeNull();
	});

	test("in TypeScript", async () => {
		const all = pieces(typescript);
		const modules = join(folder, "modules");
		mkdirSync(modules);
		for (const { id, code } of all) writeFileSync(join(modules, `${id}.ts`), `${code}\nexport {};\n`);
		const main = `const faults: string[] = [];
for (const id of ${JSON.stringify(all.map(({ id }) => id))}) await import("./modules/" + id + ".ts").catch((fault) => faults.push(id + ": " + fault));
if (faults.length > 0) { console.error(faults.join("\\n")); process.exit(1); }
`;
		writeFileSync(join(folder, "main.ts"), main);
		expect(await run([process.execPath, "main.ts"], folder, "typescript")).toBeNull();
	});
});
