import { createHmac } from "node:crypto";

/** The JSON body that a webhook receives (docs/observing.md). */
export interface Notice {
	/** All deliveries of one notice have the same id, so that the receiver can ignore repeats. */
	readonly id: string;
	readonly state: "raised" | "ended";
	readonly rule: Rule;
	/** The account, key, upstream or node that the alert concerns. */
	readonly subject: string;
	readonly text: string;
	/** ISO 8601. */
	readonly since: string;
	/** The node that sends the notice. */
	readonly node: string;
}

export type Rule = "balance" | "key-limit" | "daily-spend" | "upstream" | "network" | "journal" | "books";

/** An alert that fires. `name` identifies it on all nodes. */
export interface FiringAlert {
	readonly rule: Rule;
	readonly subject: string;
	readonly text: string;
}

/** Signs the seconds, a point and the body's bytes, so that an old notice cannot be replayed as a new one. */
export function signatureOf(secret: string, atSeconds: number, body: string): string {
	return `sha256=${createHmac("sha256", secret).update(`${atSeconds}.${body}`).digest("hex")}`;
}

export function alertName({ rule, subject }: Pick<FiringAlert, "rule" | "subject">): string {
	return `${rule} ${subject}`;
}

/** Splits an alert's name into its rule and its subject. */
export function alertNameParts(name: string): { readonly rule: Rule; readonly subject: string } {
	const space = name.indexOf(" ");
	return { rule: name.slice(0, space) as Rule, subject: name.slice(space + 1) };
}
