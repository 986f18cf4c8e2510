/** A payment as decoded from a header: of any dialect, not yet checked against the offer. */
import { isRecord } from "../schema/is-record.ts";
import { IDS_OF_NAMES } from "./networks.ts";
import { readTransfer, UnfitTransaction } from "./solana/transfer.ts";

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

/** A transfer that a contract executes for anyone who presents the signature: EVM chains. */
export interface SignedAuthorization {
	readonly kind: "authorization";
	readonly authorization: Authorization;
	/** Lower case. */
	readonly signature: string;
}

/** A transaction that lacks only the fee payer's signature: Solana. */
export interface SignedTransaction {
	readonly kind: "transaction";
	/** Base64 in wire form; the fee payer's signature is empty. */
	readonly transaction: string;
}

export type Signed = SignedAuthorization | SignedTransaction;

export interface DecodedPayment {
	readonly scheme: string;
	/** CAIP-2. */
	readonly network: string;
	/** The asset that the payer accepted; null in dialects without it. Lower case on EVM chains. */
	readonly asset: string | null;
	readonly payTo: string | null;
	readonly amount: string | null;
	readonly signed: Signed;
	/** The payer's address in the form of its chain: lower case on EVM chains. */
	readonly payer: string;
	/** Signed base units, as decimal text. */
	readonly units: string;
	/** What the chain accepts once: the nonce of an authorization, the SHA-256 of a transaction's signed message. */
	readonly nonce: string;
}

/** Thrown for anything that cannot be read as a payment. The message may go to the caller. */
export class MalformedPayment extends Error {
	override readonly name = "MalformedPayment";
}

/** Longest header that is read; one with a contract's signature has some 2 KB. */
const MAX_HEADER = 12_288;
const BASE64 = /^[A-Za-z0-9+/_-]+={0,2}$/;
const ADDRESS = /^0x[0-9a-fA-F]{40}$/;
const NONCE = /^0x[0-9a-fA-F]{64}$/;
const HEX = /^0x(?:[0-9a-fA-F]{2})+$/;
const WHOLE = /^\d{1,78}$/;
const NAME = /^[\x21-\x7e]{1,64}$/;
const SOLANA = "solana:";
const SOLANA_ADDRESS = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/;

type Fields = Readonly<Record<string, unknown>>;

/** Reads a payment: version 2, version 1, and version 2 with the members of version 1. Throws `MalformedPayment`. */
export function decodePayment(header: string): DecodedPayment {
	const text = header.trim();
	if (text.length > MAX_HEADER) throw new MalformedPayment(`the payment header is longer than ${MAX_HEADER} characters`);
	if (!BASE64.test(text)) throw new MalformedPayment("the payment header is not base64");
	const root = fields(parseJson(Buffer.from(text, "base64").toString("utf8")), "the payment");
	if (root.x402Version !== 1 && root.x402Version !== 2) throw new MalformedPayment("x402Version: expected 1 or 2");
	const payload = fields(root.payload, "payload");
	if (root.accepted === undefined && root.scheme !== undefined) {
		const named = schemeAndNetwork(root.scheme, root.network, "");
		return { ...named, asset: null, payTo: null, amount: null, ...signedOn(named.network, payload) };
	}
	if (root.x402Version === 1) throw new MalformedPayment("scheme: expected text");
	const accepted = fields(root.accepted, "accepted");
	const named = schemeAndNetwork(accepted.scheme, accepted.network, "accepted.");
	return {
		...named,
		asset: addressOn(named.network, accepted.asset, "accepted.asset"),
		payTo: addressOn(named.network, accepted.payTo, "accepted.payTo"),
		amount: wholeNumberText(accepted.amount, "accepted.amount"),
		...signedOn(named.network, payload),
	};
}

/** Returns the text that a payment's row stores: the same for the same payment. */
export function proofOf(signed: Signed): string {
	if (signed.kind === "transaction") return JSON.stringify({ transaction: signed.transaction });
	const { authorization, signature } = signed;
	return JSON.stringify({ authorization, signature });
}

