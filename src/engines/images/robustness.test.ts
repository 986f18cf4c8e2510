import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import sharp from "sharp";
import { treeResidentBytes } from "../process-tree.ts";
import { seeded } from "../testing/seeded.ts";
import type { ImageFault } from "./index.ts";
import { imagesOf, NEVER, PNG, painted, sample } from "./testing/images.ts";

const folder = mkdtempSync(join(tmpdir(), "turnpike-images-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const ANSWER = `{ bytes, mediaType: "image/png", width: 1, height: 1, hasAlpha: false }`;

/** A child that does something to a picture whose last byte is 66, and gives all others back. */
function childThat(name: string, does: string): string {
	const entry = join(folder, `${name}.ts`);
	const side = JSON.stringify(join(import.meta.dir, "../child-side.ts"));
	writeFileSync(
		entry,
		`import { serveParent } from ${side};
		serveParent({ start: async () => null, work: async ({ id, bytes }) => {
			if (bytes.at(-1) === 66) { ${does} }
			return { id, picture: ${ANSWER} };
		} });`,
	);
	return entry;
}

const GOOD = await painted(256, 256, () => [9, 9, 9]);
/** 8 megapixels with detail as a camera's, in some megabytes. */
const PHOTO = await sharp({
	create: {
		width: 3_264,
		height: 2_448,
		channels: 3,
		background: "red",
		noise: { type: "gaussian", mean: 128, sigma: 12 },
	},
})
	.jpeg({ quality: 80 })
	.toBuffer();
const BAD = Buffer.concat([GOOD, Buffer.from([66])]);

test.each([
	["hangs", "for (;;);", { code: "REQUEST_TIMEOUT" }, /more than 5 s of processor time; send a smaller one/],
	["dies", "process.exit(9);", { name: "ImageFault", kind: "too-costly" }, /ended in the middle/],
	[
		"eats",
		"const kept = []; for (;;) { kept.push(new Uint8Array(16 << 20).fill(1)); if (kept.length > 64) kept.length = 0; await Bun.sleep(10); }",
		{ name: "ImageFault", kind: "too-costly" },
		/more memory/,
	],
])("a picture whose work %s is refused, and those before, beside and behind it are not", async (how, does, fault, message) => {
	const engine = imagesOf({ entry: childThat(how, does), limitMs: 5_000, maxMemoryMb: 300 });
	try {
		const done = await Promise.allSettled(
			[GOOD, BAD, GOOD, BAD, GOOD].map((bytes) => engine.normalise(bytes, { tenant: "test", signal: NEVER })),
		);
		expect(done.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled", "rejected", "fulfilled"]);
		for (const result of done)
			if (result.status === "rejected")
				expect(result.reason).toMatchObject({ ...fault, message: expect.stringMatching(message) });
	} finally {
		await engine.stop();
		expect(engine.pids()).toEqual([]);
	}
});

test("a process that is killed in the middle fails its own picture only", async () => {
	const engine = imagesOf({ processes: 2 });
	try {
		await Promise.all([
			engine.normalise(GOOD, { tenant: "test", signal: NEVER }),
			engine.normalise(GOOD, { tenant: "test", signal: NEVER }),
		]);
		const [first = 0] = engine.pids();
		const jobs = [PHOTO, PHOTO, GOOD, GOOD, GOOD].map((bytes) => engine.normalise(bytes, { tenant: "test", signal: NEVER }));
		process.kill(first, "SIGKILL");
		const done = await Promise.allSettled(jobs);
		expect(done.filter(({ status }) => status === "rejected").length).toBe(1);
		expect(done.slice(2).map(({ status }) => status)).toEqual(["fulfilled", "fulfilled", "fulfilled"]);
		expect(await engine.normalise(GOOD, { tenant: "test", signal: NEVER })).toMatchObject({ width: 256 });
	} finally {
		await engine.stop();
	}
});

test("a caller that leaves ends its work, and the next picture is done", async () => {
	const engine = imagesOf({ entry: childThat("leaves", "await new Promise(() => {});") });
	try {
		const leaving = new AbortController();
		const left = engine.normalise(BAD, { tenant: "test", signal: leaving.signal });
		const next = engine.normalise(GOOD, { tenant: "test", signal: NEVER });
		leaving.abort(new Error("gone"));
		await expect(left).rejects.toThrow("gone");
		expect(await next).toMatchObject({ width: 1 });
	} finally {
		await engine.stop();
	}
});

test("what cannot wait is told to come again, and nothing is done after the stop", async () => {
	for (const [maxWaiting, codes] of [
		// One works, one more for a caller that has nothing under way, and those that wait.
		[2, ["done", "done", "done", "done", "MODEL_OVERLOADED"]],
		[0, ["done", "done", "MODEL_OVERLOADED", "MODEL_OVERLOADED", "MODEL_OVERLOADED"]],
	] as const) {
		const engine = imagesOf({ maxWaiting });
		const done = await Promise.all(
			Array.from({ length: 5 }, (_, index) =>
				engine.blur(GOOD, PNG, { tenant: `caller ${index}`, signal: NEVER }).then(
					() => "done",
					(fault: { code: string }) => fault.code,
				),
			),
		);
		expect(done).toEqual([...codes]);
		await engine.stop();
		await expect(engine.blur(GOOD, PNG, { tenant: "test", signal: NEVER })).rejects.toMatchObject({
			code: "SERVICE_UNAVAILABLE",
		});
	}
});

test("40 pictures of 8 megapixels at once are all done, in bounded memory", async () => {
	const engine = imagesOf({ processes: 2 });
	let peak = 0;
	const watch = setInterval(async () => {
		const sizes = engine.pids().map(treeResidentBytes);
		peak = Math.max(
			peak,
			sizes.reduce<number>((sum, bytes) => sum + (bytes ?? 0), 0),
		);
	}, 50);
	try {
		const sizes = await Promise.all(
			Array.from({ length: 40 }, async (_, index) => {
				// A copy each, as each caller sends one.
				const { width, height, bytes } = await engine.normalise(Uint8Array.from(PHOTO), {
					tenant: `caller ${index}`,
					signal: NEVER,
				});
				expect(bytes.length, `picture ${index}`).toBeGreaterThan(100_000);
				return `${width}x${height}`;
			}),
		);
		expect(new Set(sizes)).toEqual(new Set(["3264x2448"]));
		expect(sizes.length).toBe(40);
		expect(peak / 2 ** 20).toBeLessThan(700);
		// Two, and one for callers that have nothing under way.
		expect(engine.pids().length).toBe(3);
	} finally {
		clearInterval(watch);
		await engine.stop();
	}
});

describe("damaged pictures", () => {
	/** A sample with a few bytes changed, a stretch taken out or put in twice. */
	function mutated(bytes: Uint8Array, random: () => number): Uint8Array {
		const copy = Buffer.from(bytes);
		for (let change = 0; change < 1 + random() * 12; change += 1)
			copy[Math.floor(random() * copy.length)] = Math.floor(random() * 256);
		const at = Math.floor(random() * copy.length);
		const length = Math.floor(random() * 400);
		if (random() < 0.3) return Buffer.concat([copy.subarray(0, at), copy.subarray(at + length)]);
		if (random() < 0.3) return Buffer.concat([copy.subarray(0, at + length), copy.subarray(at)]);
		return copy;
	}

	test("are read or refused with a reason, and never end a process", async () => {
		const engine = imagesOf({ processes: 2 });
		const small = await sharp(sample("plain.jpg")).resize(300).png().toBuffer();
		const samples = [
			...["plain.jpg", "cmyk.jpg", "exif_orientation6.jpg", "rgb16.png", "animated.webp", "alpha.png"].map(sample),
			small,
			await sharp(small).gif().toBuffer(),
			await sharp(small).avif({ effort: 0 }).toBuffer(),
			await sharp(small).tiff({ compression: "lzw" }).toBuffer(),
			await sharp(small).webp({ lossless: true }).toBuffer(),
		];
		const runs = Number(process.env.FUZZ_IMAGES ?? 300);
		const seed = Number(process.env.FUZZ_SEED ?? 20_260_518);
		const told = new Map<string, number>();
		try {
			await Promise.all([
				engine.normalise(GOOD, { tenant: "test", signal: NEVER }),
				engine.normalise(GOOD, { tenant: "test", signal: NEVER }),
			]);
			const pids = engine.pids();
			let next = 0;
			const client = async () => {
				for (let run = next++; run < runs; run = next++) {
					const random = seeded(seed + run);
					const bytes = mutated(samples[run % samples.length] ?? GOOD, random);
					const answer = await engine.normalise(bytes, { tenant: "test", signal: NEVER }, { minPixels: 0 }).then(
						() => "read",
						(fault: ImageFault) => fault.kind ?? String(fault),
					);
					expect(answer, `FUZZ_SEED=${seed + run}`).toMatch(/^(?:read|corrupt|unsupported|too-many-pixels)$/);
					told.set(answer, (told.get(answer) ?? 0) + 1);
				}
			};
			await Promise.all([client(), client()]);
			expect(told.get("read")).toBeGreaterThan(0);
			expect(told.get("corrupt")).toBeGreaterThan(0);
			expect(engine.pids()).toEqual(pids);
		} finally {
			await engine.stop();
		}
	});
});
