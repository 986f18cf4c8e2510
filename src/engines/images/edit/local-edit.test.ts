import { afterAll, describe, expect, test } from "bun:test";
import { distance, imagesOf, painted, type Rgba } from "../testing/images.ts";
import {
	BLACK,
	BLUE,
	CLEAR_MASK,
	Edits,
	GREEN,
	LOGO,
	LOGO_COLOUR,
	MASK,
	QUARTERS,
	RED,
	SAME,
	WHITE,
	YELLOW,
} from "./testing/edits.ts";

const engine = imagesOf();
afterAll(() => engine.stop());
const edits = new Edits(engine);

describe("text", () => {
	/** Where a picture differs from a plain red one. */
	async function inkOf(prompt: string) {
		const plain = await painted(400, 300, () => RED);
		const picture = await edits.edited(prompt, { images: [plain] });
		const spots: { x: number; y: number; colour: Rgba }[] = [];
		for (let y = 0; y < 300; y += 1)
			for (let x = 0; x < 400; x += 1) {
				const colour = picture.at(x, y);
				if (distance(colour, RED) > 20) spots.push({ x, y, colour });
			}
		return spots;
	}

	test("is written where, how large and in which colour it is told", async () => {
		const small = await inkOf('write "Hello" at top left in white size 20');
		expect(small.length).toBeGreaterThan(100);
		expect(Math.max(...small.map(({ x }) => x))).toBeLessThan(100);
		expect(Math.max(...small.map(({ y }) => y))).toBeLessThan(40);
		expect(small.some(({ colour }) => distance(colour, WHITE) <= 2)).toBe(true);
		const large = await inkOf('write "Hello" at bottom right in #0000ff size 60 bold');
		expect(large.length).toBeGreaterThan(4 * small.length);
		expect(Math.min(...large.map(({ x, y }) => Math.min(x - 200, y - 200)))).toBeGreaterThan(0);
		expect(large.some(({ colour }) => distance(colour, BLUE) <= 2)).toBe(true);
	});

	test("is text whatever stands in it, and may be seen through", async () => {
		const markup = await inkOf('write "<b>&amp; </span>" at 10,10 size 24 opacity 50%');
		expect(markup.length).toBeGreaterThan(200);
		expect(markup.every(({ colour: [, g] }) => g <= 140)).toBe(true);
	});

	test("is wrapped, and refused where it would be too much", async () => {
		const ink = await inkOf(`write "${"word ".repeat(30)}" at center size 24`);
		expect(Math.max(...ink.map(({ y }) => y)) - Math.min(...ink.map(({ y }) => y))).toBeGreaterThan(60);
		await expect(edits.edited(`write "${"M".repeat(499)}" size 2000`)).rejects.toMatchObject({ kind: "not-possible" });
	});
});

describe("layers", () => {
	test("are placed, scaled and seen through; what stands over is cut off", async () => {
		const images = [QUARTERS, LOGO];
		await edits.expectPixels(
			"place layer 2 at 10,20 scaled to 25%",
			SAME,
			[
				[9, 20, RED],
				[10, 20, LOGO_COLOUR],
				[109, 119, LOGO_COLOUR],
				[110, 119, RED],
			],
			images,
		);
		await edits.expectPixels(
			"overlay the second image at bottom right scaled to 40 px with opacity 50%",
			SAME,
			[
				[399, 299, [255, 110, 128, 255]],
				[359, 299, YELLOW],
			],
			images,
		);
		await edits.expectPixels(
			"place layer 2 at 350,-250",
			SAME,
			[
				[360, 49, LOGO_COLOUR],
				[360, 51, GREEN],
				[349, 10, GREEN],
			],
			images,
		);
		await edits.expectPixels(
			"place layer 3",
			SAME,
			[
				[200, 150, LOGO_COLOUR],
				[10, 10, RED],
			],
			[QUARTERS, MASK, LOGO],
		);
	});

	test("bound adjustments where they mask", async () => {
		for (const mask of [MASK, CLEAR_MASK])
			await edits.expectPixels(
				"invert in the masked region",
				SAME,
				[
					[149, 100, RED],
					[151, 101, [0, 255, 255, 255]],
					[10, 10, RED],
				],
				[QUARTERS, mask],
			);
		const small = await painted(256, 256, (x) => (x < 128 ? WHITE : BLACK));
		await edits.expectPixels(
			"brightness -100% inside mask 3",
			SAME,
			[
				[100, 50, BLACK],
				[300, 50, GREEN],
			],
			[QUARTERS, LOGO, small],
		);
	});

	test("fill what they mask with a colour, or from what surrounds it", async () => {
		await edits.expectPixels(
			"fill the mask with black",
			SAME,
			[
				[200, 150, BLACK],
				[149, 150, BLUE],
			],
			[QUARTERS, MASK],
		);
		const spotted = await painted(400, 300, (x, y) => (Math.hypot(x - 200, y - 150) < 40 ? BLACK : [x / 4 + 50, 120, 200]));
		await edits.expectPixels(
			"remove the masked object",
			SAME,
			[
				[200, 150, [100, 120, 200, 255]],
				[165, 150, [91, 120, 200, 255]],
				[10, 10, [52, 120, 200, 255]],
			],
			[spotted, MASK],
			12,
		);
		await edits.expectPixels("inpaint", SAME, [[200, 150, [100, 120, 200, 255]]], [spotted, CLEAR_MASK], 12);
	});

	test("fill a region of megapixels too, its rim from what surrounds it", async () => {
		const size = { width: 2_600, height: 1_800 };
		const inside = (x: number, y: number) => x >= 500 && x < 2_100 && y >= 400 && y < 1_400;
		const base = await painted(size.width, size.height, (x, y) => (inside(x, y) ? BLACK : [60, 120, 200]));
		const mask = await painted(size.width, size.height, (x, y) => (inside(x, y) ? WHITE : BLACK));
		const sky: Rgba = [60, 120, 200, 255];
		await edits.expectPixels(
			"inpaint",
			[2_600, 1_800],
			[
				[500, 400, sky],
				[2_099, 1_399, sky],
				[1_300, 900, sky],
				[499, 399, sky],
			],
			[base, mask],
			6,
		);
	});

	test("that were not sent, mask nothing or leave nothing to fill from are told", async () => {
		const plain = async (colour: Rgba) => painted(400, 300, () => colour);
		const refusal = (prompt: string, images: Uint8Array[]) =>
			expect(edits.edited(prompt, { images })).rejects.toMatchObject({ kind: "not-possible" });
		await refusal("place layer 2", [QUARTERS]);
		await refusal("inpaint mask 3", [QUARTERS, MASK]);
		await refusal("inpaint", [QUARTERS, await plain(BLACK)]);
		await refusal("inpaint", [QUARTERS, await plain(WHITE)]);
		await refusal("place layer 2 at 500,10", [QUARTERS, LOGO]);
	});
});

