import { randomBytes } from "node:crypto";
import { mkdirSync } from "node:fs";
import { open, readdir, readFile, rename, stat, unlink } from "node:fs/promises";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { syncFolder } from "../journal/durable-file.ts";
import { answerFile, answersFolder } from "../store/data-folder.ts";

/** Bodies of kept answers that are too large for the journal, each a file of DATA/idempotency. */
export class AnswerFiles {
	readonly #dataDir: string;

	constructor(dataDir: string) {
		this.#dataDir = dataDir;
	}

	/** Writes a body and syncs it, whatever the journal does: it is there before its post. Throws what the file system throws. */
	async write(epoch: number, body: Uint8Array): Promise<string> {
		const name = `${epoch}-${randomBytes(16).toString("hex")}`;
		const path = this.#path(name);
		const folder = answersFolder(this.#dataDir);
		mkdirSync(folder, { recursive: true, mode: 0o700 });
		const half = `${path}.tmp`;
		try {
			const file = await open(half, "wx", 0o600);
			try {
				await file.writeFile(body);
				await file.datasync();
			} finally {
				await file.close();
			}
			await rename(half, path);
			await syncFolder(folder);
		} catch (error) {
			await unlink(half).catch(() => {});
			throw error;
		}
		return name;
	}

	/** The body; null where it is gone. Throws what the file system throws besides. */
	async read(name: string): Promise<Uint8Array | null> {
		try {
			return await readFile(this.#path(name));
		} catch (error) {
			if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
			throw error;
		}
	}

	/** Names of whole bodies that were written before `ms` (Unix time). */
	async olderThan(ms: number): Promise<string[]> {
		const folder = answersFolder(this.#dataDir);
		const names: string[] = [];
		for (const entry of await readdir(folder).catch(() => [])) {
			if (answerFile("", entry) === null) continue;
			const found = await stat(join(folder, entry)).catch(() => null);
			if (found !== null && found.mtimeMs < ms) names.push(entry);
		}
		return names;
	}

	/** Names of whole bodies that boots before `epoch` wrote; their half-written ones are removed. */
	async ofEarlierEpochs(epoch: number): Promise<string[]> {
		const folder = answersFolder(this.#dataDir);
		const names: string[] = [];
		for (const entry of await readdir(folder).catch(() => [])) {
			const written = epochOf(entry);
			if (written === null || written >= epoch) continue;
			if (entry.endsWith(".tmp")) await unlink(join(folder, entry)).catch(() => {});
			else names.push(entry);
		}
		return names;
	}

	/** What is gone already, and what cannot be removed, is passed over: the next start sweeps. */
	async remove(name: string): Promise<void> {
		await unlink(this.#path(name)).catch(() => {});
	}

	#path(name: string): string {
		const path = answerFile(this.#dataDir, name);
		if (path === null) throw new TypeError(`no name of a kept answer: ${JSON.stringify(name)}`);
		return path;
	}
}

/** The boot that wrote a file of ours, whole or half; null for other files, which are left alone. */
function epochOf(entry: string): number | null {
	const name = entry.endsWith(".tmp") ? entry.slice(0, -".tmp".length) : entry;
	return answerFile("", name) === null ? null : Number.parseInt(name, 10);
}

/** True where the bytes are those that were kept. */
export function isWhole(body: Uint8Array, expected: { readonly bytes: number; readonly crc32: number }): boolean {
	return body.length === expected.bytes && crc32(body) === expected.crc32;
}
