import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { growth, LINEAR_BOUND } from "../../../../test/support/growth.ts";
import { ImageFault } from "../port.ts";
import { type Colour, TRANSPARENT } from "./colours.ts";
import { ANCHORS, LETTER_SIZES, type Operation, RESIZE_WAYS, SIDES } from "./operation.ts";
import { MAX_PROMPT_CHARS, parsePrompt } from "./parse-prompt.ts";
import { printPrompt } from "./testing/print-prompt.ts";

const place = (op: Partial<Extract<Operation, { op: "layer" }>>): Operation => ({
	op: "layer",
	layer: 2,
	at: "center",
	width: null,
	opacity: 100,
	...op,
});
const write = (op: Partial<Extract<Operation, { op: "text" }>>): Operation => ({
	op: "text",
	text: "Hello",
	at: "bottom",
	px: null,
	colour: "#ffffff",
	bold: false,
	opacity: 100,
	...op,
});

const READ: readonly (readonly [prompt: string, ...operations: Operation[]])[] = [
	["resize to 800x600", { op: "resize", width: 800, height: 600, how: "cropped" }],
	["Please resize the image to 800 × 600 px stretched.", { op: "resize", width: 800, height: 600, how: "stretched" }],
	["resize to 800 by 600 fitted", { op: "resize", width: 800, height: 600, how: "fitted" }],
	["resize to 800 px wide", { op: "resize-side", side: "width", px: 800 }],
	["scale to height 300", { op: "resize-side", side: "height", px: 300 }],
	["scale by 2x", { op: "scale", percent: 200 }],
	["scale by 1.5", { op: "scale", percent: 150 }],
	["resize to 50%", { op: "scale", percent: 50 }],
	["enlarge by 50%", { op: "scale", percent: 150 }],
	["shrink by 20 percent", { op: "scale", percent: 80 }],
	["crop to 400x300", { op: "crop", width: 400, height: 300, at: "center" }],
	["crop to 400x300 at 10,20", { op: "crop", width: 400, height: 300, at: { x: 10, y: 20 } }],
	["crop to 400x300 from the top-left corner", { op: "crop", width: 400, height: 300, at: "top left" }],
	["crop it to a square", { op: "crop-ratio", width: 1, height: 1, at: "center" }],
	["crop to 16:9 at the bottom", { op: "crop-ratio", width: 16, height: 9, at: "bottom" }],
	["crop 10% from the left side", { op: "cut", side: "left", by: { value: 10, unit: "%" } }],
	["cut 12px off the top", { op: "cut", side: "top", by: { value: 12, unit: "px" } }],
	["crop the top half", { op: "cut", side: "bottom", by: { value: 50, unit: "%" } }],
	["crop to the left third", { op: "cut", side: "right", by: { value: 66.67, unit: "%" } }],
	["keep only the bottom half", { op: "cut", side: "top", by: { value: 50, unit: "%" } }],
	["crop off the top half", { op: "cut", side: "top", by: { value: 50, unit: "%" } }],
	["cut the right quarter off", { op: "cut", side: "right", by: { value: 25, unit: "%" } }],
	["resize to 512*512", { op: "resize", width: 512, height: 512, how: "cropped" }],
	["resize it to 512 * 512 px", { op: "resize", width: 512, height: 512, how: "cropped" }],
	["make it smaller", { op: "scale", percent: 50 }],
	["make it a bit smaller", { op: "scale", percent: 75 }],
	["make it 20% smaller", { op: "scale", percent: 80 }],
	["make the image bigger by 10%", { op: "scale", percent: 110 }],
	["make it larger", { op: "scale", percent: 200 }],
	["make it half the size", { op: "scale", percent: 50 }],
	["make it twice as big", { op: "scale", percent: 200 }],
	["shrink it", { op: "scale", percent: 50 }],
	["shrink it by half", { op: "scale", percent: 50 }],
	["reduce the size by half", { op: "scale", percent: 50 }],
	["reduce its size to 40%", { op: "scale", percent: 40 }],
	["increase the size by 50%", { op: "scale", percent: 150 }],
	["make it 800 pixels wide", { op: "resize-side", side: "width", px: 800 }],
	["make it 800x600", { op: "resize", width: 800, height: 600, how: "cropped" }],
	["make it square", { op: "crop-ratio", width: 1, height: 1, at: "center" }],
	["remove the left half", { op: "cut", side: "left", by: { value: 50, unit: "%" } }],
	["crop 10% from each side", { op: "crop-share", percent: 80, at: "center" }],
	["crop 5% off all sides", { op: "crop-share", percent: 90, at: "center" }],
	["flip it horizontally and vertically", { op: "rotate", degrees: 180, colour: TRANSPARENT }],
	["mirror it both ways", { op: "rotate", degrees: 180, colour: TRANSPARENT }],
	["soften", { op: "blur", px: 5, mask: null }],
	["make it a bit softer", { op: "blur", px: 2.5, mask: null }],
	["make the corners round", { op: "round", radius: { value: 10, unit: "%" } }],
	["make the corners rounded by 24 px", { op: "round", radius: { value: 24, unit: "px" } }],
	["add a thick border", { op: "border", px: 30, colour: "#000000" }],
	["add a thin red frame", { op: "border", px: 3, colour: "#ff0000" }],
	["resize to half its size", { op: "scale", percent: 50 }],
	["enlarge", { op: "scale", percent: 200 }],
	["trim the edges", { op: "trim" }],
	["pad to 900x900 with white", { op: "pad", width: 900, height: 900, colour: "#ffffff" }],
	["rotate 90", { op: "rotate", degrees: 90, colour: TRANSPARENT }],
	["rotate 90° counter-clockwise", { op: "rotate", degrees: -90, colour: TRANSPARENT }],
	["rotate left", { op: "rotate", degrees: -90, colour: TRANSPARENT }],
	["rotate by 30 degrees on a white background", { op: "rotate", degrees: 30, colour: "#ffffff" }],
	["turn it upside down", { op: "rotate", degrees: 180, colour: TRANSPARENT }],
	["flip", { op: "flip", axis: "vertically" }],
	["flip horizontally", { op: "flip", axis: "horizontally" }],
	["mirror", { op: "flip", axis: "horizontally" }],
	["blur", { op: "blur", px: 5, mask: null }],
	["blur by 12.5 px inside the masked region", { op: "blur", px: 12.5, mask: 2 }],
	["make it blurry in mask 3", { op: "blur", px: 5, mask: 3 }],
	["pixelate by 20 px under the mask", { op: "pixelate", px: 20, mask: 2 }],
	["sharpen", { op: "sharpen", amount: 1, mask: null }],
	["sharpen it a bit", { op: "sharpen", amount: 0.5, mask: null }],
	["make it a little sharper", { op: "sharpen", amount: 0.5, mask: null }],
	["slightly blur it", { op: "blur", px: 2.5, mask: null }],
	["blur it a lot inside mask 3", { op: "blur", px: 10, mask: 3 }],
	["make it a little bit brighter", { op: "brightness", percent: 10, mask: null }],
	["darken slightly", { op: "brightness", percent: -10, mask: null }],
	["increase contrast a bit", { op: "contrast", percent: 10, mask: null }],
	["desaturate a bit", { op: "saturation", percent: -10, mask: null }],
	["black & white", { op: "grey", mask: null }],
	["make it B&W", { op: "grey", mask: null }],
	["black-white", { op: "grey", mask: null }],
	["invert & mirror", { op: "invert", mask: null }, { op: "flip", axis: "horizontally" }],
	["make it black and white", { op: "grey", mask: null }],
	["convert to grey-scale", { op: "grey", mask: null }],
	["desaturate", { op: "grey", mask: null }],
	["desaturate by 30%", { op: "saturation", percent: -30, mask: null }],
	["apply sepia", { op: "sepia", mask: null }],
	["invert the colours", { op: "invert", mask: null }],
	["brighten", { op: "brightness", percent: 20, mask: null }],
	["make the picture darker by 35%", { op: "brightness", percent: -35, mask: null }],
	["brightness +15%", { op: "brightness", percent: 15, mask: null }],
	["set brightness to 120%", { op: "brightness", percent: 20, mask: null }],
	["increase the contrast by 40%", { op: "contrast", percent: 40, mask: null }],
	["less saturation", { op: "saturation", percent: -20, mask: null }],
	["shift hue by 90 degrees", { op: "hue", degrees: 90, mask: null }],
	["tint red", { op: "tint", colour: "#ff0000", percent: 50, mask: null }],
	["tint with light blue by 25%", { op: "tint", colour: "#add8e6", percent: 25, mask: null }],
	["round the corners by 24 px", { op: "round", radius: { value: 24, unit: "px" } }],
	["add rounded corners", { op: "round", radius: { value: 10, unit: "%" } }],
	["add a 12 px red border", { op: "border", px: 12, colour: "#ff0000" }],
	["add a border of 8 px in #0f08", { op: "border", px: 8, colour: "#00ff0088" }],
	['write "Hello"', write({})],
	['watermark "Hello"', write({})],
	['add a watermark "Hello" at bottom right', write({ at: "bottom right" })],
	['put "Hello" at top left', write({ at: "top left" })],
	["add text “Hello” at bottom right in navy size 32 bold", write({ at: "bottom right", colour: "#000080", px: 32, bold: true })],
	["caption 'Hello' in the middle with opacity 40%", write({ at: "center", opacity: 40 })],
	['write "crop, blur and \\"rotate\\"" at 5,6', write({ text: 'crop, blur and "rotate"', at: { x: 5, y: 6 } })],
	["overlay the second image", place({})],
	["place layer 3 at the top right with 50% opacity", place({ layer: 3, at: "top right", opacity: 50 })],
	["put layer 2 at 10,20 scaled to 30%", place({ at: { x: 10, y: 20 }, width: { value: 30, unit: "%" } })],
	["fill the masked region", { op: "fill", mask: 2, colour: null }],
	["inpaint", { op: "fill", mask: 2, colour: null }],
	["remove the masked object of layer 3", { op: "fill", mask: 3, colour: null }],
	["fill the mask with black", { op: "fill", mask: 2, colour: "#000000" }],
	["make the background transparent", { op: "background", colour: TRANSPARENT }],
	["remove the background", { op: "background", colour: TRANSPARENT }],
	["replace the background with red", { op: "background", colour: "#ff0000" }],
	["flatten on white", { op: "flatten", colour: "#ffffff" }],
	["flatten on light blue, invert", { op: "flatten", colour: "#add8e6" }, { op: "invert", mask: null }],
	["crop to a circle", { op: "crop-circle", at: "center" }],
	["crop it into a circle from the left", { op: "crop-circle", at: "left" }],
	["circle crop", { op: "crop-circle", at: "center" }],
	["make it round", { op: "crop-circle", at: "center" }],
	["crop to an ellipse", { op: "crop-ellipse" }],
	["crop the picture into an oval", { op: "crop-ellipse" }],
	["oval crop", { op: "crop-ellipse" }],
	["cut out an ellipse", { op: "crop-ellipse" }],
	["make it an oval", { op: "crop-ellipse" }],
	["crop 50px from all sides", { op: "crop-edges", px: 50 }],
	["crop 50 px off each edge", { op: "crop-edges", px: 50 }],
	["cut 12 pixels off every side", { op: "crop-edges", px: 12 }],
	["crop all sides by 50 px", { op: "crop-edges", px: 50 }],
	["trim 8px from the edges", { op: "crop-edges", px: 8 }],
	["crop all four sides by 10%", { op: "crop-share", percent: 80, at: "center" }],
	["vignette", { op: "vignette", percent: 50, mask: null }],
	["add a vignette effect", { op: "vignette", percent: 50, mask: null }],
	["add a slight vignette", { op: "vignette", percent: 25, mask: null }],
	["add a strong dark vignette", { op: "vignette", percent: 100, mask: null }],
	["darken the corners by 30%", { op: "vignette", percent: 30, mask: null }],
	["vignette of 40% in the masked region", { op: "vignette", percent: 40, mask: 2 }],
	["opacity 50%", { op: "opacity", percent: 50, mask: null }],
	["set the opacity to 30%", { op: "opacity", percent: 30, mask: null }],
	["reduce the opacity to 30%", { op: "opacity", percent: 30, mask: null }],
	["80% opacity", { op: "opacity", percent: 80, mask: null }],
	["make it 70% transparent", { op: "opacity", percent: 30, mask: null }],
	["make it semi-transparent", { op: "opacity", percent: 50, mask: null }],
	['write "Hello" in large letters', write({ px: "large" })],
	['write "Hello" in big bold red letters', write({ px: "large", bold: true, colour: "#ff0000" })],
	['write "Hello" at the top in small text', write({ at: "top", px: "small" })],
	['caption "Hello" with a huge font', write({ px: "large" })],
	["make it warmer", { op: "warmth", percent: 20, mask: null }],
	["make the photo a bit cooler", { op: "warmth", percent: -10, mask: null }],
	["warm up the colours by 30% in the mask", { op: "warmth", percent: 30, mask: 2 }],
	["cool it down", { op: "warmth", percent: -20, mask: null }],
	["increase the temperature", { op: "warmth", percent: 20, mask: null }],
	["resize to width 800 and height 600", { op: "resize", width: 800, height: 600, how: "cropped" }],
	[
		"resize to 600 px height, 800 px width, blur",
		{ op: "resize", width: 800, height: 600, how: "cropped" },
		{ op: "blur", px: 5, mask: null },
	],
	["resize to fit within 800x600", { op: "resize", width: 800, height: 600, how: "fitted" }],
	["fit into 800x600", { op: "resize", width: 800, height: 600, how: "fitted" }],
	["scale down to 50%", { op: "scale", percent: 50 }],
	["scale down by half", { op: "scale", percent: 50 }],
	["scale it up 2x", { op: "scale", percent: 200 }],
	["downscale by 2", { op: "scale", percent: 50 }],
	["downsize to 640x480", { op: "resize", width: 640, height: 480, how: "cropped" }],
	["make it 2x bigger", { op: "scale", percent: 200 }],
	["make it 4 times smaller", { op: "scale", percent: 25 }],
	["make it smaller by half", { op: "scale", percent: 50 }],
	["set the width to 800px", { op: "resize-side", side: "width", px: 800 }],
	["reduce the height to 300", { op: "resize-side", side: "height", px: 300 }],
	["reduce to 50%", { op: "scale", percent: 50 }],
	["center crop to 400x300", { op: "crop", width: 400, height: 300, at: "center" }],
	["crop the top left to 400x300", { op: "crop", width: 400, height: 300, at: "top left" }],
	["crop to 400x300 centered", { op: "crop", width: 400, height: 300, at: "center" }],
	["square crop", { op: "crop-ratio", width: 1, height: 1, at: "center" }],
	["cut off the bottom 20%", { op: "cut", side: "bottom", by: { value: 20, unit: "%" } }],
	["remove the top 100 pixels", { op: "cut", side: "top", by: { value: 100, unit: "px" } }],
	["crop to the bottom 20%", { op: "cut", side: "top", by: { value: 80, unit: "%" } }],
	["turn it 90 degrees", { op: "rotate", degrees: 90, colour: TRANSPARENT }],
	["turn it to the left by 45 degrees", { op: "rotate", degrees: -45, colour: TRANSPARENT }],
	["turn right", { op: "rotate", degrees: 90, colour: TRANSPARENT }],
	["rotate a quarter turn left", { op: "rotate", degrees: -90, colour: TRANSPARENT }],
	["rotate it upside down", { op: "rotate", degrees: 180, colour: TRANSPARENT }],
	["spin 90 cw", { op: "rotate", degrees: 90, colour: TRANSPARENT }],
	["tilt it by 10 degrees ccw", { op: "rotate", degrees: -10, colour: TRANSPARENT }],
	["horizontal flip", { op: "flip", axis: "horizontally" }],
	["reflect vertically", { op: "flip", axis: "vertically" }],
	["flip along the vertical axis", { op: "flip", axis: "horizontally" }],
	["remove all colors", { op: "grey", mask: null }],
	["desaturate it completely", { op: "grey", mask: null }],
	["apply a sepia filter", { op: "sepia", mask: null }],
	["give it a sepia look", { op: "sepia", mask: null }],
	["add a slight gaussian blur", { op: "blur", px: 2.5, mask: null }],
	["gaussian blur with radius 10", { op: "blur", px: 10, mask: null }],
	["make it very blurry", { op: "blur", px: 10, mask: null }],
	["brighten it up a bit", { op: "brightness", percent: 10, mask: null }],
	["turn up the brightness", { op: "brightness", percent: 20, mask: null }],
	["increase exposure by 10%", { op: "brightness", percent: 10, mask: null }],
	["high contrast", { op: "contrast", percent: 20, mask: null }],
	["contrast down 10%", { op: "contrast", percent: -10, mask: null }],
	["make the colors more vivid", { op: "saturation", percent: 20, mask: null }],
	["make the colours pop", { op: "saturation", percent: 20, mask: null }],
	["less colorful", { op: "saturation", percent: -20, mask: null }],
	["more sharpness", { op: "sharpen", amount: 1, mask: null }],
	["give it a blue tint of 20%", { op: "tint", colour: "#0000ff", percent: 20, mask: null }],
	["put a red border around the image", { op: "border", px: 10, colour: "#ff0000" }],
	["border 10px solid red", { op: "border", px: 10, colour: "#ff0000" }],
	['overlay the text "Hello" at the top', write({ at: "top" })],
	['add text saying "Hello" in bold', write({ bold: true })],
	['add a caption that says "Hello"', write({})],
	['add "Hello" as a title across the middle', write({ at: "center" })],
	['write "Hello" in bold red letters', write({ colour: "#ff0000", bold: true })],
	['write "Hello" with a font size of 40', write({ px: 40 })],
	[
		"crop to 400x300, rotate 90 and then blur by 3; make it black and white",
		{ op: "crop", width: 400, height: 300, at: "center" },
		{ op: "rotate", degrees: 90, colour: TRANSPARENT },
		{ op: "blur", px: 3, mask: null },
		{ op: "grey", mask: null },
	],
];

