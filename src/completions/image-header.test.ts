import { expect, test } from "bun:test";
import { checkImageData, imageSize } from "./image-header.ts";
import { forbiddenAddress } from "./public-url.ts";

function png(width: number, height: number): Buffer {
	const bytes = Buffer.alloc(33);
	bytes.writeUInt32BE(0x89504e47, 0);
	bytes.writeUInt32BE(0x0d0a1a0a, 4);
	bytes.write("IHDR", 12);
	bytes.writeUInt32BE(width, 16);
	bytes.writeUInt32BE(height, 20);
	return bytes;
}

function code(bytes: Buffer): string {
	try {
		checkImageData(bytes.toString("base64"), ["messages", 0]);
		return "fine";
	} catch (error) {
		return (error as { code: string }).code;
	}
}

test("reads sizes of PNG, GIF, JPEG and WebP headers", () => {
	expect(imageSize(png(640, 480))).toEqual({ width: 640, height: 480 });
	expect(imageSize(Buffer.from("GIF89a\x40\x01\xf0\x00\x00\x00", "latin1"))).toEqual({ width: 320, height: 240 });
	const jpeg = Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 4, 0, 0, 0xff, 0xc2, 0, 17, 8, 0, 100, 0, 200, 3, 0, 0, 0, 0]);
	expect(imageSize(jpeg)).toEqual({ width: 200, height: 100 });
	const webp = Buffer.alloc(30);
	webp.write("RIFF", 0);
	webp.write("WEBPVP8X", 8);
	webp.writeUIntLE(99, 24, 3);
	webp.writeUIntLE(49, 27, 3);
	expect(imageSize(webp)).toEqual({ width: 100, height: 50 });
});

test("too small, too large and broken images have their codes", () => {
	expect(code(png(64, 64))).toBe("fine");
	expect(code(png(63, 64))).toBe("IMAGE_TOO_SMALL");
	expect(code(png(16_000, 16_000))).toBe("IMAGE_TOO_LARGE");
	expect(code(Buffer.from("not an image at all"))).toBe("CORRUPTED_IMAGE");
	expect(code(Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0]))).toBe("CORRUPTED_IMAGE");
	expect(code(Buffer.alloc(0))).toBe("CORRUPTED_IMAGE");
});

test("private, loopback and link-local hosts are known from their text", () => {
	for (const host of [
		"localhost",
		"a.localhost",
		"127.0.0.1",
		"10.1.2.3",
		"192.168.0.1",
		"169.254.169.254",
		"[::1]",
		"[fe80::1]",
		"[fd00::1]",
		"[::ffff:7f00:1]",
		"0.0.0.0",
		"metadata.internal",
		"100.64.0.1",
	])
		expect(forbiddenAddress(host)).toBe(true);
	for (const host of ["example.org", "8.8.8.8", "[2606:4700::1111]"]) expect(forbiddenAddress(host)).toBe(false);
});
