import { afterAll, describe, expect, test } from "bun:test";
import { distance, imagesOf, NEVER, PNG, painted, pixelsOf, type Rgba } from "../images-for-tests.ts";
import type { OutputFormat } from "../port.ts";

const engine = imagesOf();
afterAll(() => engine.stop());

const RED: Rgba = [255, 0, 0, 255];
const GREEN: Rgba = [0, 200, 0, 255];
const BLUE: Rgba = [0, 0, 255, 255];
const YELLOW: Rgba = [255, 220, 0, 255];
const WHITE: Rgba = [255, 255, 255, 255];
const BLACK: Rgba = [0, 0, 0, 255];

/** Four quarters: red, green, blue, yellow from the left upper corner on. */
const QUARTERS = await painted(400, 300, (x, y) => (y < 150 ? (x < 200 ? RED : GREEN) : x < 200 ? BLUE : YELLOW));
/** A white square of 100 in the middle of black: masks the middle. */
const MASK = await painted(400, 300, (x, y) => (x >= 150 && x < 250 && y >= 100 && y < 200 ? WHITE : BLACK));
/** The same as OpenAI's callers send it: what is to change is transparent. */
const CLEAR_MASK = await painted(400, 300, (x, y) => (x >= 150 && x < 250 && y >= 100 && y < 200 ? [0, 0, 0, 0] : WHITE));
const LOGO = await painted(300, 300, () => [255, 0, 255, 255]);

async function edited(
	prompt: string,
	{ images = [QUARTERS], output = PNG }: { images?: Uint8Array[]; output?: OutputFormat } = {},
) {
	return pixelsOf((await engine.localEdit({ prompt, images, output }, NEVER)).bytes);
}

async function expectPixels(
	prompt: string,
	size: readonly [number, number],
	pixels: readonly (readonly [x: number, y: number, colour: readonly number[]])[],
	images?: Uint8Array[],
	tolerance = 2,
) {
	const picture = await edited(prompt, images === undefined ? {} : { images });
	expect([picture.width, picture.height]).toEqual([...size]);
	for (const [x, y, colour] of pixels)
		expect(distance(picture.at(x, y), colour), `${prompt}: ${picture.at(x, y)} at ${x},${y}, not ${colour}`).toBeLessThanOrEqual(
			tolerance,
		);
}

const SAME = [400, 300] as const;

