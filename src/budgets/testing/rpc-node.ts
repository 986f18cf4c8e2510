/** A node's budgets on a real store, as the chain proxy's route uses them. */
import { createHash, randomUUID } from "node:crypto";
import type { Durability } from "../../journal/records.ts";
import { pico } from "../../ledger/nano.ts";
import { createKey } from "../../store/admin/keys.ts";
import { type OpenedStore, openStore } from "../../store/index.ts";
import type { StoreFolder } from "../../store/testing/store-folder.ts";
import { ManualClock, systemTimers } from "../../telemetry/clock.ts";
import { silentLog } from "../../telemetry/log.ts";
import { AnswerFiles } from "../answer-files.ts";
import { createBudgets, type NodeBudgets } from "../budgets.ts";
import type { Caller } from "../caller.ts";
import { StoreCreditWindow } from "../credit-window.ts";
import { NodeIdempotencyStore } from "../idempotency-store.ts";
import type { Hold, IdempotencyClaim, IdempotencyTicket, PreparedAnswer, StoredAnswer } from "../port.ts";
import { RpcRetention } from "../rpc-retention.ts";
import { JournalSendAudit } from "../send-audit.ts";

const CREDIT_PRICE = pico(625_000);

export interface RpcNodeOptions {
	readonly maxKeys?: number;
	readonly clock?: ManualClock;
	readonly sendsKeptDays?: number;
	readonly durability?: Durability;
}

export class RpcNode {
	readonly clock: ManualClock;
	readonly opened: OpenedStore;
	readonly budgets: NodeBudgets;
	readonly idempotency: NodeIdempotencyStore;
	readonly credits: StoreCreditWindow;
	readonly sends: JournalSendAudit;
	readonly sweep: RpcRetention;

	private constructor(dataDir: string, opened: OpenedStore, options: RpcNodeOptions) {
		const { store, journal } = opened;
		const clock = options.clock ?? new ManualClock(Date.now());
		const files = new AnswerFiles(dataDir);
		this.clock = clock;
		this.opened = opened;
		this.budgets = createBudgets({ store, journal, clock, failedRequests: () => 20 });
		this.sweep = new RpcRetention({
			store,
			journal,
			clock,
			timers: systemTimers,
			files,
			sendsKeptDays: () => options.sendsKeptDays ?? 400,
		});
		this.idempotency = new NodeIdempotencyStore({
			store,
			journal,
			clock,
			timers: systemTimers,
			log: silentLog,
			files,
			posted: (...file) => this.sweep.onPosted(...file),
			...(options.maxKeys === undefined ? {} : { maxKeys: options.maxKeys }),
		});
		this.credits = new StoreCreditWindow({ store, clock, timers: systemTimers });
		this.sends = new JournalSendAudit(journal, clock);
	}

	/** Opens a node on the books of the folder; set `dataDir` where several nodes share a database. */
	static async open(
		books: Pick<StoreFolder, "dir" | "postgres">,
		options: RpcNodeOptions & { readonly dataDir?: string } = {},
	): Promise<RpcNode> {
		const dataDir = options.dataDir ?? books.dir;
		const opened = await openStore({
			dataDir,
			postgres: books.postgres,
			journal: {
				minFreeDiskBytes: 0,
				segmentBytes: 2 << 20,
				...(options.durability === undefined ? {} : { durability: options.durability }),
			},
		});
		return RpcNode.of(dataDir, opened, options);
	}

	/** A node on an open store. */
	static of(dataDir: string, opened: OpenedStore, options: RpcNodeOptions = {}): RpcNode {
		return new RpcNode(dataDir, opened, options);
	}

	/** The caller of a key. */
	async caller(hash: string): Promise<Caller> {
		const caller = await this.budgets.caller(hash);
		if (caller === null) throw new Error("the key is not known");
		return caller;
	}

	/** Takes a hold for a request that may use `credits`. */
	hold(caller: Caller, credits = 1_000, requestId = createRequestId()): Promise<Hold> {
		const context = { requestId, route: "crypto-rpc", model: null, admittedAtMs: this.clock.wallMs() };
		return Promise.resolve(this.budgets.hold(caller, context, (credits * 625) as never));
	}

	/** Answers a request: holds, prepares, posts `credits`, and waits until it is durable. Returns its request id. */
	async answer(caller: Caller, ticket: IdempotencyTicket | null, answer: StoredAnswer, credits = 20): Promise<string> {
		const requestId = createRequestId();
		const hold = await this.hold(caller, credits, requestId);
		const kept = ticket === null ? null : await ticket.prepare(answer);
		await this.post(hold, kept, credits);
		ticket?.release();
		return requestId;
	}

	async post(hold: Hold, kept: PreparedAnswer | null, credits = 20): Promise<void> {
		const lines = [{ sku: "crypto-rpc-credit", units: credits, picoPrice: CREDIT_PRICE }];
		await hold.post({ lines, usage: null, status: 200, upstream: "node", storedAnswer: kept })?.durable;
	}

	/** Claims a key, and expects that the request may run. */
	async fresh(caller: Caller, key: string, fingerprint: string): Promise<IdempotencyTicket> {
		return ticketOf(await this.idempotency.claim(caller, key, fingerprint));
	}

	async close(): Promise<void> {
		this.idempotency.close();
		this.credits.close();
		await this.sweep.close();
		this.budgets.close();
		await this.opened.store.close();
	}
}

export function ticketOf(claim: IdempotencyClaim): IdempotencyTicket {
	if (claim.kind !== "fresh" && claim.kind !== "unknown") throw new Error(`it is not to run: ${claim.kind}`);
	return claim.ticket;
}

export function createRequestId(): string {
	return randomUUID().replaceAll("-", "");
}

/** Returns a fingerprint, different for each text. */
export function fingerprintOf(text: string): string {
	return createHash("sha256").update(text).digest("hex");
}

export function answerOf(text: string): StoredAnswer {
	return { status: 200, body: Buffer.from(text), note: JSON.stringify({ of: text.slice(0, 20) }) };
}

/** Creates an account with money and a key; returns the key's hash. */
export async function createTestKey(
	books: StoreFolder,
	accountId?: string,
): Promise<{ hash: string; accountId: string; keyId: string }> {
	const account = accountId ?? (await books.account());
	const hash = fingerprintOf(randomUUID());
	const key = await createKey(books.admin(), { accountId: account, type: "INFERENCE", hash, last6: "abcdef" });
	return { hash, accountId: account, keyId: key.id };
}

/** Returns the body of the answer to a numbered request: mostly small, some large enough for a file. */
export function bodyOf(number: number): Uint8Array {
	const bytes = number % 11 === 5 ? 300_000 + number : number % 50;
	return new Uint8Array(bytes).map((_, at) => (at + number) % 256);
}
