/**
 * What a provider needs back unchanged with the next turn, as `reasoning_details` of a message (docs/chat.md). These
 * are signatures of thoughts, encrypted thoughts and signatures of tool calls. Each is opaque to the caller.
 */

import type { SharedV4ProviderMetadata } from "@ai-sdk/provider";
import type { ProviderName } from "../../../config/providers.ts";
import { isRecord } from "../../../schema/is-record.ts";
import { innerJson } from "../../../wire/index.ts";

/** One entry of `reasoning_details`. */
export interface ReasoningDetail {
	readonly type: "reasoning" | "text" | "tool_call";
	/** The provider that reads it. */
	readonly format: ProviderName;
	readonly index: number;
	/** The id of the tool call, if it belongs to one. */
	readonly id?: string;
	readonly data: string;
}

/** The content of an entry's `data`. */
export interface ReasoningDetailContent {
	/** Number of characters of the message's thoughts, or text, that it covers. */
	readonly length: number;
	readonly metadata: SharedV4ProviderMetadata;
}

const MAX_ENTRIES = 1_000;

export function reasoningDetail(
	type: ReasoningDetail["type"],
	format: ProviderName,
	index: number,
	content: ReasoningDetailContent,
	id?: string,
): ReasoningDetail {
	const data = Buffer.from(JSON.stringify(content)).toString("base64url");
	return { type, format, index, ...(id === undefined ? {} : { id }), data };
}

/** Returns the entries of a message that this provider wrote. Other entries are ignored. */
export function reasoningDetailsFor(
	format: ProviderName,
	entries: unknown,
): (Pick<ReasoningDetail, "type" | "id"> & ReasoningDetailContent)[] {
	if (!Array.isArray(entries)) return [];
	return entries.slice(0, MAX_ENTRIES).flatMap((entry: unknown) => {
		if (!isRecord(entry) || entry.format !== format || typeof entry.data !== "string") return [];
		const { type, id } = entry;
		if (type !== "reasoning" && type !== "text" && type !== "tool_call") return [];
		const content = contentOf(entry.data);
		return content === null ? [] : [{ type, ...(typeof id === "string" ? { id } : {}), ...content }];
	});
}

function contentOf(data: string): ReasoningDetailContent | null {
	try {
		const content: unknown = innerJson(Buffer.from(data, "base64url"));
		if (!isRecord(content) || !isRecord(content.metadata)) return null;
		const { length, metadata } = content;
		if (typeof length !== "number" || !Number.isSafeInteger(length) || length < 0) return null;
		return Object.values(metadata).every(isRecord) ? { length, metadata: metadata as SharedV4ProviderMetadata } : null;
	} catch {
		return null;
	}
}
