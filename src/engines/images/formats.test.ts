import { afterAll, describe, expect, test } from "bun:test";
import sharp from "sharp";
import { type ImageFault, type ImageFaultKind, imageFaultAnswer } from "./index.ts";
import { distance, imagesOf, NEVER, PNG, painted, pixelsOf, type Rgba, sample } from "./testing/images.ts";

const engine = imagesOf();
afterAll(() => engine.stop());

/** Left half one colour, right half another. */
const LEFT: Rgba = [220, 40, 30, 255];
const RIGHT: Rgba = [20, 90, 200, 255];
const halves = (format: Parameters<typeof painted>[3], width = 400, height = 200) =>
	painted(width, height, (x) => (x < width / 2 ? LEFT : RIGHT), format);

const refusal = (bytes: Uint8Array): Promise<ImageFault> =>
	engine.normalise(bytes, { tenant: "test", signal: NEVER }).then(
		() => {
			throw new Error("it was read");
		},
		(fault: ImageFault) => fault,
	);

describe("normalising", () => {
	test.each(["jpeg", "png", "webp", "gif", "avif", "tiff"] as const)("reads %s", async (format) => {
		const picture = await engine.normalise(await halves(format), { tenant: "test", signal: NEVER });
		expect(picture).toMatchObject({
			width: 400,
			height: 200,
			hasAlpha: format === "png" || format === "gif" || format === "tiff",
		});
		const pixels = await pixelsOf(picture.bytes);
		expect(distance(pixels.at(50, 100), LEFT)).toBeLessThan(8);
		expect(distance(pixels.at(350, 100), RIGHT)).toBeLessThan(8);
	});

	test("tells the type by the content, and writes what it tells", async () => {
		for (const [format, written] of [
			["jpeg", "jpeg"],
			["png", "png"],
		] as const) {
			const picture = await engine.normalise(await halves(format), { tenant: "test", signal: NEVER });
			expect(picture.mediaType).toBe(`image/${written}`);
			expect((await sharp(picture.bytes).metadata()).format).toBe(written);
		}
	});

	test("sets pictures upright, as their camera says, and leaves its words behind", async () => {
		const picture = await engine.normalise(sample("exif_orientation6.jpg"), { tenant: "test", signal: NEVER });
		expect(picture).toMatchObject({ width: 480, height: 640, mediaType: "image/jpeg" });
		const metadata = await sharp(picture.bytes).metadata();
		expect([metadata.orientation, metadata.exif]).toEqual([undefined, undefined]);
		for (let orientation = 1; orientation <= 8; orientation += 1) {
			const upright = await painted(300, 256, (x, y) => (x < 100 && y < 100 ? LEFT : RIGHT));
			const turns = {
				1: [0, false],
				2: [0, true],
				3: [180, false],
				4: [180, true],
				5: [270, true],
				6: [270, false],
				7: [90, true],
				8: [90, false],
			} as const;
			const [degrees, mirrored] = turns[orientation as keyof typeof turns];
			// As the camera kept it: what the mark undoes.
			const flat = mirrored ? await sharp(upright).flop().png().toBuffer() : upright;
			const kept = await sharp(await sharp(flat).rotate(degrees).png().toBuffer())
				.removeAlpha()
				.withMetadata({ orientation })
				.jpeg({ quality: 95 })
				.toBuffer();
			const set = await pixelsOf((await engine.normalise(kept, { tenant: "test", signal: NEVER })).bytes);
			expect([set.width, set.height], `orientation ${orientation}`).toEqual([300, 256]);
			expect(distance(set.at(20, 20), LEFT), `orientation ${orientation}: ${set.at(20, 20)}`).toBeLessThan(10);
			expect(distance(set.at(280, 240), RIGHT), `orientation ${orientation}`).toBeLessThan(10);
		}
	});

	test("keeps the colours of CMYK within a little", async () => {
		const plain = await pixelsOf((await engine.normalise(sample("plain.jpg"), { tenant: "test", signal: NEVER })).bytes);
		const cmyk = await pixelsOf((await engine.normalise(sample("cmyk.jpg"), { tenant: "test", signal: NEVER })).bytes);
		expect([cmyk.width, cmyk.height]).toEqual([plain.width, plain.height]);
		let sum = 0;
		let spots = 0;
		for (let y = 10; y < plain.height; y += 20)
			for (let x = 10; x < plain.width; x += 20, spots += 1) sum += distance(plain.at(x, y), cmyk.at(x, y));
		expect(sum / spots).toBeLessThan(25);
	});

	test("brings 16 bits to 8, and grey to three channels", async () => {
		const deep = await engine.normalise(sample("rgb16.png"), { tenant: "test", signal: NEVER });
		expect(await sharp(deep.bytes).metadata()).toMatchObject({ depth: "uchar", space: "srgb", width: 320, height: 240 });
		const grey = await sharp({ create: { width: 300, height: 300, channels: 3, background: "#646464" } })
			.greyscale()
			.png()
			.toBuffer();
		const colours = await engine.normalise(grey, { tenant: "test", signal: NEVER });
		expect(await sharp(colours.bytes).metadata()).toMatchObject({ space: "srgb", channels: 3 });
		expect((await pixelsOf(colours.bytes)).at(10, 10)).toEqual([100, 100, 100, 255]);
		const ramp = new Uint16Array(300 * 300).fill(0x8080);
		const deepGrey = await sharp(Buffer.from(ramp.buffer), {
			raw: { width: 300, height: 300, channels: 1, depth: "ushort" },
		} as never)
			.toColourspace("grey16")
			.png()
			.toBuffer();
		expect((await pixelsOf((await engine.normalise(deepGrey, { tenant: "test", signal: NEVER })).bytes)).at(10, 10)).toEqual([
			128, 128, 128, 255,
		]);
	});

	test("follows a picture's colour profile to sRGB", async () => {
		const wide = await sharp({ create: { width: 300, height: 300, channels: 3, background: { r: 100, g: 180, b: 60 } } })
			.withIccProfile("p3")
			.png()
			.toBuffer();
		const kept = await sharp(wide, { ignoreIcc: true }).raw().toBuffer();
		expect(distance([...kept.subarray(0, 3)], [100, 180, 60])).toBeGreaterThan(8);
		const picture = await engine.normalise(wide, { tenant: "test", signal: NEVER });
		expect((await sharp(picture.bytes).metadata()).hasProfile).toBe(false);
		expect(distance((await pixelsOf(picture.bytes)).at(5, 5), [100, 180, 60, 255])).toBeLessThan(4);
	});

	test("takes the first frame of an animation", async () => {
		const frames = await Promise.all([LEFT, RIGHT].map((colour) => painted(300, 300, () => colour)));
		for (const format of ["gif", "webp"] as const) {
			const moving = await sharp(frames, { join: { animated: true } })
				.toFormat(format, { quality: 95 })
				.toBuffer();
			expect((await sharp(moving).metadata()).pages).toBe(2);
			const picture = await engine.normalise(moving, { tenant: "test", signal: NEVER });
			expect([picture.width, picture.height]).toEqual([300, 300]);
			expect(distance((await pixelsOf(picture.bytes)).at(150, 150), LEFT)).toBeLessThan(8);
		}
		expect(await engine.normalise(sample("animated.webp"), { tenant: "test", signal: NEVER }, { minPixels: 0 })).toMatchObject({
			width: 200,
			height: 150,
		});
	});

	test("keeps what is transparent", async () => {
		const picture = await engine.normalise(sample("alpha.png"), { tenant: "test", signal: NEVER }, { minPixels: 0 });
		expect(picture).toMatchObject({ width: 64, height: 64, mediaType: "image/png", hasAlpha: true });
		const [before, after] = await Promise.all([pixelsOf(sample("alpha.png")), pixelsOf(picture.bytes)]);
		for (let at = 0; at < 64; at += 1) expect(after.at(at, at)).toEqual(before.at(at, at));
	});
});