test.each(READ)("%s is read", (prompt, ...operations) => {
	expect(parsePrompt(prompt)).toEqual(operations);
});

describe("what is not understood", () => {
	const refusalOf = (prompt: string): string => {
		try {
			return `read as ${JSON.stringify(parsePrompt(prompt))}`;
		} catch (fault) {
			expect(fault).toBeInstanceOf(ImageFault);
			expect((fault as ImageFault).kind).toBe("not-understood");
			return (fault as ImageFault).message;
		}
	};

	test.each([
		["make her smile", '"make her smile"'],
		["crop to 400x300, add a hat on the dog, blur", '"add a hat on the dog"'],
		["do not blur", '"do not blur"'],
		["don't blur it", `"don't blur"`],
		["blur the face of the man", '"blur the face of the man"'],
		["make the sky blue", '"make the sky blue"'],
		["resize to 800x600, stretched", '"stretched"'],
		["slightly grayscale", '"slightly grayscale"'],
		["keep the dog", "say what stays"],
		["crop the dog half", '"crop the dog half"'],
		["rotate", '"rotate"'],
		["fill around the masked region", '"fill around the masked region"'],
		["make the sky warmer", '"make the sky warmer"'],
		["turn the dog left", '"turn the dog left"'],
		["remove the color red", '"remove the color red"'],
		["crop the top 100 px", "say that it goes"],
		["resize", '"resize"'],
		["resize to 800", '"resize to 800" (say which side'],
		["blur by 900", "(900 is out of range: 0.3 to 200 px)"],
		["scale to 0%", "(0 is out of range: 1 to 1000%)"],
		["scale by 99 times", "out of range"],
		["write hello", "the text goes in quotes"],
		['write ""', "a text has 1 to 500 characters"],
		["overlay layer 7", "the base is image 1, its layers are 2 and 3"],
		["tint", "a tint needs a colour"],
		['write "Hello" at the top, opacity 50%', "the opacity of a text or layer"],
		["place layer 2 at the top and make it 50% transparent", "the opacity of a text or layer"],
		["brighten by a lot", "a percentage is missing"],
		["🙂", '"🙂"'],
		["", "says nothing that can be done"],
		["please, the image.", "says nothing that can be done"],
		["blur,".repeat(33), "33 edits"],
		["x".repeat(MAX_PROMPT_CHARS + 1), `at most ${MAX_PROMPT_CHARS} characters`],
	])("%s is refused with its words", (prompt, told) => {
		const message = refusalOf(prompt);
		expect(message).toContain(told);
		if (!/characters|edits/.test(told)) expect(message).toContain("It can: resize");
	});

	test("takes no longer for hostile prompts", () => {
		const read = (size: number) => {
			for (const piece of ['"', "'", "“", '"\\', "((", "1x", "1:", "#", "9", " ", "\n", "and ", "blur ", "mask ", "a ", "\ud800"])
				refusalOf(piece.repeat(Math.floor(size / piece.length)));
		};
		expect(growth(read, MAX_PROMPT_CHARS)).toBeLessThan(LINEAR_BOUND);
	});
});

