/** Sign-ins as wallets make them, and what checks them, for tests. */
import { generateKeyPairSync, sign } from "node:crypto";
import { base58 } from "@scure/base";
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts";
import { ApiError } from "../../../errors/index.ts";
import type { StorePort } from "../../../store/port.ts";
import { ManualClock } from "../../../telemetry/clock.ts";
import { silentLog } from "../../../telemetry/log.ts";
import { type SignInMessage, writeMessage } from "../sign-in-message.ts";
import { signInOrigins } from "../sign-in-origins.ts";
import { WalletSignIn, type WalletSignInDeps } from "../wallet-sign-in.ts";

export const NOW = Date.parse("2026-10-01T10:00:00.000Z");
export const PUBLIC_URL = "https://api.example.test/gate";
export const SOLANA_ID = "5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp";

export const at = (offsetMs: number, fromMs = NOW) => new Date(fromMs + offsetMs).toISOString();
export const createWallet = (): PrivateKeyAccount => privateKeyToAccount(generatePrivateKey());

export interface SolanaWallet {
	readonly address: string;
	signBytes(text: string): Uint8Array;
}

export function createSolanaWallet(): SolanaWallet {
	const { publicKey, privateKey } = generateKeyPairSync("ed25519");
	const address = base58.encode(publicKey.export({ format: "der", type: "spki" }).subarray(12));
	return { address, signBytes: (text) => new Uint8Array(sign(null, Buffer.from(text, "utf8"), privateKey)) };
}

export const message = (address: string, over: Partial<SignInMessage> = {}): SignInMessage => ({
	domain: "api.example.test",
	account: "Ethereum",
	address,
	statement: "Sign in to the API",
	emptyLines: 1,
	uri: "https://api.example.test",
	version: "1",
	chainId: "8453",
	nonce: "0123456789abcdef",
	issuedAt: at(0),
	expirationTime: at(600_000),
	notBefore: null,
	requestId: null,
	resources: null,
	...over,
});

export const encode = (payload: unknown): string => Buffer.from(JSON.stringify(payload), "utf8").toString("base64");

/** A header with the signed text in it; what is given is signed as it is. */
export async function evmHeader(
	wallet: PrivateKeyAccount,
	over: Partial<SignInMessage> = {},
	payload: Readonly<Record<string, unknown>> = {},
): Promise<string> {
	const text = writeMessage(message(wallet.address, over));
	const signature = await wallet.signMessage({ message: text });
	return encode({ address: wallet.address, message: text, signature, timestamp: NOW, chainId: 8453, ...payload });
}

export function solanaHeader(
	wallet: SolanaWallet,
	over: Partial<SignInMessage> = {},
	payload: Readonly<Record<string, unknown>> = {},
): string {
	const text = writeMessage(message(wallet.address, { account: "Solana", chainId: SOLANA_ID, ...over }));
	const signature = base58.encode(wallet.signBytes(text));
	return encode({
		address: wallet.address,
		message: text,
		signature,
		chainId: `solana:${SOLANA_ID}`,
		type: "ed25519",
		...payload,
	});
}

export type Signer = WalletSignIn & { readonly clock: ManualClock };

/** A checker with a clock that the test sets; wallets that are contracts and a store only if they are given. */
export function createSignIn(over: Partial<WalletSignInDeps> & { readonly clock?: ManualClock } = {}): Signer {
	const clock = over.clock ?? new ManualClock(NOW);
	const store: Pick<StorePort, "admin"> = { admin: () => Promise.reject(new Error("no store in this test")) };
	const signIn = new WalletSignIn({
		store,
		log: silentLog,
		origins: () => signInOrigins(PUBLIC_URL, 1),
		singleUse: () => false,
		chain: null,
		takeContractCheck: () => {},
		...over,
		clock,
	});
	return Object.assign(signIn, { clock });
}

export function requestWith(header: string, name = "X-Sign-In-With-X"): Request {
	return new Request("http://192.0.2.1/api/v1/models", { headers: { [name]: header } });
}

/** The identity that a header signs in, or the reason why it does not. */
export async function outcome(signIn: WalletSignIn, header: string, name?: string, address = "192.0.2.9"): Promise<string> {
	return outcomeOf(async () => (await signIn.signedIn(requestWith(header, name), () => address))?.identity ?? "no header");
}

export async function outcomeOf(run: () => Promise<string>): Promise<string> {
	try {
		return await run();
	} catch (error) {
		if (!(error instanceof ApiError)) throw error;
		if (error.code !== "X402_INVALID_SIGN_IN") return `${error.status} ${error.code}`;
		return (error.options.extra as { details: { reason: string } }).details.reason;
	}
}
