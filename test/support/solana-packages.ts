/** Packages that are no dependencies of ours, in a folder of their own: only what tests use of them is written here. */
import { spawnSync } from "node:child_process";
import { join } from "node:path";

export type Bytes = Uint8Array;

/** A transaction as @solana/kit holds it. */
export interface KitTransaction {
	readonly messageBytes: Bytes;
	readonly signatures: Readonly<Record<string, Bytes | null>>;
}

export interface KitMessage {
	readonly staticAccounts: readonly string[];
	readonly lifetimeToken: string;
	readonly instructions: readonly { readonly programAddressIndex: number; readonly data?: Bytes }[];
}

export interface KitSigner {
	readonly address: string;
}

export interface SolanaKit {
	getTransactionDecoder(): { decode(bytes: Bytes): KitTransaction };
	getCompiledTransactionMessageDecoder(): { decode(bytes: Bytes): KitMessage };
	createKeyPairSignerFromPrivateKeyBytes(seed: Bytes): Promise<KitSigner>;
}

interface SvmOutcome {
	/** Of one that failed. */
	err?(): unknown;
}

interface SvmAccount {
	readonly address: string;
	readonly exists?: boolean;
	readonly data: Bytes;
	readonly executable: boolean;
	readonly lamports: bigint;
	readonly programAddress: string;
	readonly space: bigint;
}

/** The programs of the chain in this process (https://www.litesvm.com). */
export interface Svm {
	airdrop(address: string, lamports: bigint): unknown;
	getAccount(address: string): SvmAccount;
	setAccount(account: SvmAccount): void;
	latestBlockhash(): string;
	expireBlockhash(): void;
	withSigverify(on: boolean): Svm;
	sendTransaction(transaction: KitTransaction): SvmOutcome;
	simulateTransaction(transaction: KitTransaction): SvmOutcome;
}

export interface Requirements {
	readonly scheme: string;
	readonly network: string;
	readonly amount: string;
	readonly asset: string;
	readonly payTo: string;
	readonly maxTimeoutSeconds: number;
	readonly extra: Readonly<Record<string, string>>;
}

export interface PayingScheme {
	createPaymentPayload(version: 2, requirements: Requirements): Promise<{ readonly payload: { readonly transaction: string } }>;
}

export interface SolanaPackages {
	readonly kit: SolanaKit;
	readonly LiteSVM: new () => Svm;
	/** Signs payments for a wallet. */
	readonly PayingScheme: new (
		signer: KitSigner,
		options: { readonly rpcUrl: string },
	) => PayingScheme;
	/** Verifies and settles them. */
	readonly SettlingScheme: new (
		signer: unknown,
	) => object;
	readonly toFacilitatorSvmSigner: (signer: KitSigner, options: { readonly defaultRpcUrl: string }) => unknown;
	readonly x402Facilitator: new () => {
		register(network: string, scheme: object): unknown;
		getSupported(): object;
		verify(payload: unknown, requirements: unknown): Promise<object>;
		settle(payload: unknown, requirements: unknown): Promise<object>;
	};
	readonly x402Client: { fromConfig(config: object): object };
	readonly wrapFetchWithPayment: (
		fetching: typeof fetch,
		client: object,
	) => (url: string, init?: RequestInit) => Promise<Response>;
}

const ROOT = join(import.meta.dir, "../..");

/** null where they could not be fetched: npm has said why. */
export function solanaFolder(): string | null {
	const made = spawnSync("node", ["scripts/client-packages.mjs", "solana"], { cwd: ROOT, encoding: "utf8" });
	if (made.status !== 0)
		console.log(`The packages of Solana could not be installed, its tests are skipped: ${made.stderr.trim()}`);
	return made.status === 0 ? join(made.stdout.trim(), "node_modules") : null;
}

export async function loadSolanaPackages(folder: string): Promise<SolanaPackages> {
	const svm = join(folder, "@x402/svm/dist/esm");
	const [kit, { LiteSVM }, paying, settling, { toFacilitatorSvmSigner }, facilitator, client] = await Promise.all([
		import(join(folder, "@solana/kit/dist/index.node.mjs")),
		import(join(folder, "litesvm/dist/index.js")),
		import(join(svm, "exact/client/index.mjs")),
		import(join(svm, "exact/facilitator/index.mjs")),
		import(join(svm, "index.mjs")),
		import(join(folder, "@x402/core/dist/esm/facilitator/index.mjs")),
		import(join(folder, "@x402/fetch/dist/esm/index.mjs")),
	]);
	return {
		kit,
		LiteSVM,
		PayingScheme: paying.ExactSvmScheme,
		SettlingScheme: settling.ExactSvmScheme,
		toFacilitatorSvmSigner,
		x402Facilitator: facilitator.x402Facilitator,
		x402Client: client.x402Client,
		wrapFetchWithPayment: client.wrapFetchWithPayment,
	};
}
