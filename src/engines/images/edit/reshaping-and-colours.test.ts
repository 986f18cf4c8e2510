import { afterAll, expect, test } from "bun:test";
import { imagesOf, painted, pixelsOf } from "../testing/images.ts";
import { BLUE, Edits, GREEN, LOGO, LOGO_COLOUR, RED, SAME, type Spot, WHITE, YELLOW } from "./testing/edits.ts";

const engine = imagesOf();
afterAll(() => engine.stop());
const edits = new Edits(engine);

test.each<readonly [string, readonly [number, number], readonly Spot[]]>([
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
	[
		"make it warmer by 40%",
		SAME,
		[
			[390, 290, [255, 220, 0, 255]],
			[390, 10, [0, 200, 0, 255]],
			[10, 290, [0, 0, 204, 255]],
		],
	],
	[
		"cooler",
		SAME,
		[
			[10, 10, [230, 0, 0, 255]],
			[10, 290, [0, 0, 255, 255]],
		],
	],
	[
		"crop to a circle",
		[300, 300],
		[
			[0, 0, [0, 0, 0, 0]],
			[299, 0, [0, 0, 0, 0]],
			[20, 20, [0, 0, 0, 0]],
			[42, 42, [0, 0, 0, 0]],
			[46, 46, RED],
			[149, 1, RED],
			[298, 160, YELLOW],
		],
	],
	[
		"crop to an ellipse",
		SAME,
		[
			[0, 0, [0, 0, 0, 0]],
			[399, 299, [0, 0, 0, 0]],
			[54, 40, [0, 0, 0, 0]],
			[62, 48, RED],
			[199, 1, RED],
			[398, 160, YELLOW],
		],
	],
	[
		"crop 50px from all sides",
		[300, 200],
		[
			[0, 0, RED],
			[149, 99, RED],
			[150, 100, YELLOW],
		],
	],
	[
		"add a vignette",
		SAME,
		[
			[199, 149, RED],
			[0, 149, [191, 0, 0, 255]],
			[0, 0, [128, 0, 0, 255]],
		],
	],
	["set the opacity to 40%", SAME, [[10, 10, [255, 0, 0, 102]]]],
	["make it 70% transparent", SAME, [[10, 10, [255, 0, 0, 77]]]],
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
	await edits.expectPixels(prompt, size, pixels);
});

test("a blur mixes what is side by side, and sharpening makes an edge steeper", async () => {
	const [r, g] = (await edits.edited("blur by 10 px")).at(200, 50);
	expect(r).toBeWithin(80, 180);
	expect(g).toBeWithin(60, 140);
	const soft = await painted(300, 300, (x) => [Math.min(200, Math.max(50, 50 + (x - 140) * 7)), 0, 0]);
	const before = await pixelsOf(soft);
	const after = await edits.edited("sharpen by 3", { images: [soft] });
	expect(after.at(158, 150)[0] - after.at(143, 150)[0]).toBeGreaterThan(before.at(158, 150)[0] - before.at(143, 150)[0]);
});

test("edges of one colour are trimmed, and a picture of one colour stays", async () => {
	const framed = await painted(400, 300, (x, y) => (x >= 100 && x < 300 && y >= 50 && y < 250 ? RED : WHITE));
	await edits.expectPixels(
		"trim",
		[200, 200],
		[
			[0, 0, RED],
			[199, 199, RED],
		],
		[framed],
	);
	await edits.expectPixels("trim", [300, 300], [[0, 0, LOGO_COLOUR]], [LOGO]);
});