test.each<readonly [string, readonly [number, number], readonly (readonly [number, number, readonly number[]])[]]>([
	[
		"resize to 200x150",
		[200, 150],
		[
			[10, 10, RED],
			[190, 10, GREEN],
			[10, 140, BLUE],
			[190, 140, YELLOW],
		],
	],
	[
		"resize to 200x200 stretched",
		[200, 200],
		[
			[10, 90, RED],
			[10, 110, BLUE],
		],
	],
	[
		"resize to 300x300",
		[300, 300],
		[
			[140, 10, RED],
			[160, 10, GREEN],
		],
	],
	[
		"resize to 400x400 padded",
		[400, 400],
		[
			[200, 10, [0, 0, 0, 0]],
			[10, 60, RED],
			[390, 340, YELLOW],
		],
	],
	["resize to 200x200 fitted", [200, 150], [[10, 10, RED]]],
	[
		"resize to 800 px wide",
		[800, 600],
		[
			[390, 10, RED],
			[410, 10, GREEN],
		],
	],
	["resize to 30 px high", [40, 30], [[2, 2, RED]]],
	["scale by 2", [800, 600], [[10, 590, BLUE]]],
	["shrink by 50%", [200, 150], [[190, 140, YELLOW]]],
	[
		"crop to 100x80",
		[100, 80],
		[
			[40, 30, RED],
			[60, 50, YELLOW],
		],
	],
	["crop to 100x80 at 300,0", [100, 80], [[50, 40, GREEN]]],
	["crop to 100x80 at bottom left", [100, 80], [[50, 40, BLUE]]],
	[
		"crop to square",
		[300, 300],
		[
			[140, 10, RED],
			[160, 10, GREEN],
		],
	],
	[
		"crop to 2:1 at top",
		[400, 200],
		[
			[10, 140, RED],
			[10, 160, BLUE],
		],
	],
	[
		"crop 50% from the left",
		[200, 300],
		[
			[10, 10, GREEN],
			[10, 290, YELLOW],
		],
	],
	["crop 10 px from the bottom", [400, 290], [[10, 289, BLUE]]],
	[
		"pad to 500x400 with white",
		[500, 400],
		[
			[10, 10, WHITE],
			[60, 60, RED],
			[440, 340, YELLOW],
		],
	],
	[
		"rotate 90",
		[300, 400],
		[
			[10, 10, BLUE],
			[290, 10, RED],
			[10, 390, YELLOW],
			[290, 390, GREEN],
		],
	],
	[
		"rotate left",
		[300, 400],
		[
			[10, 10, GREEN],
			[290, 10, YELLOW],
		],
	],
	[
		"rotate 45 degrees on white",
		[495, 495],
		[
			[5, 5, WHITE],
			[214, 20, RED],
			[280, 480, YELLOW],
		],
	],
	["rotate 45 degrees", [495, 495], [[5, 5, [0, 0, 0, 0]]]],
	[
		"turn upside down",
		SAME,
		[
			[10, 10, YELLOW],
			[390, 290, RED],
		],
	],
	[
		"mirror",
		SAME,
		[
			[10, 10, GREEN],
			[390, 10, RED],
		],
	],
	[
		"flip",
		SAME,
		[
			[10, 10, BLUE],
			[10, 290, RED],
		],
	],
	[
		"invert",
		SAME,
		[
			[10, 10, [0, 255, 255, 255]],
			[390, 290, [0, 35, 255, 255]],
		],
	],
	[
		"black and white",
		SAME,
		[
			[10, 10, [54, 54, 54, 255]],
			[10, 290, [18, 18, 18, 255]],
		],
	],
	["sepia", SAME, [[10, 10, [100, 89, 69, 255]]]],
	[
		"brightness -50%",
		SAME,
		[
			[10, 10, [128, 0, 0, 255]],
			[390, 10, [0, 100, 0, 255]],
		],
	],
	["brighten by 10%", SAME, [[390, 10, [0, 220, 0, 255]]]],
	[
		"contrast -100%",
		SAME,
		[
			[10, 10, [128, 128, 128, 255]],
			[390, 290, [128, 128, 128, 255]],
		],
	],
	["contrast +100%", SAME, [[390, 10, [0, 255, 0, 255]]]],
	["saturation -100%", SAME, [[10, 10, [54, 54, 54, 255]]]],
	["hue by 180 degrees", SAME, [[10, 10, [0, 109, 109, 255]]]],
	["tint with blue by 50%", SAME, [[10, 10, [128, 0, 128, 255]]]],
	[
		"round the corners by 50 px",
		SAME,
		[
			[0, 0, [0, 0, 0, 0]],
			[399, 299, [0, 0, 0, 0]],
			[60, 2, RED],
			[20, 20, RED],
		],
	],
	[
		"add a 20 px white border",
		[440, 340],
		[
			[5, 5, WHITE],
			[25, 25, RED],
			[430, 330, WHITE],
		],
	],
	[
		"pixelate by 100 px",
		SAME,
		[
			[10, 10, RED],
			[150, 50, RED],
			[399, 299, YELLOW],
		],
	],
	[
		"blur by 3 px",
		SAME,
		[
			[50, 50, RED],
			[350, 250, YELLOW],
		],
	],
	["sharpen", SAME, [[50, 50, RED]]],
	["crop to square, rotate 90 and then resize to 64x64, invert", [64, 64], [[2, 2, [255, 255, 0, 255]]]],
])("%s", async (prompt, size, pixels) => {
	await expectPixels(prompt, size, pixels);
});

test("a blur mixes what is side by side, and sharpening makes an edge steeper", async () => {
	const [r, g] = (await edited("blur by 10 px")).at(200, 50);
	expect(r).toBeWithin(80, 180);
	expect(g).toBeWithin(60, 140);
	const soft = await painted(300, 300, (x) => [Math.min(200, Math.max(50, 50 + (x - 140) * 7)), 0, 0]);
	const before = await pixelsOf(soft);
	const after = await edited("sharpen by 3", { images: [soft] });
	expect(after.at(158, 150)[0] - after.at(143, 150)[0]).toBeGreaterThan(before.at(158, 150)[0] - before.at(143, 150)[0]);
});

