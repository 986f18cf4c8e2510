import type {
	LanguageModelV4FilePart,
	LanguageModelV4Message,
	LanguageModelV4Prompt,
	LanguageModelV4TextPart,
	SharedV4FileData,
} from "@ai-sdk/provider";
import { ApiError } from "../../../errors/index.ts";
import { type PublicFetch, PublicFetchFault } from "../../public-fetch/port.ts";

type Linked = LanguageModelV4FilePart & { readonly data: Extract<SharedV4FileData, { type: "url" }> };

export interface LinkedFilesOptions {
	readonly prompt: LanguageModelV4Prompt;
	/** The addresses that the model reads by itself, by media type. */
	readonly supported: Readonly<Record<string, readonly RegExp[]>>;
	readonly fetchPublic: PublicFetch;
	readonly signal: AbortSignal;
}

const MAX_BYTES = 25 * 1024 * 1024;

/** Media types by file extension. */
const BY_ENDING: Readonly<Record<string, string>> = {
	gif: "image/gif",
	jpeg: "image/jpeg",
	jpg: "image/jpeg",
	mov: "video/quicktime",
	mp4: "video/mp4",
	mpeg: "video/mpeg",
	pdf: "application/pdf",
	png: "image/png",
	webm: "video/webm",
	webp: "image/webp",
};
const FILM_PAGE = /^https:\/\/(?:www\.youtube\.com\/watch|youtube\.com\/watch|youtu\.be\/)/;

/**
 * Replaces addresses in a prompt by the bytes of their files, unless the provider reads the address itself. Only the
 * public internet is read. Throws ApiError if a file cannot be read, or is of another kind than the message says.
 */
export async function withLinkedFiles(inputs: LinkedFilesOptions): Promise<LanguageModelV4Prompt> {
	return Promise.all(
		inputs.prompt.map(async (message): Promise<LanguageModelV4Message> => {
			if (message.role !== "user") return message;
			const content = message.content.map((part) => (isLinked(part) ? linkedFile(part, inputs) : part));
			return { ...message, content: await Promise.all(content) };
		}),
	);
}

function isLinked(part: LanguageModelV4TextPart | LanguageModelV4FilePart): part is Linked {
	return part.type === "file" && part.data.type === "url";
}

function linkedFile(part: Linked, inputs: LinkedFilesOptions): LanguageModelV4FilePart | Promise<LanguageModelV4FilePart> {
	const { url } = part.data;
	const ending = /\.(\w{3,4})$/.exec(url.pathname.toLowerCase())?.[1] ?? "";
	const mediaType = FILM_PAGE.test(url.href) ? "video/mp4" : BY_ENDING[ending];
	// A provider that reads the address itself needs the exact media type.
	if (mediaType !== undefined && reads(inputs.supported, mediaType, url)) return { ...part, mediaType };
	return fileOf(part, inputs);
}

function reads(supported: LinkedFilesOptions["supported"], mediaType: string, { href }: URL): boolean {
	return Object.entries(supported).some(([type, patterns]) => {
		const fits = type === mediaType || type.startsWith("*") || (type.endsWith("/*") && mediaType.startsWith(type.slice(0, -1)));
		return fits && patterns.some((pattern) => pattern.test(href));
	});
}

async function fileOf(part: Linked, { fetchPublic, signal }: LinkedFilesOptions): Promise<LanguageModelV4FilePart> {
	const { href } = part.data.url;
	try {
		const { bytes, headers } = await fetchPublic.read(href, { tenant: "upstreams", signal, maxBytes: MAX_BYTES });
		const mediaType = headers.get("content-type")?.split(";", 1)[0]?.trim().toLowerCase() ?? "";
		const [kind = ""] = part.mediaType.split("/");
		if (!mediaType.startsWith(`${kind}/`)) throw linkError(`${part.data.url.hostname} answered with no ${kind}`);
		return { ...part, mediaType, data: { type: "data", data: bytes } };
	} catch (error) {
		throw error instanceof PublicFetchFault ? linkError(error.message) : error;
	}
}

function linkError(message: string): ApiError {
	return new ApiError("INVALID_REQUEST", { message: `messages: ${message}`, param: "messages" });
}
