import { deflateSync } from "node:zlib";
import { type Finding, fault, ok } from "../../telemetry/finding.ts";
import type { ImageEngine } from "./port.ts";

const PROBE_SIDE = 256;

/** Checks the image engine for `turnpike doctor`: starts it and edits; reports whether safe mode has its model. */
export async function checkImages(engine: ImageEngine): Promise<Finding> {
	const name = "image engine";
	const startedAt = performance.now();
	try {
		const edit = { prompt: "resize to 100x50", images: [greyPng(PROBE_SIDE)], output: { format: "png" } } as const;
		const { width, height } = await engine.localEdit(edit, { tenant: "doctor", signal: AbortSignal.timeout(60_000) });
		if (width !== 100 || height !== 50) return fault(name, `makes ${width}x${height} of a probe`, "npm install");
	} catch (error) {
		return fault(name, `does not run: ${error instanceof Error ? error.message : error}`, "npm install");
	}
	const { text } = await engine.scorerState();
	return ok(name, `edits after ${Math.round(performance.now() - startedAt)} ms. ${text}`);
}

/** Returns a black square, 8 bits of grey a pixel (ISO/IEC 15948, 5). */
function greyPng(side: number): Uint8Array {
	const header = Buffer.alloc(13);
	header.writeUInt32BE(side, 0);
	header.writeUInt32BE(side, 4);
	header[8] = 8;
	const rows = deflateSync(Buffer.alloc((side + 1) * side));
	const signature = Buffer.from("\x89PNG\r\n\x1a\n", "latin1");
	return Buffer.concat([signature, chunk("IHDR", header), chunk("IDAT", rows), chunk("IEND", Buffer.alloc(0))]);
}

function chunk(type: string, body: Uint8Array): Uint8Array {
	const named = Buffer.concat([Buffer.from(type, "latin1"), body]);
	const frame = Buffer.alloc(8);
	frame.writeUInt32BE(body.length, 0);
	frame.writeUInt32BE(Bun.hash.crc32(named), 4);
	return Buffer.concat([frame.subarray(0, 4), named, frame.subarray(4)]);
}
