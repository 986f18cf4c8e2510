/**
 * The Python `openai` package as it is published, against a running gateway: one script does all calls and
 * reports what it saw. Skipped on a machine without Python (`npm test` says so).
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { type ClientGateway, comparable, expectedOf, type Seen, SLASHED, startClientGateway } from "./client-gateway.ts";

const ROOT = join(import.meta.dir, "../..");
const node = (...args: readonly string[]) => spawnSync("node", args, { cwd: ROOT, encoding: "utf8" });
const hasPython = ["python3", "python", "py"].some((name) => spawnSync(name, ["-c", "import venv, ensurepip"]).status === 0);

interface Called {
	readonly id: string;
	readonly name: string;
	readonly arguments: object;
}

/** What openai_client.py writes. */
interface Report {
	readonly chat: object;
	readonly streamWithUsage: object;
	readonly streamWithout: object;
	readonly calls: { readonly unary: Called[]; readonly streamed: Called[]; readonly finishReasons: string[] };
	readonly schema: object;
	readonly reasoning: object;
	readonly logprobs: object;
	readonly choices: readonly object[];
	readonly models: {
		readonly listed: string[];
		readonly retrieved: string;
		readonly answered: string;
		readonly unknown: PythonSeen;
	};
	readonly responses: object & { readonly unknown: PythonSeen };
	readonly embeddings: object;
	readonly asynchronous: { readonly streamed: string; readonly together: string[] };
	readonly faults: readonly PythonSeen[];
	readonly faultsOfStreams: readonly PythonSeen[];
	readonly crowded: PythonSeen;
	readonly brokenStreams: readonly { readonly text: string; readonly error: PythonSeen }[];
}

interface PythonSeen extends Seen {
	/** The class of the exception. */
	readonly kind: string;
}

describe.skipIf(!hasPython)("the Python client", () => {
	let fixture: ClientGateway;
	let report: Report;

	beforeAll(async () => {
		const made = node("scripts/python-openai.mjs");
		if (made.status !== 0) throw new Error(made.stderr);
		fixture = await startClientGateway();
		const { baseUrl, key, faults, crowded } = fixture;
		const child = Bun.spawn([made.stdout.trim(), join(import.meta.dir, "openai_client.py")], {
			stdin: new Blob([JSON.stringify({ baseUrl, key, faults, crowded, slashed: SLASHED })]),
			stdout: "pipe",
			stderr: "pipe",
			env: { ...process.env, NO_PROXY: "*" },
		});
		const [output, complaint] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
		if ((await child.exited) !== 0) throw new Error(complaint);
		report = JSON.parse(output) as Report;
	});
	afterAll(() => fixture.stop());

	test("a chat: text, finish reason, usage, request id", () => {
		expect(report.chat).toEqual({
			text: "Hello, world!",
			model: "talk",
			finishReason: "stop",
			tokens: 13,
			requestId: expect.stringMatching(/^[0-9A-Za-z]{32}$/),
		});
	});

	test("a stream: deltas in order, usage in the last chunk only where it was asked for", () => {
		const texts = ["Hello", ", ", "world", "!"];
		expect(report.streamWithUsage).toEqual({ texts, usages: [[0, 13]] });
		expect(report.streamWithout).toEqual({ texts, usages: [] });
	});

	test("two parallel calls come whole, streamed in fragments or not", () => {
		const calls = [
			{ id: "call_a", name: "lookup", arguments: { q: "café é" } },
			{ id: "call_b", name: "weather", arguments: { city: "Zürich" } },
		];
		expect(report.calls).toEqual({ unary: calls, streamed: calls, finishReasons: ["tool_calls", "tool_calls"] });
	});

	test("an answer to a JSON schema comes back parsed", () => {
		expect(report.schema).toEqual({ city: "Zürich" });
	});

	test("reasoning_content comes beside the text, whole and in deltas", () => {
		expect(report.reasoning).toEqual({ text: "4", unary: "2 plus 2", streamed: "2 plus 2" });
	});

	test("logprobs come whole and in chunks", () => {
		expect(report.logprobs).toEqual({ unary: ["Hello"], streamed: ["He", "llo"] });
	});

	test("two choices are told apart, whole and in a stream", () => {
		const both = [
			[0, "Hello!"],
			[1, "Hello!"],
		];
		expect(report.choices).toEqual([both, both]);
	});

	test("models are listed, and one whose id has a slash and a colon is found", () => {
		const { listed, retrieved, answered, unknown } = report.models;
		expect(listed).toContain(SLASHED);
		expect([retrieved, answered]).toEqual([SLASHED, SLASHED]);
		expect(unknown).toMatchObject({ status: 404, code: "MODEL_NOT_FOUND", kind: "NotFoundError" });
	});

	test("responses come whole, in events, parsed by a schema, and as calls", () => {
		expect(report.responses).toMatchObject({
			text: "Hello, world!",
			tokens: 13,
			deltas: ["Hello", ", ", "world", "!"],
			final: "Hello, world!",
			parsed: { city: "Zürich" },
			calls: [
				["lookup", { q: "café é" }],
				["weather", { city: "Zürich" }],
			],
			unknown: { status: 404, code: "MODEL_NOT_FOUND", kind: "NotFoundError" },
		});
	});

	test("embeddings come packed, as the client asks for by itself, and as numbers", () => {
		expect(report.embeddings).toEqual({
			packed: [
				[1, 0.25, -0.5, 0.125],
				[2, 0.25, -0.5, 0.125],
			],
			plain: [3, 0.25, -0.5, 0.125],
			tokens: 2,
		});
	});

	test("the asynchronous client streams, and asks several times at once", () => {
		expect(report.asynchronous).toEqual({ streamed: "Hello, world!", together: Array(8).fill("Hello, world!") });
	});

	for (const kind of ["faults", "faultsOfStreams"] as const)
		test(`every error reaches the user with its status, code and text${kind === "faults" ? "" : ", also where a stream was asked for"}`, () => {
			for (const [index, fault] of fixture.faults.entries()) {
				const seen = report[kind][index];
				if (seen === undefined) throw new Error(`nothing was reported of ${fault.name}`);
				expect(comparable(fault, seen)).toEqual(expectedOf(fault));
			}
		});

	test("a gateway that is full says so with its code and text", () => {
		expect(comparable(fixture.crowded, report.crowded)).toEqual(expectedOf(fixture.crowded));
	});

	test("an error inside a stream is thrown after the text that came before it, without the upstream's own words", () => {
		for (const { text, error } of report.brokenStreams) {
			// A cut connection may take with it what was on its way.
			expect("Hello, ").toStartWith(text);
			expect(error).toMatchObject({ kind: "APIError", code: "INFERENCE_FAILED" });
			expect(error.message).toContain("backend failed");
			expect(error.message).not.toContain("account 12");
		}
	});
});
