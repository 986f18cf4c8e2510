import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { silentLog } from "../../telemetry/log.ts";
import { seeded } from "../testing/seeded.ts";
import { checkDocuments } from "./check.ts";
import { DocumentPool, type DocumentPoolOptions } from "./document-pool.ts";

const SAMPLES = join(import.meta.dir, "../../../test/samples");
const folder = mkdtempSync(join(tmpdir(), "turnpike-documents-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const NEVER = new AbortController().signal;
const bytesOf = (text: string) => new TextEncoder().encode(text);

function poolOf(options: Partial<DocumentPoolOptions> = {}): DocumentPool {
	return new DocumentPool({ log: silentLog, processes: 1, limitMs: 30_000, maxMemoryMb: 1_024, tesseract: null, ...options });
}

/** A child that does something to a file whose text is `bad`, and gives the text of all others. */
function childThat(name: string, does: string): string {
	const entry = join(folder, `${name}.ts`);
	const side = JSON.stringify(join(import.meta.dir, "../child-side.ts"));
	writeFileSync(
		entry,
		`import { serveParent } from ${side};
		serveParent({ start: async () => null, work: async ({ id, bytes }) => {
			const text = new TextDecoder().decode(bytes);
			if (text === "bad") { ${does} }
			return { id, text };
		} });`,
	);
	return entry;
}

const BAD: readonly (readonly [how: string, does: string, code: string, message: RegExp])[] = [
	["hangs", "for (;;);", "REQUEST_TIMEOUT", /more than 5 s of processor time to read; send it in parts/],
	["waits", "await new Promise(() => {});", "REQUEST_TIMEOUT", /no processor time for the work; try again later/],
	["dies", "process.exit(9);", "INVALID_REQUEST", /ended in the middle/],
	[
		"eats memory",
		"const kept = []; for (let i = 0; i < 64; i++) { kept.push(new Uint8Array(16 << 20).fill(1)); await Bun.sleep(10); } return { id, text: String(kept.length) };",
		"INVALID_REQUEST",
		/more memory/,
	],
];

test.each(BAD)(
	"a file whose reading %s is refused, and the files before, beside and behind it are read",
	async (how, does, code, message) => {
		const pool = poolOf({ entry: childThat(how.replace(" ", "-"), does), limitMs: 5_000, maxMemoryMb: 400 });
		try {
			const texts = ["one", "bad", "two", "bad", "three"];
			const read = await Promise.allSettled(
				texts.map((text) => pool.read(bytesOf(text), "file", { tenant: "test", signal: NEVER })),
			);
			for (const [index, text] of texts.entries()) {
				const result = read[index];
				if (text !== "bad") expect(result).toEqual({ status: "fulfilled", value: text });
				else
					expect(result).toMatchObject({
						status: "rejected",
						reason: { code, message: expect.stringMatching(message) },
					});
			}
		} finally {
			await pool.stop();
			expect(pool.pids()).toEqual([]);
		}
	},
);

test("each of many callers at once gets the text of its own file", async () => {
	const runs = Number(process.env.FILES_AT_ONCE ?? 120);
	const pool = poolOf({ processes: 2 });
	const names = ["testWORD_various.docx", "testRTFVarious.rtf", "workbook.xls", "slides.ppt", "mail.msg"];
	const samples = names.map((name) => readFileSync(join(SAMPLES, name)));
	try {
		const alone = await Promise.all(samples.map((bytes) => pool.read(bytes, "file", { tenant: "test", signal: NEVER })));
		let next = 0;
		const client = async () => {
			for (let run = next++; run < runs; run = next++) {
				const own = `Words of file ${run}`;
				const [mine, sample] = await Promise.all([
					pool.read(bytesOf(`${own}\n`), `${run}.txt`, { tenant: "test", signal: NEVER }),
					pool.read(samples[run % samples.length] ?? new Uint8Array(), "file", { tenant: "test", signal: NEVER }),
				]);
				expect(mine.trim()).toBe(own);
				expect(sample).toBe(alone[run % samples.length] ?? "");
			}
		};
		await Promise.all(Array.from({ length: 8 }, client));
	} finally {
		await pool.stop();
	}
});

test("a caller that leaves ends the reading of its file, and the next file is read", async () => {
	const pool = poolOf({ entry: childThat("leaves", "await new Promise(() => {});") });
	try {
		const leaving = new AbortController();
		const left = pool.read(bytesOf("bad"), "file", { tenant: "test", signal: leaving.signal });
		const next = pool.read(bytesOf("next"), "file", { tenant: "test", signal: NEVER });
		leaving.abort(new Error("gone"));
		await expect(left).rejects.toThrow("gone");
		expect(await next).toBe("next");
	} finally {
		await pool.stop();
	}
});

test("what cannot wait is told to come again, and nothing is read after the stop", async () => {
	const pool = poolOf({ maxWaiting: 4 });
	const read = await Promise.allSettled(
		["a", "b", "c", "d"].map((text) => pool.read(bytesOf(text), `${text}.txt`, { tenant: "test", signal: NEVER })),
	);
	expect(read.map((result) => (result.status === "fulfilled" ? result.value : (result.reason as { code: string }).code))).toEqual(
		["a", "b", "c", "SERVICE_UNAVAILABLE"],
	);
	await pool.stop();
	await expect(pool.read(bytesOf("a"), "a.txt", { tenant: "test", signal: NEVER })).rejects.toMatchObject({
		code: "SERVICE_UNAVAILABLE",
	});
});

test("doctor sees that the reader works, and whether scans can be read", async () => {
	const pool = poolOf();
	expect(await checkDocuments(pool, null)).toEqual({
		name: "document reader",
		state: "note",
		text: "works; scanned pages are refused",
		mend: "apt-get install tesseract-ocr",
	});
	expect((await checkDocuments(pool, "/usr/bin/tesseract")).text).toBe("works; scanned pages are read by /usr/bin/tesseract");
	await pool.stop();
});

/** A sample with a few bytes changed, a stretch taken out or put in twice. */
function mutated(bytes: Uint8Array, random: () => number): Uint8Array {
	const copy = Buffer.from(bytes);
	for (let change = 0; change < 1 + random() * 20; change += 1)
		copy[Math.floor(random() * copy.length)] = Math.floor(random() * 256);
	const at = Math.floor(random() * copy.length);
	const length = Math.floor(random() * 2_000);
	if (random() < 0.3) return Buffer.concat([copy.subarray(0, at), copy.subarray(at + length)]);
	if (random() < 0.3) return Buffer.concat([copy.subarray(0, at + length), copy.subarray(at)]);
	return copy;
}

test("damaged files give a text or a refusal that says why, and never end the reader", async () => {
	const pool = poolOf({ processes: 2 });
	const names = [
		"testWORD_various.docx",
		"testPPT_various.pptx",
		"testRTFVarious.rtf",
		"testPDFVarious.pdf",
		"testEXCEL-formats.xlsx",
		"harmless-clean.doc",
		"workbook.xls",
		"slides.ppt",
		"mail.msg",
	];
	const samples = names.map((name) => readFileSync(join(SAMPLES, name)));
	const runs = Number(process.env.FUZZ_FILES ?? 100);
	const seed = Number(process.env.FUZZ_SEED ?? 20_260_518);
	const kinds = new Map<string, number>();
	try {
		let next = 0;
		const client = async () => {
			for (let run = next++; run < runs; run = next++) {
				const random = seeded(seed + run);
				const bytes = mutated(samples[run % samples.length] ?? new Uint8Array(), random);
				const told = await pool.read(bytes, "file", { tenant: "test", signal: NEVER }).then(
					() => "text",
					(fault) => (fault as { options?: { issues?: { code: string }[] } }).options?.issues?.[0]?.code ?? String(fault),
				);
				expect(told, `FUZZ_SEED=${seed + run}`).toMatch(/^(text|file_(corrupt|empty|encrypted|unsupported|too_large))$/);
				kinds.set(told, (kinds.get(told) ?? 0) + 1);
			}
		};
		await Promise.all([client(), client()]);
		expect(kinds.get("text")).toBeGreaterThan(0);
		expect(kinds.get("file_corrupt")).toBeGreaterThan(0);
	} finally {
		await pool.stop();
	}
});
