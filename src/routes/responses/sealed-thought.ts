import type { Thought } from "../../completions/index.ts";

/** Names the form of what stands behind it. */
const PREFIX = "t1.";

/**
 * `encrypted_content` of a reasoning item: what a provider wants back unchanged with its thoughts (pieces,
 * signature), so that nothing need be kept here. Opaque to callers, not secret. Clients leave thoughts without it out.
 */
export function sealThought(details: readonly unknown[], signature: string | null): string {
	return PREFIX + Buffer.from(JSON.stringify({ details, signature })).toString("base64url");
}

/** What `sealThought` put in; nothing for a text of another origin. */
export function openThought(sealed: string): Pick<Thought, "details" | "signature"> {
	if (!sealed.startsWith(PREFIX)) return {};
	try {
		const opened: unknown = JSON.parse(Buffer.from(sealed.slice(PREFIX.length), "base64url").toString());
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