/** Parses the text that `proofOf` returned. */
export function signedOf(proof: string): Signed {
	const proofFields = JSON.parse(proof) as Omit<SignedTransaction, "kind"> | Omit<SignedAuthorization, "kind">;
	return "transaction" in proofFields ? { kind: "transaction", ...proofFields } : { kind: "authorization", ...proofFields };
}

type SignedPart = Pick<DecodedPayment, "signed" | "payer" | "units" | "nonce">;

function signedOn(network: string, payload: Fields): SignedPart {
	return network.startsWith(SOLANA) ? transactionOf(payload.transaction) : signedAuthorizationOf(payload);
}

function signedAuthorizationOf(payload: Fields): SignedPart {
	const authorization = authorizationOf(fields(payload.authorization, "payload.authorization"));
	const signature = withMark(matching(payload.signature, HEX, "payload.signature", "hex").toLowerCase());
	const { from: payer, value: units, nonce } = authorization;
	return { signed: { kind: "authorization", authorization, signature }, payer, units, nonce };
}

function transactionOf(value: unknown): SignedPart {
	try {
		const { payer, units, hash, unsent } = readTransfer(matching(value, BASE64, "payload.transaction", "base64"));
		return { signed: { kind: "transaction", transaction: unsent }, payer, units: units.toString(), nonce: hash };
	} catch (error) {
		if (error instanceof UnfitTransaction) throw new MalformedPayment(`payload.transaction: ${error.message}`);
		throw error;
	}
}

/** Returns an address in the form of its chain: lower case on EVM chains. */
function addressOn(network: string, value: unknown, path: string): string {
	return network.startsWith(SOLANA)
		? matching(value, SOLANA_ADDRESS, path, "an address")
		: matching(value, ADDRESS, path, "an address").toLowerCase();
}

/** Returns a key's signature with 27 or 28 at its end, as the token expects it: some wallets write 0 or 1. */
function withMark(signature: string): string {
	const mark = Number.parseInt(signature.slice(-2), 16);
	return signature.length === 132 && mark <= 1 ? `${signature.slice(0, -2)}${(mark + 27).toString(16)}` : signature;
}

function parseJson(json: string): unknown {
	try {
		return JSON.parse(json);
	} catch {
		throw new MalformedPayment("the payment header is not base64 of JSON");
	}
}

function fields(value: unknown, path: string): Fields {
	if (isRecord(value)) return value;
	throw new MalformedPayment(`${path}: expected an object`);
}

function matching(value: unknown, pattern: RegExp, path: string, expected: string): string {
	if (typeof value === "string" && pattern.test(value)) return value;
	throw new MalformedPayment(`${path}: expected ${expected}`);
}

/** Returns a number without leading zeros, so that equal numbers have equal text. */
function wholeNumberText(value: unknown, path: string): string {
	return BigInt(matching(value, WHOLE, path, "a whole number as text")).toString();
}

function schemeAndNetwork(scheme: unknown, network: unknown, at: string): { scheme: string; network: string } {
	const named = matching(network, NAME, `${at}network`, "text");
	return {
		scheme: matching(scheme, NAME, `${at}scheme`, "text"),
		network: Object.hasOwn(IDS_OF_NAMES, named) ? (IDS_OF_NAMES[named] ?? named) : named,
	};
}

function authorizationOf(value: Fields): Authorization {
	const at = "payload.authorization";
	return {
		from: matching(value.from, ADDRESS, `${at}.from`, "an address").toLowerCase(),
		to: matching(value.to, ADDRESS, `${at}.to`, "an address").toLowerCase(),
		value: wholeNumberText(value.value, `${at}.value`),
		validAfter: wholeNumberText(value.validAfter, `${at}.validAfter`),
		validBefore: wholeNumberText(value.validBefore, `${at}.validBefore`),
		nonce: matching(value.nonce, NONCE, `${at}.nonce`, "32 bytes of hex").toLowerCase(),
	};
}
