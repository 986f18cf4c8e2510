import type { TextModel } from "../catalog/types.ts";
import { invalidField } from "../schema/index.ts";
import type { LongStrings } from "../wire/index.ts";
import { checkFilePart, type FilePart, type FilePartBody, MAX_FILES } from "./files/file-parts.ts";
import { checkImageData } from "./image-header.ts";
import { checkAudioData, checkVideoData } from "./media-header.ts";
import { forbiddenAddress } from "./public-url.ts";
import type { ChatBody, ChatMessage } from "./schema.ts";

/** The result of a pass over the messages: sizes for the hold, and the features that they use. */
export interface MessageContents {
	readonly images: number;
	readonly videos: number;
	readonly audios: number;
	/** Bytes of media data inside the messages (data URLs, base64): not text, so not counted as tokens by bytes. */
	readonly mediaBytes: number;
	/** Files that are replaced by their text. */
	readonly files: readonly FilePart[];
	/** Bytes of those files' data inside the messages. */
	readonly fileDataBytes: number;
	/** Decoded bytes of files that go to the model unchanged. */
	readonly nativeFileBytes: number;
}

type Part = Extract<Exclude<ChatMessage["content"], string | null | undefined>[number], { type: string }>;

/**
 * Checks the rules of messages that a schema cannot express (docs/chat.md): tool results answer an earlier call, an
 * assistant message has content, media fit the model. Images of messages before `imagesFrom` are not sent, so they are
 * not checked.
 * @throws ApiError 400 or 422 naming the part
 */
export function checkMessages(body: ChatBody, model: TextModel, long: LongStrings, imagesFrom = 0): MessageContents {
	const callIds = new Set<string>();
	const contents: ContentsUnderWay = {
		images: 0,
		videos: 0,
		audios: 0,
		mediaBytes: 0,
		files: [],
		fileDataBytes: 0,
		nativeFileBytes: 0,
	};
	for (const [index, message] of body.messages.entries()) {
		const path = ["messages", index] as const;
		if (message.role === "assistant") {
			const calls = message.tool_calls ?? [];
			if ((message.content === undefined || message.content === null) && calls.length === 0)
				throw invalidField([...path, "content"], "an assistant message needs content or tool_calls", "required");
			for (const call of calls) if (typeof call.id === "string") callIds.add(call.id);
		} else if (message.role === "tool") {
			if (!callIds.has(message.tool_call_id))
				throw invalidField([...path, "tool_call_id"], "matches no tool call of an earlier assistant message");
		} else if (message.role === "user" && Array.isArray(message.content)) {
			for (const [partIndex, part] of message.content.entries())
				if (part.type === "image_url" && index < imagesFrom) contents.mediaBytes += long.bytesOf(part.image_url.url);
				else if (part.type === "file") checkFile(part, [index, partIndex], model, contents, long);
				else checkPart(part, [...path, "content", partIndex], model, contents, long);
		}
	}
	const { maxImages, maxVideos } = model.capabilities;
	if (maxImages !== undefined && contents.images > maxImages)
		throw invalidField(["messages"], `${contents.images} images; ${model.id} takes at most ${maxImages} a request`);
	if (contents.videos > (maxVideos ?? 3))
		throw invalidField(["messages"], `${contents.videos} videos; ${model.id} takes at most ${maxVideos ?? 3} a request`);
	return contents;
}

type ContentsUnderWay = { -readonly [K in keyof Omit<MessageContents, "files">]: number } & { files: FilePart[] };

/**
 * Checks a file. A PDF with its bytes in the message goes unchanged to a model that reads PDF; any other file goes as
 * text.
 */
function checkFile(
	part: FilePartBody,
	[message, place]: readonly [message: number, part: number],
	model: TextModel,
	contents: ContentsUnderWay,
	long: LongStrings,
): void {
	const { isAddress, isPdf, dataBytes, fileBytes } = checkFilePart(part, ["messages", message, "content", place], long);
	if (model.readsFiles === true && isPdf && !isAddress) {
		contents.mediaBytes += dataBytes;
		contents.nativeFileBytes += fileBytes;
		return;
	}
	if (contents.files.length === MAX_FILES) throw invalidField(["messages"], `more than ${MAX_FILES} files`, "too_big");
	contents.files.push({ message, part: place, name: part.file.filename ?? "", source: part.file.file_data });
	contents.fileDataBytes += dataBytes;
}

