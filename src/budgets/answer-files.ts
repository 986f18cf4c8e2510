import { randomBytes } from "node:crypto";
import { mkdirSync } from "node:fs";
import { open, readdir, readFile, rename, stat, unlink } from "node:fs/promises";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { syncFolder } from "../journal/durable-file.ts";
import { answerFile, answersFolder } from "../store/data-folder.ts";

/** Stores bodies of answers that are too large for the journal, each as a file of DATA/idempotency. */
export class AnswerFiles {
	readonly #dataDir: string;

	constructor(dataDir: string) {
		this.#dataDir = dataDir;
	}

	/**
	 * Writes a body and syncs it to disk, whatever the journal's own sync setting: the body exists before its post.
	 * Throws errors of the file system.
	 */
	async write(epoch: number, body: Uint8Array): Promise<string> {
		const name = `${epoch}-${randomBytes(16).toString("hex")}`;
		const path = this.#path(name);
		const folder = answersFolder(this.#dataDir);
		mkdirSync(folder, { recursive: true, mode: 0o700 });
		const temporaryPath = `${path}.tmp`;
		try {
			const file = await open(temporaryPath, "wx", 0o600);
			try {
				await file.writeFile(body);
				await file.datasync();
			} finally {
				await file.close();
			}
			await rename(temporaryPath, path);
			await syncFolder(folder);
		} catch (error) {
			await unlink(temporaryPath).catch(() => {});
			throw error;
		}
		return name;
	}

	/** Returns the body; null if the file is missing. Throws other errors of the file system. */
	async read(name: string): Promise<Uint8Array | null> {
		try {
			return await readFile(this.#path(name));
		} catch (error) {
			if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
			throw error;
		}
	}

	/** Returns the names of complete bodies that were written before `ms` (Unix time). */
	async olderThan(ms: number): Promise<string[]> {
		const folder = answersFolder(this.#dataDir);
		const names: string[] = [];
		for (const entry of await readdir(folder).catch(() => [])) {
			if (answerFile("", entry) === null) continue;
			const fileStats = await stat(join(folder, entry)).catch(() => null);
			if (fileStats !== null && fileStats.mtimeMs < ms) names.push(entry);
		}
		return names;
	}

	/** Returns the names of complete bodies from boots before `epoch`, and removes the incomplete ones of those boots. */
	async ofEarlierEpochs(epoch: number): Promise<string[]> {
		const folder = answersFolder(this.#dataDir);
		const names: string[] = [];
		for (const entry of await readdir(folder).catch(() => [])) {
			const writerEpoch = epochOf(entry);
			if (writerEpoch === null || writerEpoch >= epoch) continue;
			if (entry.endsWith(".tmp")) await unlink(join(folder, entry)).catch(() => {});
			else names.push(entry);
		}
		return names;
	}

	/** Removes a file. Missing files and failures are ignored: the next start sweeps again. */
	async remove(name: string): Promise<void> {
		await unlink(this.#path(name)).catch(() => {});
	}

	#path(name: string): string {
		const path = answerFile(this.#dataDir, name);
		if (path === null) throw new TypeError(`no name of a kept answer: ${JSON.stringify(name)}`);
		return path;
	}
}

/** Returns the boot that wrote one of our files, complete or not; null for other files, which are left alone. */
function epochOf(entry: string): number | null {
	const name = entry.endsWith(".tmp") ? entry.slice(0, -".tmp".length) : entry;
	return answerFile("", name) === null ? null : Number.parseInt(name, 10);
}

/** Returns true if the bytes have the expected length and checksum. */
export function isWhole(body: Uint8Array, expected: { readonly bytes: number; readonly crc32: number }): boolean {
	return body.length === expected.bytes && crc32(body) === expected.crc32;
}
