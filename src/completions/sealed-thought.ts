import { innerJson } from "../wire/index.ts";
import type { Thought } from "./conversation.ts";

/** Names the form of what stands behind it. */
const PREFIX = "t1.";

/**
 * What a provider wants back unchanged with its thoughts (pieces, signature) as one text for the caller to send back,
 * so that nothing need be kept here. Opaque to callers, not secret. Some clients leave thoughts out that have none.
 */
export function sealThought(details: readonly unknown[], signature: string | null): string {
	return PREFIX + Buffer.from(written({ details, signature })).toString("base64url");
}

/** Nothing for what nests too deeply to be written. */
function written(thought: object): string {
	try {
		return JSON.stringify(thought);
	} catch {
		return "{}";
	}
}

/** What `sealThought` put in; nothing for a text of another origin. */
export function openThought(sealed: string): Pick<Thought, "details" | "signature"> {
	if (!sealed.startsWith(PREFIX)) return {};
	try {
		const opened: unknown = innerJson(Buffer.from(sealed.slice(PREFIX.length), "base64url"));
		if (typeof opened !== "object" || opened === null) return {};
		const { details, signature } = opened as { details?: unknown; signature?: unknown };
		return {
			...(Array.isArray(details) ? { details } : {}),
			...(typeof signature === "string" ? { signature } : {}),
		};
	} catch {
		return {};
	}
}
