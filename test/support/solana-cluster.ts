/** A cluster of Solana on this machine: its real programs in this process, behind the JSON-RPC of a node. */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { base58 } from "@scure/base";
import { solanaNamed } from "../../src/payments/networks.ts";
import { tokenAccountOf } from "../../src/payments/solana/token-account.ts";
import { TOKEN_PROGRAM } from "../../src/payments/solana/transfer.ts";
import type { KitMessage, SolanaPackages, Svm } from "./solana-packages.ts";
import { type TestSolanaWallet, testSolanaWallet } from "./wallets.ts";

export const SOLANA = solanaNamed("solana");
/** Its begin names the cluster. */
const GENESIS = `${SOLANA.id.slice("solana:".length)}${"1".repeat(12)}`;
/** Blocks that take a transaction which names the newest one. */
const LIFE = 150;
const RENT = 10_000_000n;
const MEMO_PROGRAM = "MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr";
const MINT_BYTES = 82;
const TOKEN_ACCOUNT_BYTES = 165;

interface TokenBalance {
	readonly accountIndex: number;
	readonly mint: string;
	readonly owner: string;
	readonly programId: string;
	readonly uiTokenAmount: { readonly amount: string; readonly decimals: number };
}

interface Landed {
	readonly signature: string;
	readonly slot: number;
	readonly wire: string;
	readonly accounts: readonly string[];
	readonly memo: string | null;
	readonly err: object | null;
	readonly before: readonly TokenBalance[];
	readonly after: readonly TokenBalance[];
}

type Params = readonly never[];

export class SolanaCluster {
	readonly url: string;
	/** False: what is sent waits until `land`. */
	automatic = true;
	/** False: what lands is confirmed, and not final until `finalize`. */
	final = true;
	/** True: the node does not answer. */
	away = false;
	/** True: it lists transactions, and does not tell what they are. */
	forgetful = false;
	readonly #packages: SolanaPackages;
	readonly #svm: Svm;
	readonly #server: Server;
	readonly #landed: Landed[] = [];
	readonly #waiting: string[] = [];
	readonly #listeners: (() => void)[] = [];
	/** Height at which each blockhash was the newest. */
	readonly #heights = new Map<string, number>();
	#height = 1_000;
	#finalHeight = 1_000;

	private constructor(packages: SolanaPackages, server: Server, port: number) {
		this.#packages = packages;
		this.#svm = new packages.LiteSVM();
		this.#server = server;
		this.url = `http://127.0.0.1:${port}`;
		this.#heights.set(this.#svm.latestBlockhash(), this.#height);
		this.makeMint(SOLANA.asset);
	}

