import { randomBytes } from "node:crypto";
import { EVM_CHAIN, SOLANA_CHAIN } from "./wallet-chains.ts";

/** The data that a wallet needs to sign in: the `sign-in-with-x` extension of x402 version 2. */
export interface SignInChallenge {
	readonly info: {
		readonly domain: string;
		readonly uri: string;
		readonly version: "1";
		/** 32 hex digits. It is not stored: wallets may generate their own. */
		readonly nonce: string;
		readonly issuedAt: string;
		readonly expirationTime: string;
		readonly statement: string;
	};
	readonly supportedChains: readonly { readonly chainId: string; readonly type: string }[];
	readonly schema: Readonly<Record<string, unknown>>;
}

const LIFE_MS = 300_000;
const STATEMENT = "Sign in to the API";
const TEXT = { type: "string" };
const INSTANT = { type: "string", format: "date-time" };
const URI = { type: "string", format: "uri" };

/** The schema of the header's JSON. */
const SCHEMA = {
	$schema: "https://json-schema.org/draft/2020-12/schema",
	type: "object",
	properties: {
		domain: TEXT,
		address: TEXT,
		statement: TEXT,
		uri: URI,
		version: TEXT,
		chainId: TEXT,
		type: TEXT,
		nonce: TEXT,
		issuedAt: INSTANT,
		expirationTime: INSTANT,
		notBefore: INSTANT,
		requestId: TEXT,
		resources: { type: "array", items: URI },
		signature: TEXT,
	},
	required: ["domain", "address", "uri", "version", "chainId", "type", "nonce", "issuedAt", "signature"],
} as const;

/**
 * Returns a new challenge. It names the origin of ours that the caller used, because its client compares it; if the caller used
 * none of them, it names the first.
 */
export function signInChallenge(requestUrl: string, origins: readonly URL[], nowMs: number): SignInChallenge {
	const requested = new URL(requestUrl);
	const origin = origins.find(({ host }) => host === requested.host) ?? origins[0] ?? requested;
	return {
		info: {
			domain: origin.host,
			uri: `${origin.origin}${requested.pathname}`,
			version: "1",
			nonce: randomBytes(16).toString("hex"),
			issuedAt: new Date(nowMs).toISOString(),
			expirationTime: new Date(nowMs + LIFE_MS).toISOString(),
			statement: STATEMENT,
		},
		supportedChains: [EVM_CHAIN, SOLANA_CHAIN].map(({ id, types }) => ({ chainId: id, type: types[0] ?? "" })),
		schema: SCHEMA,
	};
}