describe("what is refused", () => {
	const HEIC = Buffer.from("0000001c667479706865696300000000686569636d696631", "hex");
	const cases: readonly (readonly [
		name: string,
		bytes: () => Uint8Array | Promise<Uint8Array>,
		kind: ImageFaultKind,
		status: number,
		code: string,
	])[] = [
		[
			"31 kB that decode to 768 MB",
			() => sample("decompression_bomb_16000x16000.png"),
			"too-many-pixels",
			422,
			"IMAGE_TOO_LARGE",
		],
		["a file that is cut off", () => sample("truncated.jpg"), "corrupt", 400, "CORRUPTED_IMAGE"],
		["a picture of 64 pixels a side", () => sample("alpha.png"), "too-small", 400, "IMAGE_TOO_SMALL"],
		[
			"an SVG",
			() => Buffer.from('<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg" width="300" height="300"/>'),
			"unsupported",
			400,
			"CORRUPTED_IMAGE",
		],
		["a PDF", () => Buffer.from("%PDF-1.7\n"), "unsupported", 400, "CORRUPTED_IMAGE"],
		["text", () => Buffer.from("hello"), "unsupported", 400, "CORRUPTED_IMAGE"],
		["nothing", () => new Uint8Array(), "unsupported", 400, "CORRUPTED_IMAGE"],
		["HEIC without a body", () => HEIC, "corrupt", 400, "CORRUPTED_IMAGE"],
		["HEIC", () => sample("hevc.heic"), "unsupported", 400, "CORRUPTED_IMAGE"],
		["a PNG's first bytes", async () => (await halves("png")).subarray(0, 12), "corrupt", 400, "CORRUPTED_IMAGE"],
		[
			"25 MB",
			() => Buffer.concat([Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), Buffer.alloc(26_214_400)]),
			"too-many-bytes",
			413,
			"PAYLOAD_TOO_LARGE",
		],
		["7681 x 4320 pixels", () => pngHeader(7681, 4320), "too-many-pixels", 422, "IMAGE_TOO_LARGE"],
		["255 x 256 pixels", () => painted(255, 256, () => LEFT), "too-small", 400, "IMAGE_TOO_SMALL"],
	];

	test.each(cases)("%s", async (_, bytes, kind, status, code) => {
		const fault = await refusal(await bytes());
		expect(fault).toMatchObject({ name: "ImageFault", kind });
		const answer = imageFaultAnswer(fault, "image");
		expect([answer.status, answer.code]).toEqual([status, code] as never);
		expect(answer.options.issues).toEqual([
			{ path: ["image"], code: `image_${kind.replaceAll("-", "_")}`, message: fault.message },
		]);
	});

	test("is refused without taking memory", async () => {
		await engine.normalise(await halves("png"), { tenant: "test", signal: NEVER });
		const [pid = 0] = engine.pids();
		const rss = async () => Number(/VmHWM:\s+(\d+)/.exec(await Bun.file(`/proc/${pid}/status`).text())?.[1]) / 1_024;
		const before = process.platform === "linux" ? await rss() : 0;
		for (const name of ["decompression_bomb_16000x16000.png", "truncated.jpg"]) {
			for (let run = 0; run < 5; run += 1) await refusal(sample(name));
		}
		if (process.platform === "linux") expect((await rss()) - before).toBeLessThan(50);
		expect(engine.pids()[0]).toBe(pid);
	});

	test("by a decoder's own size where a header lies or is of another type", async () => {
		const large = await sharp({ create: { width: 8_000, height: 5_000, channels: 3, background: "red" } })
			.tiff({ compression: "lzw" })
			.toBuffer();
		expect(await refusal(large)).toMatchObject({ kind: "too-many-pixels" });
		// A WebP whose frame is larger than its canvas says.
		const webp = Buffer.from(await halves("webp"));
		const lying = Buffer.concat([
			Buffer.from("RIFF"),
			Buffer.alloc(4),
			Buffer.from("WEBPVP8X"),
			Buffer.from([10, 0, 0, 0, 0, 0, 0, 0, 255, 0, 0, 255, 0, 0]),
			webp.subarray(12),
		]);
		lying.writeUInt32LE(lying.length - 8, 4);
		expect((await refusal(lying)).kind).toBe("corrupt");
	});

	function pngHeader(width: number, height: number): Uint8Array {
		const bytes = Buffer.concat([Buffer.from("\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "latin1"), Buffer.alloc(13)]);
		bytes.writeUInt32BE(width, 16);
		bytes.writeUInt32BE(height, 20);
		return bytes;
	}
});

test("256 x 256 and 7680 x 4320 pixels are read", async () => {
	expect(await engine.normalise(await painted(256, 256, () => LEFT), { tenant: "test", signal: NEVER })).toMatchObject({
		width: 256,
	});
	const largest = await sharp({ create: { width: 7_680, height: 4_320, channels: 3, background: "red" } })
		.jpeg()
		.toBuffer();
	expect(await engine.normalise(largest, { tenant: "test", signal: NEVER })).toMatchObject({
		width: 7_680,
		height: 4_320,
		mediaType: "image/jpeg",
	});
});

describe("finishing", () => {
	test.each(["png", "jpeg", "webp"] as const)("writes %s in the size that is asked for", async (format) => {
		const picture = await engine.finish(
			await halves("png"),
			{ format, size: { width: 160, height: 160 } },
			{ tenant: "test", signal: NEVER },
		);
		expect(picture).toMatchObject({ width: 160, height: 160, mediaType: `image/${format}` });
		expect((await sharp(picture.bytes).metadata()).format).toBe(format);
		const pixels = await pixelsOf(picture.bytes);
		expect(distance(pixels.at(20, 80), LEFT)).toBeLessThan(8);
		expect(distance(pixels.at(140, 80), RIGHT)).toBeLessThan(8);
	});

	test("fits as it is told", async () => {
		const bytes = await halves("png");
		const finish = async (fit: "cover" | "contain" | "fill" | "inside", format: "png" | "jpeg" = "png") => {
			const picture = await engine.finish(
				bytes,
				{ format, size: { width: 300, height: 300 }, fit },
				{ tenant: "test", signal: NEVER },
			);
			return { ...picture, pixels: await pixelsOf(picture.bytes) };
		};
		expect((await finish("cover")).pixels.at(5, 5)).toEqual(LEFT);
		expect((await finish("contain")).pixels.at(150, 10)[3]).toBe(0);
		expect(distance((await finish("contain", "jpeg")).pixels.at(150, 10), [255, 255, 255, 255])).toBeLessThan(3);
		expect((await finish("fill")).pixels.at(5, 5)).toEqual(LEFT);
		expect(await finish("inside")).toMatchObject({ width: 300, height: 150 });
	});

	test("enlarges, or cuts to the ratio only where it shall not", async () => {
		const bytes = await halves("png");
		const size = { width: 1_024, height: 1_024 };
		expect(await engine.finish(bytes, { format: "png", size }, { tenant: "test", signal: NEVER })).toMatchObject(size);
		expect(await engine.finish(bytes, { format: "png", size, enlarge: false }, { tenant: "test", signal: NEVER })).toMatchObject({
			width: 200,
			height: 200,
		});
		const smaller = { width: 160, height: 80 };
		expect(
			await engine.finish(bytes, { format: "png", size: smaller, enlarge: false }, { tenant: "test", signal: NEVER }),
		).toMatchObject(smaller);
	});

	test("keeps transparency in PNG and WebP and makes it white in JPEG", async () => {
		const clear = await painted(300, 300, (x) => (x < 150 ? [0, 0, 0, 0] : LEFT));
		for (const [format, colour] of [
			["png", 0],
			["webp", 0],
			["jpeg", 255],
		] as const) {
			const pixels = await pixelsOf((await engine.finish(clear, { format }, { tenant: "test", signal: NEVER })).bytes);
			expect(pixels.at(20, 20)[3], format).toBe(colour);
			if (format === "jpeg") expect(distance(pixels.at(20, 20), [255, 255, 255, 255])).toBeLessThan(3);
			expect(distance(pixels.at(280, 280), LEFT), format).toBeLessThan(8);
		}
	});

	test("writes smaller files for a lower quality", async () => {
		const photo = sample("plain.jpg");
		const bytesAt = async (format: "jpeg" | "webp", quality: number) =>
			(await engine.finish(photo, { format, quality }, { tenant: "test", signal: NEVER })).bytes.length;
		for (const format of ["jpeg", "webp"] as const) expect(await bytesAt(format, 40)).toBeLessThan(await bytesAt(format, 95));
	});
});

describe("blurring", () => {
	test("leaves the size and less than anybody could recognise", async () => {
		const stripes = await painted(640, 480, (x, y) => (((x >> 4) + (y >> 4)) % 2 === 0 ? [0, 0, 0] : [255, 255, 255]));
		const picture = await engine.blur(stripes, { format: "webp" }, { tenant: "test", signal: NEVER });
		expect(picture).toMatchObject({ width: 640, height: 480, mediaType: "image/webp", hasAlpha: false });
		const pixels = await pixelsOf(picture.bytes);
		for (let x = 0; x < 640; x += 16) expect(distance(pixels.at(x, 240), [127, 127, 127, 255]), `at ${x}`).toBeLessThan(24);
	});

	test("leaves no outline of what was transparent", async () => {
		const shape = await painted(320, 320, (x, y) =>
			Math.hypot(x - 160, y - 160) < 60 ? [255, 255, 255, 255] : [255, 255, 255, 0],
		);
		const pixels = await pixelsOf((await engine.blur(shape, PNG, { tenant: "test", signal: NEVER })).bytes);
		for (const [x, y] of [
			[5, 5],
			[160, 160],
			[160, 90],
		] as const)
			expect(pixels.at(x, y)).toEqual([255, 255, 255, 255]);
	});
});

describe("upscaling", () => {
	test("enlarges by Lanczos, what is plain stays so", async () => {
		const picture = await engine.upscale(await halves("png"), { factor: 2 }, PNG, { tenant: "test", signal: NEVER });
		expect(picture).toMatchObject({ width: 800, height: 400 });
		const pixels = await pixelsOf(picture.bytes);
		expect([pixels.at(100, 200), pixels.at(700, 200)]).toEqual([LEFT, RIGHT]);
		expect(
			await engine.upscale(await halves("png"), { width: 500, height: 400 }, PNG, { tenant: "test", signal: NEVER }),
		).toMatchObject({
			width: 500,
			height: 400,
		});
	});

	test("reduces the factor to what may come out, and refuses what may not", async () => {
		const wide = await sharp({ create: { width: 3_000, height: 2_000, channels: 3, background: "red" } })
			.jpeg()
			.toBuffer();
		const { width, height } = await engine.upscale(wide, { factor: 4 }, { format: "jpeg" }, { tenant: "test", signal: NEVER });
		expect(width * height).toBeLessThanOrEqual(16_777_216);
		expect(width).toBe(5_016);
		expect(height).toBe(3_344);
		for (const to of [
			{ factor: 5 },
			{ factor: 0.5 },
			{ factor: Number.NaN },
			{ width: 100, height: 100 },
			{ width: 5_100, height: 3_400 },
		])
			await expect(engine.upscale(wide, to, PNG, { tenant: "test", signal: NEVER })).rejects.toMatchObject({
				kind: "not-possible",
			});
	});
});