	static async start(packages: SolanaPackages): Promise<SolanaCluster> {
		const server = createServer();
		await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
		const cluster = new SolanaCluster(packages, server, (server.address() as AddressInfo).port);
		server.on("request", async (request, response) => {
			const chunks: Uint8Array[] = [];
			for await (const chunk of request) chunks.push(chunk);
			const { id, method, params = [] } = JSON.parse(Buffer.concat(chunks).toString());
			if (cluster.away) return void response.writeHead(503).end();
			response
				.setHeader("content-type", "application/json")
				.end(JSON.stringify({ jsonrpc: "2.0", id, ...cluster.#answer(method, params) }));
		});
		return cluster;
	}

	/** A token of 6 decimals. */
	makeMint(address: string): void {
		const data = new Uint8Array(MINT_BYTES);
		const view = new DataView(data.buffer);
		view.setUint32(0, 1, true);
		data.set(base58.decode(address), 4);
		view.setBigUint64(36, 10n ** 18n, true);
		data[44] = 6;
		data[45] = 1;
		this.#set(address, data);
	}

	/** Gives an owner an account of the token with so much in it. */
	async give(owner: string, usd: number, mint: string = SOLANA.asset): Promise<void> {
		const data = new Uint8Array(TOKEN_ACCOUNT_BYTES);
		data.set(base58.decode(mint), 0);
		data.set(base58.decode(owner), 32);
		new DataView(data.buffer).setBigUint64(64, BigInt(Math.round(usd * 1e6)), true);
		data[108] = 1;
		this.#set(await tokenAccountOf(owner, mint), data);
	}

	/** A wallet with so much of the token. */
	async payer(usd = 1_000): Promise<TestSolanaWallet> {
		const wallet = testSolanaWallet();
		await this.give(wallet.address, usd);
		return wallet;
	}

	/** An owner whose account of the token is there and empty. */
	async receiver(): Promise<string> {
		const { address } = testSolanaWallet();
		await this.give(address, 0);
		return address;
	}

	/** Gives an address something to pay fees with. */
	fund(address: string): void {
		this.#svm.airdrop(address, 1_000_000_000n);
	}

	/** Base units. */
	async balance(owner: string): Promise<number> {
		return Number(this.#token(await tokenAccountOf(owner, SOLANA.asset))?.units ?? 0n);
	}

	/** How many transactions wait. */
	get waiting(): number {
		return this.#waiting.length;
	}

	/** Resolves when the next transaction is sent. */
	sent(): Promise<void> {
		return new Promise((resolve) => this.#listeners.push(resolve));
	}

	/** Takes what waits. */
	land(): void {
		for (const wire of this.#waiting.splice(0)) this.#take(wire);
	}

	/** Forgets what waits, as a cluster does that was too busy. */
	drop(): void {
		this.#waiting.length = 0;
	}

	/** So many blocks later: at 150 no block takes what named one before. */
	advance(blocks: number): void {
		this.#height += blocks;
		if (blocks > LIFE) {
			this.#svm.expireBlockhash();
			this.#heights.set(this.#svm.latestBlockhash(), this.#height);
		}
		if (this.final) this.#finalHeight = this.#height;
	}

	finalize(): void {
		this.#finalHeight = this.#height;
	}

	async stop(): Promise<void> {
		this.#server.closeAllConnections();
		await new Promise((resolve) => this.#server.close(resolve));
	}

	#set(address: string, data: Uint8Array): void {
		const space = BigInt(data.length);
		this.#svm.setAccount({ address, data, executable: false, lamports: RENT, programAddress: TOKEN_PROGRAM, space });
	}

	#token(address: string): { readonly mint: string; readonly owner: string; readonly units: bigint } | null {
		const account = this.#svm.getAccount(address);
		if (account.exists !== true || account.data.length !== TOKEN_ACCOUNT_BYTES) return null;
		const data = new Uint8Array(account.data);
		const [mint, owner] = [base58.encode(data.subarray(0, 32)), base58.encode(data.subarray(32, 64))];
		return { mint, owner, units: new DataView(data.buffer).getBigUint64(64, true) };
	}

	#balances(accounts: readonly string[]): TokenBalance[] {
		return accounts.flatMap((address, accountIndex) => {
			const token = this.#token(address);
			if (token === null) return [];
			const uiTokenAmount = { amount: token.units.toString(), decimals: 6 };
			return [{ accountIndex, mint: token.mint, owner: token.owner, programId: TOKEN_PROGRAM, uiTokenAmount }];
		});
	}

	#decode(wire: string) {
		return this.#packages.kit.getTransactionDecoder().decode(new Uint8Array(Buffer.from(wire, "base64")));
	}

	#take(wire: string): void {
		const transaction = this.#decode(wire);
		const message = this.#packages.kit.getCompiledTransactionMessageDecoder().decode(transaction.messageBytes);
		const { staticAccounts: accounts, lifetimeToken } = message;
		const before = this.#balances(accounts);
		const err = this.#svm.sendTransaction(transaction).err?.();
		// A cluster takes nothing twice, and nothing of a block that is too old.
		const over = lifetimeToken !== this.#svm.latestBlockhash();
		if (err !== undefined && (over || this.#landed.some((other) => other.wire === wire))) return;
		this.#height++;
		if (this.final) this.#finalHeight = this.#height;
		const signature = nameOf(wire);
		const failed = err === undefined ? null : { InstructionError: [2, "Custom"] };
		const after = this.#balances(accounts);
		this.#landed.push({ signature, slot: this.#height, wire, accounts, memo: memoOf(message), err: failed, before, after });
	}

	#seen(commitment: string): Landed[] {
		return this.#landed.filter(({ slot }) => commitment !== "finalized" || slot <= this.#finalHeight);
	}

	#answer(method: string, params: Params): object {
		try {
			return { result: this.#result(method, params) };
		} catch (error) {
			return { error: { code: -32_602, message: (error as Error).message } };
		}
	}

	#result(method: string, params: Params): unknown {
		const [first, options = {}] = params as unknown as [never, { commitment?: string; before?: string; limit?: number }?];
		const { commitment = "finalized" } = options;
		const context = { slot: this.#height };
		switch (method) {
			case "getGenesisHash":
				return GENESIS;
			case "getSlot":
				return this.#height;
			case "getEpochInfo":
				return { absoluteSlot: this.#finalHeight, blockHeight: this.#finalHeight };
			case "getLatestBlockhash": {
				const blockhash = this.#svm.latestBlockhash();
				return { context, value: { blockhash, lastValidBlockHeight: (this.#heights.get(blockhash) ?? 0) + LIFE } };
			}
			case "isBlockhashValid":
				return {
					context,
					value:
						(this.#heights.get(first) ?? Number.NEGATIVE_INFINITY) + LIFE >=
						(commitment === "finalized" ? this.#finalHeight : this.#height),
				};
			case "getAccountInfo": {
				const { exists, data, programAddress: owner, lamports, executable } = this.#svm.getAccount(first);
				if (exists !== true) return { context, value: null };
				const encoded = [Buffer.from(data).toString("base64"), "base64"];
				return {
					context,
					value: { data: encoded, owner, lamports: Number(lamports), executable, rentEpoch: 0, space: data.length },
				};
			}
			case "getTokenAccountBalance": {
				const token = this.#token(first);
				if (token === null) throw new Error("could not find account");
				return { context, value: { amount: token.units.toString(), decimals: 6 } };
			}
			case "simulateTransaction": {
				this.#svm.withSigverify(false);
				const err = this.#svm.simulateTransaction(this.#decode(first)).err?.();
				this.#svm.withSigverify(true);
				return { context, value: { err: err === undefined ? null : { InstructionError: [2, "Custom"] }, logs: [] } };
			}
			case "sendTransaction":
				if (this.automatic) this.#take(first);
				else this.#waiting.push(first);
				for (const heard of this.#listeners.splice(0)) heard();
				return nameOf(first);
			case "getSignatureStatuses": {
				const value = (first as readonly string[]).map((signature) => {
					const found = this.#landed.find((landed) => landed.signature === signature);
					if (found === undefined) return null;
					const confirmationStatus = found.slot <= this.#finalHeight ? "finalized" : "confirmed";
					return { slot: found.slot, confirmations: null, err: found.err, confirmationStatus };
				});
				return { context, value };
			}
			case "getSignaturesForAddress": {
				const all = this.#seen(commitment)
					.filter(({ accounts }) => accounts.includes(first))
					.toReversed();
				const start = all.findIndex(({ signature }) => signature === options.before) + 1;
				return all
					.slice(start, start + (options.limit ?? 1_000))
					.map(({ signature, slot, err, memo }) => ({ signature, slot, err, memo }));
			}
			case "getTransaction": {
				const found = this.#seen(commitment).find(({ signature }) => signature === first);
				if (found === undefined || this.forgetful) return null;
				const { slot, wire, err, before, after } = found;
				return { slot, transaction: [wire, "base64"], meta: { err, preTokenBalances: before, postTokenBalances: after } };
			}
			default:
				throw new Error(`the test's node knows no ${method}`);
		}
	}
}

/** A note as nodes tell it: behind its length. */
function memoOf({ staticAccounts, instructions }: KitMessage): string | null {
	const note = instructions.find(({ programAddressIndex }) => staticAccounts[programAddressIndex] === MEMO_PROGRAM)?.data;
	return note === undefined ? null : `[${note.length}] ${Buffer.from(note).toString()}`;
}

/** A transaction is called by its first signature. */
function nameOf(wire: string): string {
	return base58.encode(new Uint8Array(Buffer.from(wire, "base64").subarray(1, 65)));
}
