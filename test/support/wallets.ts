/** Wallets that sign in, for tests. */
import { generateKeyPairSync, randomBytes, sign } from "node:crypto";
import { base58 } from "@scure/base";
import type { PrivateKeyAccount } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { createSiweMessage } from "viem/siwe";

export interface TestWallet {
	readonly account: PrivateKeyAccount;
	/** As it is checksummed. */
	readonly address: `0x${string}`;
	readonly identity: string;
	/** A header that signs in for a gateway: good for ten minutes from `atMs`. */
	signIn(url: string, atMs?: number): Promise<Record<string, string>>;
}

export function testWallet(): TestWallet {
	return walletOf(privateKeyToAccount(generatePrivateKey()));
}

export function walletOf(account: PrivateKeyAccount): TestWallet {
	const { address } = account;
	return {
		account,
		address,
		identity: `eip155:8453:${address.toLowerCase()}`,
		async signIn(url, atMs = Date.now()) {
			const message = createSiweMessage({
				domain: new URL(url).host,
				address,
				statement: "Sign in to the API",
				uri: new URL(url).origin,
				version: "1",
				chainId: 8453,
				nonce: randomBytes(8).toString("hex"),
				issuedAt: new Date(atMs),
				expirationTime: new Date(atMs + 600_000),
			});
			const signature = await account.signMessage({ message });
			return { "X-Sign-In-With-X": header({ address, message, signature, timestamp: atMs, chainId: 8453 }) };
		},
	};
}

export interface TestSolanaWallet {
	readonly address: string;
	readonly identity: string;
	/** The private key, 32 bytes. */
	readonly seed: Uint8Array;
	signIn(url: string): Record<string, string>;
}

export function testSolanaWallet(): TestSolanaWallet {
	const { publicKey, privateKey } = generateKeyPairSync("ed25519");
	const address = base58.encode(new Uint8Array(publicKey.export({ format: "der", type: "spki" }).subarray(12)));
	return {
		address,
		identity: `solana:${address}`,
		seed: new Uint8Array(privateKey.export({ format: "der", type: "pkcs8" }).subarray(-32)),
		signIn(url) {
			const genesis = "5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp";
			const message = [
				`${new URL(url).host} wants you to sign in with your Solana account:`,
				address,
				"",
				"Sign in to the API",
				"",
				`URI: ${new URL(url).origin}`,
				"Version: 1",
				`Chain ID: ${genesis}`,
				`Nonce: ${randomBytes(8).toString("hex")}`,
				`Issued At: ${new Date().toISOString()}`,
			].join("\n");
			const signature = base58.encode(new Uint8Array(sign(null, Buffer.from(message), privateKey)));
			return { "SIGN-IN-WITH-X": header({ address, message, signature, chainId: `solana:${genesis}`, type: "ed25519" }) };
		},
	};
}

function header(payload: object): string {
	return Buffer.from(JSON.stringify(payload)).toString("base64");
}
