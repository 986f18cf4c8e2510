/**
 * LiteLLM and LangChain for Python as they are published, against a running gateway: one script does all calls and
 * reports what it saw. Skipped on a machine without Python (`npm test` says so).
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { type ClientGateway, startClientGateway } from "./client-gateway.ts";

const ROOT = join(import.meta.dir, "../..");
const node = (...args: readonly string[]) => spawnSync("node", args, { cwd: ROOT, encoding: "utf8" });
const hasPython = ["python3", "python", "py"].some((name) => spawnSync(name, ["-c", "import venv, ensurepip"]).status === 0);

const CALLS = [
	["call_a", "lookup", { q: "café é" }],
	["call_b", "weather", { city: "Zürich" }],
];
const PLACES = [{ city: "Zürich" }, { city: "Zürich" }];

describe.skipIf(!hasPython)("Python frameworks", () => {
	let fixture: ClientGateway;
	let report: { readonly litellm: object; readonly langchain: object };

	beforeAll(async () => {
		const made = node("scripts/python-frameworks.mjs");
		if (made.status !== 0) throw new Error(made.stderr);
		fixture = await startClientGateway();
		const child = Bun.spawn([made.stdout.trim(), join(import.meta.dir, "frameworks_client.py")], {
			stdin: new Blob([JSON.stringify({ baseUrl: fixture.baseUrl, key: fixture.key })]),
			stdout: "pipe",
			stderr: "pipe",
			env: { ...process.env, NO_PROXY: "*" },
		});
		const [output, complaint] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
		if ((await child.exited) !== 0) throw new Error(complaint);
		report = JSON.parse(output) as typeof report;
	});
	afterAll(() => fixture.stop());

	test("LiteLLM: texts, streams, calls and their loop, schemas, thoughts, errors, several at once", () => {
		expect(report.litellm).toEqual({
			chat: ["Hello, world!", "stop", 13],
			stream: [["Hello", ", ", "world", "!"], 13],
			calls: [CALLS, CALLS],
			loop: "Hello, world!",
			schemas: PLACES,
			reasoning: Array(2).fill(["4", "2 plus 2", "2 plus 2"]),
			error: [404, true],
			together: Array(4).fill("Hello, world!"),
		});
	});

	test("LangChain: texts, streams, calls, objects of a schema", () => {
		expect(report.langchain).toEqual({
			chat: ["Hello, world!", 13, "stop"],
			stream: ["Hello, world!", 13],
			calls: [CALLS, CALLS],
			schemas: PLACES,
		});
	});

	test("what they send is a good request", () => {
		expect(fixture.upstream.requests.flatMap(({ complaints }) => complaints)).toEqual([]);
	});
});
