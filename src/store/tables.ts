/** The rows of the store as Kysely types. The migrations document each column. */
import type { ColumnType, Generated, Kysely } from "kysely";
import type { MoneySource } from "../journal/records.ts";
import type { AccountTier, ExceededLimitKind, KeyType, LimitPeriod } from "./types.ts";

/** Read as BigInt, since sums pass 2^53; written from whole numbers. */
type Int = ColumnType<bigint, number | bigint, number | bigint>;
type IntOrNull = ColumnType<bigint | null, number | bigint | null, number | bigint | null>;

export interface Tables {
	accounts: {
		id: string;
		name: string;
		tier: AccountTier;
		disabled: Int;
		operator: Int;
		wallet: string | null;
		/** Identity of a wallet that pays with a balance of its own. */
		identity: string | null;
		created_at: Int;
		stake_source: ColumnType<StakeSource, StakeSource | undefined, StakeSource>;
		chain_from_day: ColumnType<bigint, number | bigint | undefined, number | bigint>;
	};
	keys: {
		id: string;
		account_id: string;
		hash: string;
		type: KeyType;
		last6: string;
		description: string;
		limit_usd: string | null;
		limit_diem: string | null;
		limit_vcu: string | null;
		limit_period: LimitPeriod;
		restrictions: string | null;
		created_at: Int;
		expires_at: IntOrNull;
		last_used_at: IntOrNull;
		revoked_at: IntOrNull;
	};
	budgets: { account_id: string; source: MoneySource; day: Int; balance: Int; leased: Int };
	leases: { node_id: string; epoch: Int; account_id: string; source: MoneySource; day: Int; amount: Int };
	/** PostgreSQL only. */
	cap_leases: { node_id: string; epoch: Int; account_id: string; key_id: string; unit: CapUnit; day: Int; amount: Int };
	posts: {
		id: Generated<bigint>;
		request_id: string;
		node_id: string;
		epoch: Int;
		seq: Int;
		account_id: string;
		key_id: string | null;
		day: Int;
		admitted_at: Int;
		done_at: Int;
		booked_at: Int;
		route: string;
		model: string | null;
		upstream: string | null;
		status: Int;
		hold: Int;
		price: Int;
		prompt_tokens: IntOrNull;
		completion_tokens: IntOrNull;
		cached_tokens: IntOrNull;
		cache_write_tokens: IntOrNull;
		reasoning_tokens: IntOrNull;
		tokens_counted: IntOrNull;
		/** Charges of the account up to and including this post's; null where it has none. See statement-numbers.ts. */
		entries: IntOrNull;
		entries_usd: IntOrNull;
		entries_bundled: IntOrNull;
		entries_diem: IntOrNull;
	};
	movements: {
		id: Generated<bigint>;
		kind: MovementKind;
		debit: string;
		credit: string;
		amount: Int;
		unit: MoneySource;
		post_id: IntOrNull;
		sku: string | null;
		units: IntOrNull;
		pico_price: IntOrNull;
		day: Int;
		occurred_at: Int;
		booked_at: Int;
		balance_after: IntOrNull;
	};
	usage_daily: {
		account_id: string;
		/** Empty where the caller was no key. */
		key_id: string;
		day: Int;
		unit: MoneySource | "overrun" | "free";
		sku: string;
		amount: Int;
		units: Int;
		rows: Int;
	};
	credits: { reference: string; account_id: string; amount: Int; movement_id: Int; created_at: Int };
	/** Free USD that the operator took back. */
	debits: { reference: string; account_id: string; amount: Int; movement_id: Int; created_at: Int };
	/** Refunds of a post's charges, with a row for each unit. */
	refunds: {
		reference: string;
		unit: MoneySource;
		account_id: string;
		post_id: Int;
		amount: Int;
		movement_id: Int;
		created_at: Int;
	};
	diem_stakes: {
		account_id: string;
		from_day: Int;
		stake: Int;
		set_at: Int;
		source: ColumnType<StakeSource, StakeSource | undefined, StakeSource>;
	};
	stake_readings: {
		day: Int;
		origin: string;
		block: IntOrNull;
		block_hash: string | null;
		reader: string;
		reader_until: Int;
		finished_at: IntOrNull;
	};
	used_tokens: { id: string; expires_at: Int };
	allotments: { account_id: string; day: Int; amount: Int; movement_id: Int };
	nodes: {
		node_id: string;
		epoch: Int;
		first_seq: Int;
		applied_seq: Int;
		groups: Int;
		posts: Int;
		rejects: Int;
		started_at: Int;
	};
	rejected: {
		id: Generated<bigint>;
		node_id: string;
		epoch: Int;
		seq: Int;
		record: string;
		error: string;
		rejected_at: Int;
	};
	changes: {
		id: Generated<bigint>;
		kind: "account" | "key" | "reload";
		account_id: string | null;
		key_id: string | null;
		hash: string | null;
		changed_at: Int;
	};
	exceeded_limits: {
		id: Generated<bigint>;
		account_id: string;
		key_id: string;
		model_id: string;
		tier: AccountTier;
		kind: ExceededLimitKind;
		exceeded_at: Int;
	};
	idempotency_answers: {
		account_id: string;
		key: string;
		fingerprint: string;
		known: Int;
		status: Int;
		note: string;
		bytes: Int;
		crc32: Int;
		body: Uint8Array | null;
		file: string | null;
		expires_at: Int;
	};
	idempotency_counts: { account_id: string; hour: Int; keys: Int };
	/** PostgreSQL only. */
	idempotency_running: {
		account_id: string;
		key: string;
		fingerprint: string;
		claim: string;
		node_id: string;
		epoch: Int;
		claimed_at: Int;
	};
	/** PostgreSQL only. */
	idempotency_bodies: { file: string; part: Int; body: Uint8Array; shipped_at: Int };
	rpc_credits: { account_id: string; bucket: Int; credits: Int };
	rpc_sends: {
		id: Generated<bigint>;
		request_id: string;
		item: Int;
		account_id: string;
		key_id: string | null;
		network: string;
		method: string;
		raw_hash: string | null;
		tx_hash: string | null;
		sent_at: Int;
		outcome: string | null;
		ended_at: IntOrNull;
	};
	/** Payments of wallets. The migration documents the columns. */
	top_ups: {
		/** `payment_...` */
		id: string;
		network: string;
		asset: string;
		payer: string;
		nonce: string;
		pay_to: string;
		units: Int;
		amount: Int;
		valid_before: Int;
		proof: string;
		state: TopUpState;
		settler: string;
		settler_until: Int;
		from_block: Int;
		look_at: Int;
		transaction_hash: string | null;
		log_index: IntOrNull;
		block: IntOrNull;
		reason: string | null;
		account_id: string | null;
		movement_id: IntOrNull;
		created_at: Int;
		ended_at: IntOrNull;
	};
	broadcast_turns: { name: string; holder: string; holder_until: Int };
	/** Files of old posts. The migration documents the columns. */
	archives: {
		/** YYYY-MM. */
		month: string;
		state: ArchiveState;
		/** The process and folder that write the file. */
		owner: string;
		after_post_id: Int;
		last_post_id: Int;
		/** Length of the file. */
		bytes: Int;
		posts: Int;
		movements: Int;
		sha256: string | null;
		removed_to: Int;
		removed_bytes: ColumnType<bigint, number | bigint | undefined, number | bigint>;
		/** Posts of the file that stay in the store because they were refunded. */
		kept: ColumnType<bigint, number | bigint | undefined, number | bigint>;
		moved_at: Int;
	};
	/** Sums in place of archived charges, written by the triggers of their removal. */
	carry_forwards: {
		account_id: string;
		debit: string;
		credit: string;
		unit: MoneySource;
		day: Int;
		amount: Int;
		units: Int;
		rows: Int;
	};
	archived_posts: { node_id: string; epoch: Int; posts: Int };
	/** The last archived numbers of an account's statement. */
	statement_starts: { account_id: string; usd: Int; bundled: Int; diem: Int };
	/** Progress of the fold that turns the days of `usage_daily` before `before_day` into one day, 0. */
	usage_folds: { id: Int; before_day: Int; account_id: string; key_id: string; done: Int };
	/** Voices that callers brought. The migration documents the columns. */
	voices: {
		id: string;
		owner: string;
		model_id: string;
		sample_format: string;
		sample_bytes: Int;
		sliding_ms: Int;
		created_at: Int;
		expires_at: Int;
	};
	upstream_voices: { voice_id: string; upstream: string; name: string | null; claim: string; claimed_until: Int };
	voice_sample_parts: { voice_id: string; part: Int; body: Uint8Array; stored_at: Int };
	/** Sessions of the console. The migration documents the columns. */
	console_sessions: { hash: string; key_hash: string; created_at: Int; expires_at: Int };
	/** Firing alerts. The migration documents the columns. */
	alerts: { name: string; owner: string; raised_at: Int; seen_at: Int; told: Int };
	meta: { name: string; value: string };
}

/** The outcome of an `unknown` one is open; `credited` and `failed` are final. */
export type TopUpState = "settling" | "unknown" | "credited" | "failed";

/** Posts are written to the file, then removed from the store in parts. */
export type ArchiveState = "writing" | "removing" | "done";

/**
 * A `grant` is moved by the operator without a payment: bundled credit that is granted (from `issued`) or taken back
 * (to `issued`), a debit of USD (to `issued`), a refund (from `revenue`).
 */
export type MovementKind = "charge" | "overrun" | "credit" | "grant" | "allotment";

/** Who reports an account's stake. */
export type StakeSource = "operator" | "chain";

/** Unit of a key's limits; usd includes bundled credit. */
export type CapUnit = "usd" | "diem";

export type StoreDb = Kysely<Tables>;

/** The operator's sides of a movement. They have no balance row, since every transaction would queue on it. */
export const REVENUE = "revenue";
export const ISSUED = "issued";
export const OVERRUN = "overrun";
