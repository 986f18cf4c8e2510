/** A payment as it is read from a header: of any dialect, not yet checked against what is offered. */

/** What the payer signed (https://eips.ethereum.org/EIPS/eip-3009), addresses and nonce in lower case. */
export interface Authorization {
	readonly from: string;
	readonly to: string;
	/** Base units, decimal text. */
	readonly value: string;
	/** Unix seconds, decimal text. */
	readonly validAfter: string;
	readonly validBefore: string;
	readonly nonce: string;
}

export interface DecodedPayment {
	readonly scheme: string;
	/** CAIP-2. */
	readonly network: string;
	/** What the payer says it accepted; null in the dialects that do not say it. Lower case. */
	readonly asset: string | null;
	readonly payTo: string | null;
	readonly amount: string | null;
	readonly authorization: Authorization;
	/** Lower case. */
	readonly signature: string;
}

/** What cannot be read as a payment. The message may go to the caller. */
export class MalformedPayment extends Error {
	override readonly name = "MalformedPayment";
}

/** Longest header that is looked at; with a contract's signature one has some 2 KB. */
const MAX_HEADER = 12_288;
const BASE64 = /^[A-Za-z0-9+/_-]+={0,2}$/;
const ADDRESS = /^0x[0-9a-fA-F]{40}$/;
const NONCE = /^0x[0-9a-fA-F]{64}$/;
const HEX = /^0x(?:[0-9a-fA-F]{2})+$/;
const WHOLE = /^\d{1,78}$/;
const NAME = /^[\x21-\x7e]{1,64}$/;

/** Names of networks in version 1. */
const V1_NETWORKS: Readonly<Record<string, string>> = { base: "eip155:8453", "base-sepolia": "eip155:84532" };

type Fields = Readonly<Record<string, unknown>>;

/** Reads a payment: version 2, version 1, and version 2 with the members of version 1. Throws `MalformedPayment`. */
export function decodePayment(header: string): DecodedPayment {
	const text = header.trim();
	if (text.length > MAX_HEADER) throw new MalformedPayment(`the payment header is longer than ${MAX_HEADER} characters`);
	if (!BASE64.test(text)) throw new MalformedPayment("the payment header is not base64");
	const root = fields(parsed(Buffer.from(text, "base64").toString("utf8")), "the payment");
	if (root.x402Version !== 1 && root.x402Version !== 2) throw new MalformedPayment("x402Version: expected 1 or 2");
	const authorization = authorizationOf(fields(fields(root.payload, "payload").authorization, "payload.authorization"));
	const signature = matching(fields(root.payload, "payload").signature, HEX, "payload.signature", "hex").toLowerCase();
	const signed = { authorization, signature: withMark(signature) };
	if (root.accepted === undefined && root.scheme !== undefined) {
		const { scheme, network } = root;
		return { ...schemeAndNetwork(scheme, network, ""), asset: null, payTo: null, amount: null, ...signed };
	}
	if (root.x402Version === 1) throw new MalformedPayment("scheme: expected text");
	const accepted = fields(root.accepted, "accepted");
	return {
		...schemeAndNetwork(accepted.scheme, accepted.network, "accepted."),
		asset: matching(accepted.asset, ADDRESS, "accepted.asset", "an address").toLowerCase(),
		payTo: matching(accepted.payTo, ADDRESS, "accepted.payTo", "an address").toLowerCase(),
		amount: whole(accepted.amount, "accepted.amount"),
		...signed,
	};
}

/** A key's signature with 27 or 28 at its end, as the token takes it: some wallets write 0 or 1. */
function withMark(signature: string): string {
	const mark = Number.parseInt(signature.slice(-2), 16);
	return signature.length === 132 && mark <= 1 ? `${signature.slice(0, -2)}${(mark + 27).toString(16)}` : signature;
}

function parsed(json: string): unknown {
	try {
		return JSON.parse(json);
	} catch {
		throw new MalformedPayment("the payment header is not base64 of JSON");
	}
}

function fields(value: unknown, path: string): Fields {
	if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Fields;
	throw new MalformedPayment(`${path}: expected an object`);
}

function matching(value: unknown, pattern: RegExp, path: string, expected: string): string {
	if (typeof value === "string" && pattern.test(value)) return value;
	throw new MalformedPayment(`${path}: expected ${expected}`);
}

/** Without leading zeros: the same number is the same text. */
function whole(value: unknown, path: string): string {
	return BigInt(matching(value, WHOLE, path, "a whole number as text")).toString();
}

function schemeAndNetwork(scheme: unknown, network: unknown, at: string): { scheme: string; network: string } {
	const named = matching(network, NAME, `${at}network`, "text");
	return {
		scheme: matching(scheme, NAME, `${at}scheme`, "text"),
		network: Object.hasOwn(V1_NETWORKS, named) ? (V1_NETWORKS[named] ?? named) : named,
	};
}

function authorizationOf(value: Fields): Authorization {
	const at = "payload.authorization";
	return {
		from: matching(value.from, ADDRESS, `${at}.from`, "an address").toLowerCase(),
		to: matching(value.to, ADDRESS, `${at}.to`, "an address").toLowerCase(),
		value: whole(value.value, `${at}.value`),
		validAfter: whole(value.validAfter, `${at}.validAfter`),
		validBefore: whole(value.validBefore, `${at}.validBefore`),
		nonce: matching(value.nonce, NONCE, `${at}.nonce`, "32 bytes of hex").toLowerCase(),
	};
}
