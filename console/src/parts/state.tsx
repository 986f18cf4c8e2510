import type { ReactNode } from "react";

export type Tone = "good" | "warn" | "bad" | "off";

/** A state in words, with a mark that differs in shape and colour. */
export function State({ tone, children }: { readonly tone: Tone; readonly children: ReactNode }) {
	return <span className={`state state-${tone}`}>{children}</span>;
}

const UPSTREAM = { up: ["good", "up"], trial: ["warn", "on trial"], out: ["bad", "out"] } as const;

/** The health of an upstream. */
export function UpstreamState({ state, busy = false }: { readonly state: keyof typeof UPSTREAM; readonly busy?: boolean }) {
	const [tone, text] = UPSTREAM[state];
	return <State tone={busy && tone === "good" ? "warn" : tone}>{busy ? `${text}, busy` : text}</State>;
}
