import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { AssetStore, loadManifest } from "../../assets/index.ts";
import { silentLog } from "../../telemetry/log.ts";
import { checkEmbeddingEngine, EMBEDDED_EMBEDDING_ASSETS, EmbeddedEmbeddings } from "./index.ts";

const CHECKOUT = join(import.meta.dir, "../../..");

// Kept between runs.
const assets = new AssetStore({
	dir: join(CHECKOUT, ".cache/assets"),
	manifest: loadManifest(join(CHECKOUT, "catalog/assets.json")),
	log: silentLog,
});
const config = { enabled: true, threads: 1, queue: 7, maxMemoryMb: 512, idleStopMs: 600_000 };
const engine = new EmbeddedEmbeddings({ config, assets, log: silentLog });

beforeAll(async () => {
	for (const name of Object.values(EMBEDDED_EMBEDDING_ASSETS)) await assets.ensure(name);
});
afterAll(() => engine.stop());

const never = () => new AbortController().signal;
const embed = (...texts: string[]) => engine.embed(texts, { tenant: "test", signal: never() });
const cosine = (one: Float32Array | undefined, other: Float32Array | undefined): number =>
	one?.reduce((sum, value, index) => sum + value * (other?.[index] ?? 0), 0) ?? Number.NaN;

describe("the embedded embedding model", () => {
	test("puts texts of one meaning near each other and others far away", async () => {
		const { vectors } = await embed("A cat sits on the mat", "A kitten is on the rug", "The stock market fell");
		expect(cosine(vectors[0], vectors[1])).toBeGreaterThan(0.5);
		expect(cosine(vectors[0], vectors[2])).toBeLessThan(0.2);
		for (const vector of vectors) {
			expect(vector).toHaveLength(384);
			expect(cosine(vector, vector)).toBeCloseTo(1, 4);
		}
	});

	/** Numbers by the Python packages tokenizers and onnxruntime from the same files. */
	test("reads and counts as the reference does", async () => {
		const reference: readonly (readonly [string, number, number, number])[] = JSON.parse(
			await Bun.file(join(import.meta.dir, "reference-vectors.json")).text(),
		);
		for (const [text, tokens, first, second] of reference) {
			const { vectors, tokens: counted } = await embed(text);
			expect(counted, text).toBe(tokens);
			expect(vectors[0]?.[0], text).toBeCloseTo(first, 3);
			expect(vectors[0]?.[1], text).toBeCloseTo(second, 3);
		}
	});

	test("gives a text the same vector alone and among others", async () => {
		const texts = Array.from({ length: 40 }, (_, index) => `text number ${index} `.repeat(1 + (index % 5)));
		const { vectors, tokens } = await embed(...texts);
		const alone = await Promise.all([0, 15, 16, 39].map((index) => embed(texts[index] ?? "")));
		for (const [at, index] of [0, 15, 16, 39].entries()) expect(alone[at]?.vectors[0]).toEqual(vectors[index] as Float32Array);
		expect(tokens).toBeGreaterThan(40 * 5);
	});

	test("refuses a text that it cannot read whole, and names it", async () => {
		const refusal = await embed("short", ...Array<string>(20).fill("x"), "word ".repeat(511)).catch((error: unknown) => error);
		expect(refusal).toMatchObject({ code: "TOO_MANY_TOKENS", status: 400 });
		expect(String(refusal)).toContain("input[21] has 513 tokens");
		expect(await embed("word ".repeat(510))).toMatchObject({ tokens: 512 });
		expect(await embed("x".repeat(70_000)).catch((error: unknown) => error)).toMatchObject({ code: "TOO_MANY_TOKENS" });
	});

	test("stays well when a caller leaves, or its process is ended in the middle", async () => {
		const many = Array<string>(400).fill("a sentence that takes a while ".repeat(20));
		const left = new AbortController();
		const leaving = engine.embed(many, { tenant: "test", signal: left.signal }).catch((error: unknown) => error);
		left.abort(new Error("left"));
		expect(String(await leaving)).toContain("left");
		const broken = engine.embed(many, { tenant: "test", signal: never() }).catch((error: unknown) => error);
		while (engine.pids().length === 0) await Bun.sleep(5);
		for (const pid of engine.pids()) process.kill(pid, "SIGKILL");
		expect(["INFERENCE_FAILED", "SERVICE_UNAVAILABLE"]).toContain(((await broken) as { code?: string }).code ?? "none");
		expect((await embed("still here")).vectors).toHaveLength(1);
	});

	test("refuses what comes while too many wait", async () => {
		const many = Array<string>(64).fill("a sentence ".repeat(30));
		const outcomes = await Promise.allSettled(
			Array.from({ length: 8 }, () => engine.embed(many, { tenant: "test", signal: never() })),
		);
		const refused = outcomes.filter(({ status }) => status === "rejected");
		expect(refused).toHaveLength(4);
		for (const outcome of refused) expect(outcome).toMatchObject({ reason: { code: "MODEL_OVERLOADED", status: 429 } });
	});

	test("is checked by doctor", async () => {
		expect(await checkEmbeddingEngine(engine)).toMatchObject({ state: "ok", text: expect.stringContaining("vector") });
	});
});
