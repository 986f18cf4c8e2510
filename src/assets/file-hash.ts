import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { open, rename } from "node:fs/promises";
import { dirname } from "node:path";

/** Returns the sha256 of a file in hex, read as a stream. */
export async function sha256OfFile(path: string, signal?: AbortSignal): Promise<string> {
	const hash = createHash("sha256");
	for await (const chunk of createReadStream(path, { highWaterMark: 1 << 20 })) {
		signal?.throwIfAborted();
		hash.update(chunk);
	}
	return hash.digest("hex");
}

/** Makes a complete file durable under its final name: content first, then the name. */
export async function publishFile(from: string, to: string): Promise<void> {
	const file = await open(from, "r+");
	try {
		await file.sync();
	} finally {
		await file.close();
	}
	await rename(from, to);
	// Windows cannot open a folder; there only the rename is durable.
	if (process.platform === "win32") return;
	const folder = await open(dirname(to), "r");
	try {
		await folder.sync();
	} finally {
		await folder.close();
	}
}
