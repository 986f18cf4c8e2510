import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { countTokens as reference } from "gpt-tokenizer/encoding/o200k_base";
import { until } from "../../../test/support/until.ts";
import { silentLog } from "../../telemetry/log.ts";
import { checkTokenCounter, estimateTokens, TokenCounter } from "./index.ts";
import { textPieces } from "./text-pieces.ts";

const counter = new TokenCounter({ log: silentLog, limitMs: 5_000 });
afterAll(() => counter.stop());
const plain = { allowedSpecial: new Set<string>(), disallowedSpecial: new Set<string>() };
const exact = (text: string): number => reference(text, plain);
const prose =
	"The quick brown fox jumps over the lazy dog; it isn't tired, at 12:30 or 1,234.5 km away.\n\n\tReally? Ja, très bien. 日本語も。 ";

describe("a count", () => {
	test("is that of o200k_base", async () => {
		for (const text of ["hello world", " ", "\n\n", prose, "x", "émigré 🙂 family: 👨‍👩‍👧‍👦", '{"a": [1, 2, {"b": null}]}'])
			expect(await counter.countTokens(text, "test")).toBe(exact(text));
		expect(await counter.countTokens("", "test")).toBe(0);
	});

	test("is the same for a long text that has to be cut", async () => {
		const text = prose.repeat(2_000);
		expect([...textPieces(text)].length).toBeGreaterThan(10);
		expect(await counter.countTokens(text, "test")).toBe(exact(text));
	});

	test("of a short text does not wait for the end of another tenant's long one, which stays exact", async () => {
		const patient = new TokenCounter({ log: silentLog, limitMs: 600_000 });
		const ended: string[] = [];
		const long = patient.countTokens(" word".repeat(400_000), "one").finally(() => ended.push("long"));
		const short = patient.countTokens("hello world", "two").finally(() => ended.push("short"));
		expect(await Promise.all([long, short])).toEqual([400_000, exact("hello world")]);
		expect(ended).toEqual(["short", "long"]);
		await patient.stop();
	});

	test("takes names of control tokens as the text that they are", async () => {
		const text = "<|endoftext|> and <|endofprompt|><|im_start|>";
		expect(await counter.countTokens(text, "test")).toBe(exact(text));
		expect(await counter.countTokens("<|endoftext|>", "test")).toBeGreaterThan(1);
	});

	test("of hostile text comes in time", async () => {
		const hostile: Record<string, string> = {
			letters: "a".repeat(300_000),
			blanks: " ".repeat(300_000),
			newlines: "\n".repeat(300_000),
			signs: "!?".repeat(150_000),
			digits: "7".repeat(300_000),
			emoji: "👨‍👩‍👧‍👦".repeat(10_000),
			lone: "\ud800".repeat(50_000),
			backwards: "\udc00\ud800".repeat(20_000),
			mixed: "aA".repeat(100_000),
			zalgo: "a\u0301\u0302".repeat(50_000),
			nul: "\0".repeat(100_000),
		};
		for (const [name, text] of Object.entries(hostile)) {
			const tokens = await counter.countTokens(text, "test");
			expect(tokens, name).toBeGreaterThan(0);
			expect(tokens, name).toBeLessThanOrEqual(Buffer.byteLength(text));
		}
	});

	test("of many texts at once is right for each", async () => {
		const texts = Array.from({ length: 100 }, (_, index) => `number ${index} `.repeat(index + 1));
		expect(await Promise.all(texts.map((text) => counter.countTokens(text, "test")))).toEqual(texts.map(exact));
	});
});

describe("the estimate of a third of the bytes is given", () => {
	test("past the time limit, and the next text is counted again", async () => {
		const hurried = new TokenCounter({ log: silentLog, limitMs: 30 });
		try {
			await hurried.warm();
			const text = prose.repeat(50_000);
			expect(await hurried.countTokens(text, "test")).toBe(estimateTokens(text));
			await until(async () => (await hurried.countTokens("hello world", "test")) === 2);
		} finally {
			await hurried.stop();
		}
	});

	test("where too much waits", async () => {
		const narrow = new TokenCounter({ log: silentLog, maxWaiting: 2, maxWaitingChars: 1_000 });
		try {
			const counts = [1, 2, 3, 4, 5].map((number) => narrow.countTokens("hello world", `tenant ${number}`));
			const long = narrow.countTokens("b ".repeat(600), "test");
			expect(await long).toBe(estimateTokens("b ".repeat(600)));
			expect(await Promise.all(counts)).toEqual([2, 2, 2, 4, 4]);
		} finally {
			await narrow.stop();
		}
	});

	test("where a tenant has its share of the queue, and to nobody else", async () => {
		const narrow = new TokenCounter({ log: silentLog, maxWaiting: 4 });
		try {
			const counts = ["a", "a", "a", "a", "b"].map((tenant) => narrow.countTokens("hello world", tenant));
			expect(await Promise.all(counts)).toEqual([2, 2, 2, 4, 2]);
		} finally {
			await narrow.stop();
		}
	});

	test("where the child hangs, dies or cannot start", async () => {
		const folder = mkdtempSync(join(tmpdir(), "turnpike-tokens-"));
		const side = join(import.meta.dir, "../child-side.ts");
		const children = {
			hangs: `import { serveParent } from ${JSON.stringify(side)}; serveParent({ start: async () => null, work: async () => { for (;;); } });`,
			dies: `import { serveParent } from ${JSON.stringify(side)}; serveParent({ start: async () => null, work: async () => process.exit(9) });`,
			broken: "throw new Error('broken');",
		};
		try {
			for (const [name, code] of Object.entries(children)) {
				const entry = join(folder, `${name}.ts`);
				writeFileSync(entry, code);
				const sick = new TokenCounter({ log: silentLog, limitMs: 200, entry });
				expect(await sick.countTokens("hello world", "test"), name).toBe(4);
				expect(await sick.countTokens("hello world", "test"), name).toBe(4);
				await sick.stop();
				expect(sick.pid, name).toBeNull();
			}
		} finally {
			rmSync(folder, { recursive: true, force: true });
		}
	});

	test("after the stop", async () => {
		const stopped = new TokenCounter({ log: silentLog });
		await stopped.stop();
		expect(await stopped.countTokens("hello world", "test")).toBe(4);
	});
});

test("doctor can see that the counter works", async () => {
	expect(await checkTokenCounter(counter)).toMatchObject({ state: "ok" });
});

test("pieces lose nothing and part no character", () => {
	const text = `${"😀".repeat(3_000)}${prose.repeat(500)}${"x".repeat(9_999)}`;
	const pieces = [...textPieces(text)];
	expect(pieces.join("")).toBe(text);
	for (const piece of pieces) expect(piece.isWellFormed()).toBe(true);
});