test("edges of one colour are trimmed, and a picture of one colour stays", async () => {
	const framed = await painted(400, 300, (x, y) => (x >= 100 && x < 300 && y >= 50 && y < 250 ? RED : WHITE));
	await expectPixels(
		"trim",
		[200, 200],
		[
			[0, 0, RED],
			[199, 199, RED],
		],
		[framed],
	);
	await expectPixels("trim", [300, 300], [[0, 0, LOGO_COLOUR]], [LOGO]);
});
const LOGO_COLOUR: Rgba = [255, 0, 255, 255];

describe("text", () => {
	/** Where a picture differs from a plain red one. */
	async function inkOf(prompt: string) {
		const plain = await painted(400, 300, () => RED);
		const picture = await edited(prompt, { images: [plain] });
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
		await expect(edited(`write "${"M".repeat(499)}" size 2000`)).rejects.toMatchObject({ kind: "not-possible" });
	});
});

describe("layers", () => {
	test("are placed, scaled and seen through; what stands over is cut off", async () => {
		const images = [QUARTERS, LOGO];
		await expectPixels(
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
		await expectPixels(
			"overlay the second image at bottom right scaled to 40 px with opacity 50%",
			SAME,
			[
				[399, 299, [255, 110, 128, 255]],
				[359, 299, YELLOW],
			],
			images,
		);
		await expectPixels(
			"place layer 2 at 350,-250",
			SAME,
			[
				[360, 49, LOGO_COLOUR],
				[360, 51, GREEN],
				[349, 10, GREEN],
			],
			images,
		);
		await expectPixels(
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
			await expectPixels(
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
		await expectPixels(
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
		await expectPixels(
			"fill the mask with black",
			SAME,
			[
				[200, 150, BLACK],
				[149, 150, BLUE],
			],
			[QUARTERS, MASK],
		);
		const spotted = await painted(400, 300, (x, y) => (Math.hypot(x - 200, y - 150) < 40 ? BLACK : [x / 4 + 50, 120, 200]));
		await expectPixels(
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
		await expectPixels("inpaint", SAME, [[200, 150, [100, 120, 200, 255]]], [spotted, CLEAR_MASK], 12);
	});

	test("fill a region of megapixels too, its rim from what surrounds it", async () => {
		const size = { width: 2_600, height: 1_800 };
		const inside = (x: number, y: number) => x >= 500 && x < 2_100 && y >= 400 && y < 1_400;
		const base = await painted(size.width, size.height, (x, y) => (inside(x, y) ? BLACK : [60, 120, 200]));
		const mask = await painted(size.width, size.height, (x, y) => (inside(x, y) ? WHITE : BLACK));
		const sky: Rgba = [60, 120, 200, 255];
		await expectPixels(
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
			expect(edited(prompt, { images })).rejects.toMatchObject({ kind: "not-possible" });
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
		await expectPixels(
			"make the background transparent",
			SAME,
			[
				[5, 5, [0, 0, 0, 0]],
				[200, 150, [250, 250, 250, 255]],
				[160, 150, RED],
			],
			[disc],
		);
		await expectPixels(
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
		await expect(edited("remove the background")).rejects.toMatchObject({
			kind: "not-possible",
			message: expect.stringContaining("plain background"),
		});
	});
});

test("what is transparent stays in PNG and WebP, and becomes white in JPEG", async () => {
	for (const format of ["png", "webp"] as const) {
		const picture = await edited("round the corners by 100 px", { output: { format } });
		expect(picture.at(0, 0)[3]).toBe(0);
		expect(picture.at(200, 50)[3]).toBe(255);
	}
	expect(distance((await edited("round the corners by 100 px", { output: { format: "jpeg" } })).at(0, 0), WHITE)).toBeLessThan(4);
	await expectPixels("round the corners by 100 px, flatten on blue", SAME, [
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
	await expect(edited(prompt)).rejects.toMatchObject({
		name: "ImageFault",
		kind: "not-possible",
		message: expect.stringContaining(told),
	});
});

test("a layer that is at fault is named", async () => {
	const small = await painted(100, 100, () => RED);
	await expect(edited("blur", { images: [QUARTERS, MASK, small] })).rejects.toMatchObject({ kind: "too-small", imageIndex: 2 });
	await expect(edited("blur", { images: [QUARTERS, QUARTERS.subarray(0, 500)] })).rejects.toMatchObject({
		kind: "corrupt",
		imageIndex: 1,
	});
});
