import type { DocumentReader } from "../../engines/documents/port.ts";
import { ApiError } from "../../errors/index.ts";
import type { Requester } from "../../fairness/index.ts";
import { invalidField, invalidRequest } from "../../schema/index.ts";
import { type PublicFetch, PublicFetchFault } from "../../upstreams/public-fetch/port.ts";
import { refusedUrl } from "../../upstreams/public-fetch/refusal.ts";
import { base64String, type LongStrings } from "../../wire/index.ts";
import { type FilePart, MAX_FILE_BYTES, tooLarge } from "./file-parts.ts";

/** The dependencies that read files for conversations. */
export interface FileDeps {
	readonly documents: DocumentReader;
	readonly fetchPublic: PublicFetch;
}

/** The text of a file part. */
export interface FileText {
	readonly file: FilePart;
	/** The file's name, or its address. */
	readonly source: string;
	readonly text: string;
}

/** Number of a request's files read at once, so that only a few are in memory. */
const AT_ONCE = 3;
/** Maximum number of characters of a request's files together: two texts of the largest file. */
const MAX_TEXT_CHARS = 2 * MAX_FILE_BYTES;

/**
 * Returns the texts of all files, in their order. The base64 of a long file is decoded in place, which overwrites that
 * part of the body.
 * @throws ApiError INVALID_REQUEST, PAYLOAD_TOO_LARGE, naming the part, SERVICE_UNAVAILABLE; the abort reason of
 * `signal`
 */
export async function readFiles(
	files: readonly FilePart[],
	long: LongStrings,
	deps: FileDeps,
	{ tenant, signal }: Requester,
): Promise<readonly FileText[]> {
	const stop = new AbortController();
	const either = { tenant, signal: AbortSignal.any([signal, stop.signal]) };
	const texts: FileText[] = [];
	let next = 0;
	let chars = 0;
	const reader = async (): Promise<void> => {
		for (let index = next++; index < files.length; index = next++) {
			const file = files[index];
			if (file === undefined) return;
			const read = await readFile(file, long, deps, either);
			chars += read.text.length;
			if (chars > MAX_TEXT_CHARS)
				throw invalidField(pathOf(file), `the files have more than ${MAX_TEXT_CHARS} characters of text`, "file_too_large");
			texts[index] = read;
		}
	};
	try {
		await Promise.all(Array.from({ length: Math.min(AT_ONCE, files.length) }, reader));
		return texts;
	} catch (fault) {
		// The other files are no longer needed.
		stop.abort(fault);
		throw fault;
	}
}

async function readFile(file: FilePart, long: LongStrings, deps: FileDeps, requester: Requester): Promise<FileText> {
	requester.signal.throwIfAborted();
	const path = pathOf(file);
	const { bytes, source, name } = await bytesOf(file, path, long, deps, requester);
	try {
		return { file, source, text: await deps.documents.read(bytes, name, requester) };
	} catch (fault) {
		throw ofPart(fault, path);
	}
}

interface FoundFile {
	readonly bytes: Uint8Array;
	readonly name: string;
	readonly source: string;
}

async function bytesOf(
	{ source, name }: FilePart,
	path: readonly (string | number)[],
	long: LongStrings,
	{ fetchPublic }: FileDeps,
	requester: Requester,
): Promise<FoundFile> {
	if (/^data:/i.test(source)) {
		const bytes = await base64String(source, long);
		if (bytes === null) throw invalidField(path, "is no base64", "file_corrupt");
		if (bytes.length > MAX_FILE_BYTES) throw tooLarge(path);
		return { bytes, name, source: name === "" ? "a file" : name };
	}
	try {
		const { bytes, url } = await fetchPublic.read(source, {
			tenant: requester.tenant,
			signal: requester.signal,
			maxBytes: MAX_FILE_BYTES,
		});
		const last = decodeUriPart(new URL(url).pathname.split("/").at(-1) ?? "");
		return { bytes, name: name === "" ? last : name, source: name === "" ? url : `${name} <${url}>` };
	} catch (fault) {
		if (fault instanceof PublicFetchFault && fault.kind === "too_large") throw tooLarge(path);
		throw ofPart(refusedUrl(fault, path), path);
	}
}

/** Returns a refusal of a file with the path of its part. */
function ofPart(fault: unknown, path: readonly (string | number)[]): unknown {
	if (!(fault instanceof ApiError) || fault.code !== "INVALID_REQUEST") return fault;
	const issues = fault.options.issues?.map((issue) => ({ ...issue, path })) ?? [];
	return issues.length === 0 ? fault : invalidRequest(issues);
}

function pathOf({ message, part }: FilePart): (string | number)[] {
	return ["messages", message, "content", part, "file", "file_data"];
}

function decodeUriPart(text: string): string {
	try {
		return decodeURIComponent(text);
	} catch {
		return text;
	}
}