function checkPart(
	part: Exclude<Part, FilePartBody>,
	path: (string | number)[],
	model: TextModel,
	contents: ContentsUnderWay,
	long: LongStrings,
): void {
	const requireCapability = (
		capability: "supportsVision" | "supportsAudioInput" | "supportsVideoInput",
		mediaKind: string,
	): void => {
		if (model.capabilities[capability] === false)
			throw invalidField([...path, "type"], `${model.id} does not take ${mediaKind}`, "unsupported");
	};
	if (part.type === "image_url") {
		requireCapability("supportsVision", "images");
		contents.images++;
		contents.mediaBytes += checkUrl(part.image_url.url, [...path, "image_url", "url"], "image/", long);
	} else if (part.type === "input_audio") {
		requireCapability("supportsAudioInput", "audio");
		contents.audios++;
		checkAudioData(part.input_audio.data, part.input_audio.format ?? "wav", [...path, "input_audio", "data"]);
		contents.mediaBytes += long.bytesOf(part.input_audio.data);
	} else if (part.type === "video_url") {
		requireCapability("supportsVideoInput", "video");
		contents.videos++;
		contents.mediaBytes += checkUrl(part.video_url.url, [...path, "video_url", "url"], "video/", long);
	}
}

/** This many characters of base64 contain the dimensions of most pictures. */
const IMAGE_HEADER_CHARS = 87_384;

/** Checks a data URL of the kind or a public http(s) URL. Returns the number of data bytes in the message. */
function checkUrl(url: string, path: (string | number)[], kind: string, long: LongStrings): number {
	if (url.startsWith("data:")) {
		const comma = url.indexOf(",");
		const head = comma < 0 ? "" : url.slice(5, comma).toLowerCase();
		if (!head.startsWith(kind) || !head.endsWith(";base64"))
			throw invalidField(path, `must be a data:${kind}...;base64, URL or an http(s) URL`);
		if (kind === "image/") checkImageData(long.startOf(url, comma + 1 + IMAGE_HEADER_CHARS).slice(comma + 1), path);
		else checkVideoData(url.slice(comma + 1, comma + 1 + 128), path);
		return long.bytesOf(url);
	}
	if (!URL.canParse(url)) throw invalidField(path, `must be a data:${kind}...;base64, URL or an http(s) URL`);
	const parsed = new URL(url);
	if (parsed.protocol !== "http:" && parsed.protocol !== "https:") throw invalidField(path, "must be an http or https URL");
	if (forbiddenAddress(parsed.hostname))
		throw invalidField(path, "must be a public address, not a private, loopback or link-local one");
	return 0;
}

/**
 * Checks that the model has the capabilities that the body needs (docs/chat.md).
 * @throws ApiError 400 where catalog or configuration deny one
 */
export function checkCapabilities(body: ChatBody, model: TextModel): void {
	const { capabilities } = model;
	const functions = (body.tools ?? []).filter((tool) => "function" in tool);
	if (functions.length > 0 && capabilities.supportsFunctionCalling === false)
		throw invalidField(["tools"], `${model.id} does not call functions`, "unsupported");
	checkToolChoice(body, functions);
	if (body.response_format?.type === "json_schema" && capabilities.supportsResponseSchema === false)
		throw invalidField(["response_format"], `${model.id} does not take a response schema`, "unsupported");
	const effort = body.reasoning_effort ?? body.reasoning?.effort ?? undefined;
	if (effort !== undefined) {
		const path = body.reasoning_effort !== undefined ? ["reasoning_effort"] : ["reasoning", "effort"];
		if (capabilities.supportsReasoningEffort === false)
			throw invalidField(path, `${model.id} does not take a reasoning effort`, "unsupported");
		const options = capabilities.reasoningEffortOptions;
		if (options !== undefined && !options.includes(effort))
			throw invalidField(path, `must be one of ${options.join(", ")} for ${model.id}`, "enum");
	}
	if (body.min_temp !== undefined && body.max_temp !== undefined && body.min_temp > body.max_temp)
		throw invalidField(["min_temp"], "must not be above max_temp");
	if ((body.tools ?? []).some((tool) => !("function" in tool) && tool.type === "x_search") && !capabilities.supportsXSearch)
		throw invalidField(["tools"], `${model.id} has no X search`, "unsupported");
}

function checkToolChoice(body: ChatBody, functions: readonly { function?: { name: string } }[]): void {
	const choice = body.tool_choice;
	if (choice === undefined) return;
	if (typeof choice === "string") {
		if (!["auto", "none", "required"].includes(choice))
			throw invalidField(["tool_choice"], "must be one of auto, none, required", "enum");
		if (choice === "required" && functions.length === 0)
			throw invalidField(["tool_choice"], "required needs at least one function tool");
		return;
	}
	if (!functions.some((tool) => tool.function?.name === choice.function.name))
		throw invalidField(["tool_choice", "function", "name"], `names no function of tools: ${choice.function.name.slice(0, 100)}`);
}
