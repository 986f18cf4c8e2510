import { createHmac } from "node:crypto";

/** What a webhook gets as JSON (docs/observing.md). */
export interface Notice {
	/** The same for all sendings of one notice: whoever has it already may let it go. */
	readonly id: string;
	readonly state: "raised" | "ended";
	readonly rule: Rule;
	/** What it is about: an account, a key, an upstream, a node. */
	readonly subject: string;
	readonly text: string;
	/** ISO 8601. */
	readonly since: string;
	/** The node that tells. */
	readonly node: string;
}

export type Rule = "balance" | "key-limit" | "daily-spend" | "upstream" | "network" | "journal" | "books";

/** An alert that stands. `name` makes it the same one on all nodes. */
export interface FiringAlert {
	readonly rule: Rule;
	readonly subject: string;
	readonly text: string;
}

/** Seconds, a point, and the body's bytes: so that an old notice cannot be sent again as a new one. */
export function signatureOf(secret: string, atSeconds: number, body: string): string {
	return `sha256=${createHmac("sha256", secret).update(`${atSeconds}.${body}`).digest("hex")}`;
}

export function alertName({ rule, subject }: Pick<FiringAlert, "rule" | "subject">): string {
	return `${rule} ${subject}`;
}

/** The two parts of a name. */
export function alertNameParts(name: string): { readonly rule: Rule; readonly subject: string } {
	const space = name.indexOf(" ");
	return { rule: name.slice(0, space) as Rule, subject: name.slice(space + 1) };
}
