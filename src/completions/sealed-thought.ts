import { innerJson } from "../wire/index.ts";
import type { Thought } from "./conversation.ts";

/** Version prefix of the encoding. */
const PREFIX = "t1.";

/**
 * Encodes the pieces and signature that a provider needs back with its thoughts as one text, which the caller sends
 * back. So nothing need be stored here. It is opaque to callers, not secret. Some clients drop thoughts without it.
 */
export function sealThought(details: readonly unknown[], signature: string | null): string {
	return PREFIX + Buffer.from(jsonOf({ details, signature })).toString("base64url");
}

/** Returns the JSON of a thought; empty if it nests too deeply. */
function jsonOf(thought: object): string {
	try {
		return JSON.stringify(thought);
	} catch {
		return "{}";
	}
}

/** Decodes the text of `sealThought`; returns nothing for any other text. */
export function openThought(sealed: string): Pick<Thought, "details" | "signature"> {
	if (!sealed.startsWith(PREFIX)) return {};
	try {
		const value: unknown = innerJson(Buffer.from(sealed.slice(PREFIX.length), "base64url"));
		if (typeof value !== "object" || value === null) return {};
		const { details, signature } = value as { details?: unknown; signature?: unknown };
		return {
			...(Array.isArray(details) ? { details } : {}),
			...(typeof signature === "string" ? { signature } : {}),
		};
	} catch {
		return {};
	}
}