test("every prompt that docs/images.md shows is read", () => {
	const page = readFileSync(join(import.meta.dir, "../../../../docs/images.md"), "utf8");
	const [, section = ""] = /## Local editing\n([\s\S]*?)\n## /.exec(page) ?? [];
	const rows = [...section.matchAll(/^\| [^|]+ \| (.+?) \|/gm)].map(([, said = ""]) => said);
	const examples = rows.flatMap((said) => [...said.matchAll(/`([^`]+)`/g)].map(([, prompt = ""]) => prompt));
	const block = /```\n([\s\S]*?)\n```/.exec(section)?.[1] ?? "";
	expect(examples.length).toBeGreaterThan(40);
	for (const prompt of [...examples, block]) expect(() => parsePrompt(prompt), prompt).not.toThrow();
	for (const prompt of examples) expect(parsePrompt(prompt), prompt).toHaveLength(1);
});

const twoPlaces = (from: number, to: number) => fc.integer({ min: from * 100, max: to * 100 }).map((value) => value / 100);
const px = fc.integer({ min: 1, max: 16_383 });
const colour = fc
	.tuple(fc.integer({ min: 0, max: 0xffffff }), fc.option(fc.integer({ min: 0, max: 254 }), { nil: null }))
	.map(([rgb, alpha]): Colour => {
		const opaque = rgb.toString(16).padStart(6, "0");
		return `#${opaque}${alpha === null ? "" : alpha.toString(16).padStart(2, "0")}`;
	});
const anchor = fc.constantFrom(...ANCHORS);
const spot = fc.oneof(anchor, fc.record({ x: fc.integer({ min: -999, max: 9_999 }), y: fc.integer({ min: -999, max: 9_999 }) }));
const layer = fc.constantFrom(2 as const, 3 as const);
const mask = fc.option(layer, { nil: null });
const length = fc.oneof(
	fc.record({ value: px, unit: fc.constant("px" as const) }),
	fc.record({ value: twoPlaces(1, 100), unit: fc.constant("%" as const) }),
);
const text = fc.string({ minLength: 1, maxLength: 40, unit: "grapheme" }).filter((each) => each.trim() !== "");

const operation: fc.Arbitrary<Operation> = fc.oneof(
	fc.record({ op: fc.constant("blur" as const), px: twoPlaces(1, 200), mask }),
	fc.record({ op: fc.constant("pixelate" as const), px: fc.integer({ min: 2, max: 500 }), mask }),
	fc.record({ op: fc.constant("sharpen" as const), amount: twoPlaces(1, 5), mask }),
	fc.record({ op: fc.constantFrom("grey" as const, "sepia" as const, "invert" as const), mask }),
	fc.record({
		op: fc.constantFrom("brightness" as const, "contrast" as const, "saturation" as const, "warmth" as const),
		percent: twoPlaces(-100, 400),
		mask,
	}),
	fc.record({ op: fc.constant("hue" as const), degrees: twoPlaces(-360, 360), mask }),
	fc.record({ op: fc.constant("tint" as const), colour, percent: twoPlaces(0, 100), mask }),
	fc.record({ op: fc.constantFrom("vignette" as const, "opacity" as const), percent: twoPlaces(0, 100), mask }),
	fc.record({ op: fc.constant("resize" as const), width: px, height: px, how: fc.constantFrom(...RESIZE_WAYS) }),
	fc.record({ op: fc.constant("resize-side" as const), side: fc.constantFrom("width" as const, "height" as const), px }),
	fc.record({ op: fc.constant("scale" as const), percent: twoPlaces(1, 1_000) }),
	fc.record({ op: fc.constant("crop" as const), width: px, height: px, at: spot }),
	fc.record({ op: fc.constant("crop-share" as const), percent: twoPlaces(1, 100), at: anchor }),
	fc.record({ op: fc.constant("crop-ratio" as const), width: twoPlaces(1, 100), height: twoPlaces(1, 100), at: anchor }),
	fc.record({ op: fc.constant("crop-circle" as const), at: anchor }),
	fc.record({ op: fc.constant("crop-ellipse" as const) }),
	fc.record({ op: fc.constant("crop-edges" as const), px }),
	fc.record({ op: fc.constant("cut" as const), side: fc.constantFrom(...SIDES), by: length }),
	fc.record({ op: fc.constant("trim" as const) }),
	fc.record({ op: fc.constant("pad" as const), width: px, height: px, colour }),
	fc.record({ op: fc.constant("rotate" as const), degrees: twoPlaces(-360, 360), colour }),
	fc.record({ op: fc.constant("flip" as const), axis: fc.constantFrom("horizontally" as const, "vertically" as const) }),
	fc.record({ op: fc.constant("round" as const), radius: length }),
	fc.record({ op: fc.constant("border" as const), px: fc.integer({ min: 1, max: 2_000 }), colour }),
	fc.record({
		op: fc.constant("text" as const),
		text,
		at: spot,
		px: fc.option(fc.oneof(fc.constantFrom(...LETTER_SIZES), fc.integer({ min: 4, max: 2_000 })), { nil: null }),
		colour,
		bold: fc.boolean(),
		opacity: twoPlaces(0, 100),
	}),
	fc.record({
		op: fc.constant("layer" as const),
		layer,
		at: spot,
		width: fc.option(length, { nil: null }),
		opacity: twoPlaces(0, 100),
	}),
	fc.record({ op: fc.constant("fill" as const), mask: layer, colour: fc.option(colour, { nil: null }) }),
	fc.record({ op: fc.constant("background" as const), colour }),
	fc.record({ op: fc.constant("flatten" as const), colour }),
);

/** An opacity after a text or a layer is refused. */
const isReadable = (operations: readonly Operation[]) =>
	!operations.some(({ op }, at) => op === "opacity" && ["text", "layer"].includes(operations[at - 1]?.op ?? ""));

test("every list of operations reads again from how it is printed", () => {
	fc.assert(
		fc.property(fc.array(operation, { minLength: 1, maxLength: 8 }).filter(isReadable), (operations) => {
			expect(parsePrompt(printPrompt(operations))).toEqual(operations);
		}),
		{ numRuns: 1_000 },
	);
});

test("any words are read or refused with a reason, and what is read prints to the same", () => {
	const words = fc.constantFrom(
		...'resize crop rotate blur to by at in the mask 2 3 90 50% 10px 800x600 16:9 red #fff left top center , and then of with layer write "Hi" border size opacity background transparent remove fill black white make increase contrast'.split(
			" ",
		),
	);
	fc.assert(
		fc.property(fc.array(words, { maxLength: 10 }), (list) => {
			let operations: Operation[];
			try {
				operations = parsePrompt(list.join(" "));
			} catch (fault) {
				expect(fault).toBeInstanceOf(ImageFault);
				return;
			}
			expect(parsePrompt(printPrompt(operations))).toEqual(operations);
		}),
		{ numRuns: 2_000 },
	);
});