describe("a plain background", () => {
	test("is taken away, what stands before it stays, holes of its colour too", async () => {
		const disc = await painted(400, 300, (x, y) => {
			const r = Math.hypot(x - 200, y - 150);
			return r < 20 ? [250, 250, 250] : r < 80 ? RED : [255 - (x % 5), 255, 252];
		});
		await edits.expectPixels(
			"make the background transparent",
			SAME,
			[
				[5, 5, [0, 0, 0, 0]],
				[200, 150, [250, 250, 250, 255]],
				[160, 150, RED],
			],
			[disc],
		);
		await edits.expectPixels(
			"replace the background with navy",
			SAME,
			[
				[5, 5, [0, 0, 128, 255]],
				[160, 150, RED],
			],
			[disc],
		);
	});

	test("is told from one that is not plain", async () => {
		await expect(edits.edited("remove the background")).rejects.toMatchObject({
			kind: "not-possible",
			message: expect.stringContaining("plain background"),
		});
	});
});

test("what is transparent stays in PNG and WebP, and becomes white in JPEG", async () => {
	for (const format of ["png", "webp"] as const) {
		const picture = await edits.edited("round the corners by 100 px", { output: { format } });
		expect(picture.at(0, 0)[3]).toBe(0);
		expect(picture.at(200, 50)[3]).toBe(255);
	}
	expect(
		distance((await edits.edited("round the corners by 100 px", { output: { format: "jpeg" } })).at(0, 0), WHITE),
	).toBeLessThan(4);
	await edits.expectPixels("round the corners by 100 px, flatten on blue", SAME, [
		[0, 0, BLUE],
		[200, 2, GREEN],
	]);
});

test.each([
	["crop to 500x100", "goes beyond the image, which has 400x300 pixels"],
	["crop to 100x100 at 350,0", "goes beyond"],
	["crop 400 px from the left", "nothing is left"],
	["scale by 10, scale by 10", "at most 33177600"],
	["resize to 16000x16000", "at most 33177600"],
	["pad to 16000x16000", "at most 33177600"],
	["add a 2000 px border, add a 2000 px border", "at most 33177600"],
])("%s is not possible", async (prompt, told) => {
	await expect(edits.edited(prompt)).rejects.toMatchObject({
		name: "ImageFault",
		kind: "not-possible",
		message: expect.stringContaining(told),
	});
});

test("a layer that is at fault is named", async () => {
	const small = await painted(100, 100, () => RED);
	await expect(edits.edited("blur", { images: [QUARTERS, MASK, small] })).rejects.toMatchObject({
		kind: "too-small",
		imageIndex: 2,
	});
	await expect(edits.edited("blur", { images: [QUARTERS, QUARTERS.subarray(0, 500)] })).rejects.toMatchObject({
		kind: "corrupt",
		imageIndex: 1,
	});
});
