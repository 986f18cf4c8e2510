import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Body } from "./body.ts";
import { brokenAnswer, RpcFault } from "./faults.ts";

/** A body up to this size stays in memory if all such bodies together are within the limit. */
const MAX_IN_MEMORY = 32 * 1024 * 1024;
const MAX_ALL_IN_MEMORY = 256 * 1024 * 1024;
/** Maximum size of a gathered body. No array of a hundred answers is longer. */
const MAX_GATHERED = 1024 * 1024 * 1024;

/** Shorter bodies are not counted once they are gathered. */
const COUNTED = 1024 * 1024;

/** Bytes of answers in this process that are being gathered, or are still in use. */
let inMemory = 0;
const released = new FinalizationRegistry<number>((length) => {
	inMemory -= length;
});

/** Returns the bytes of long answers that take memory of this process now. */
export function gatheredInMemory(): number {
	return inMemory;
}

/**
 * Reads all bytes of a body. A long one goes to an unnamed file that is mapped into memory, so the operating system can
 * drop its pages.
 * @throws RpcFault for a body past all limits, and the errors of the body
 */
export async function gather(body: Body): Promise<Uint8Array> {
	const pieces: Uint8Array[] = [];
	let length = 0;
	let file: SpillFile | null = null;
	let counted = 0;
	try {
		for (let piece = await body.next(); piece !== null; piece = await body.next()) {
			length += piece.length;
			if (length > MAX_GATHERED) throw brokenAnswer(`an answer of more than ${MAX_GATHERED} bytes`);
			if (file !== null) file.write(piece);
			else if (length <= MAX_IN_MEMORY && inMemory + piece.length <= MAX_ALL_IN_MEMORY) {
				pieces.push(piece);
				counted += piece.length;
				inMemory += piece.length;
			} else {
				file = new SpillFile();
				for (const held of pieces) file.write(held);
				pieces.length = 0;
				inMemory -= counted;
				counted = 0;
				file.write(piece);
			}
		}
		if (file !== null) return file.bytes();
		const whole = pieces.length === 1 && pieces[0] !== undefined ? pieces[0] : Buffer.concat(pieces, length);
		if (length >= COUNTED) {
			released.register(whole.buffer, counted);
			counted = 0;
		}
		return whole;
	} catch (error) {
		body.cancel();
		throw error;
	} finally {
		inMemory -= counted;
		file?.close();
	}
}

/**
 * A file in a folder of its own. Both are removed as soon as the bytes are mapped. Throws RpcFault if the disk is full.
 */
class SpillFile {
	readonly #dir = onOwnDisk(() => mkdtempSync(join(tmpdir(), "turnpike-answer-")));
	readonly #path = join(this.#dir, "body");
	readonly #fd = onOwnDisk(() => openSync(this.#path, "wx", 0o600));
	#open = true;

	write(piece: Uint8Array): void {
		onOwnDisk(() => {
			for (let at = 0; at < piece.length; ) at += writeSync(this.#fd, piece, at);
		});
	}

	bytes(): Uint8Array {
		return onOwnDisk(() => Bun.mmap(this.#path, { shared: false }));
	}

	close(): void {
		if (!this.#open) return;
		this.#open = false;
		closeSync(this.#fd);
		rmSync(this.#dir, { recursive: true, force: true });
	}
}

/** Runs a step on our own disk, whose faults do not count against the upstream. */
function onOwnDisk<T>(step: () => T): T {
	try {
		return step();
	} catch (error) {
		const { code } = error as { readonly code?: unknown };
		throw new RpcFault("broken", `a long answer could not be put on disk (${String(code)})`, { counts: false });
	}
}
