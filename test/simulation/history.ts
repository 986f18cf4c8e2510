/** A random journal: posts that owe, pay from leases that are gone, come twice, are damaged or refused. */
import type { ReadGroup } from "../../src/journal/index.ts";
import type { JournalRecord, MoneySource, PostRecord } from "../../src/journal/records.ts";
import { requestId, SAMPLE_DAY, sampleLine, samplePost } from "../../src/journal/testing/sample-records.ts";
import { nano, pico } from "../../src/ledger/nano.ts";
import { ACCOUNTS, NODE, USD } from "./compared-stores.ts";
import { Random } from "./random.ts";

const SOURCES = ["diem", "bundled", "usd"] as const;
const DAYS = [SAMPLE_DAY, SAMPLE_DAY + 1] as const;
const HOUR_MS = 3_600_000;

/** Draws a journal, and what happens to leases beside it. */
export class History {
	readonly #random: Random;
	#requests = 0;
	#seq = 0;

	constructor(seed: number) {
		this.#random = new Random(seed);
	}

	/** Statements that lease free money to the node, or lose a lease as a failover does. */
	leaseChanges(): string[] {
		const random = this.#random;
		const source = this.#one(SOURCES);
		const budget = `account_id = '${this.#one(ACCOUNTS)}' AND source = '${source}' AND day = ${source === "diem" ? this.#one(DAYS) : 0}`;
		if (random.chance(0.2)) return [`UPDATE budgets SET leased = 0 WHERE ${budget}`, `DELETE FROM leases WHERE ${budget}`];
		const part = `(balance - leased) / ${1 + random.integer(4)}`;
		return [
			`INSERT INTO leases (node_id, epoch, account_id, source, day, amount)
				SELECT '${NODE.id}', ${NODE.epoch}, account_id, source, day, ${part} FROM budgets WHERE ${budget}
				ON CONFLICT (node_id, epoch, account_id, source, day) DO UPDATE SET amount = leases.amount + excluded.amount`,
			`UPDATE budgets SET leased = (SELECT amount FROM leases WHERE leases.account_id = budgets.account_id
				AND leases.source = budgets.source AND leases.day = budgets.day) WHERE ${budget}`,
		];
	}

	groups(): ReadGroup[] {
		const random = this.#random;
		const hole = random.chance(0.05) ? 1 : 0;
		const again = random.chance(0.1) ? Math.min(2, this.#seq) : 0;
		const first = this.#seq + 1 + hole - again;
		const groups = Array.from({ length: 1 + random.integer(3) }, (_, index): ReadGroup => {
			const records = Array.from({ length: 1 + random.integer(6) }, () => this.#text());
			return { seq: first + index, records, bytes: 0, end: { segment: 1, offset: 0 } };
		});
		if (hole === 0) this.#seq = Math.max(this.#seq, first + groups.length - 1);
		return groups;
	}

	#text(): string {
		const random = this.#random;
		const text = JSON.stringify(this.#record());
		if (random.chance(0.02)) return text.slice(0, random.integer(text.length));
		if (random.chance(0.02))
			return this.#one([
				"null",
				"1",
				"{}",
				'{"t":"post"}',
				'{"t":"nothing"}',
				'{"t":"post","accountId":"acc_rich","priceNano":1}',
			]);
		return text;
	}

	#record(): JournalRecord {
		const random = this.#random;
		const accountId = this.#one(ACCOUNTS);
		const atMs = SAMPLE_DAY * 86_400_000 + random.integer(100) * HOUR_MS;
		const id = requestId(1 + random.integer(this.#requests + 1));
		const named = { accountId, key: this.#one(["a", "b"]), fingerprint: this.#one(["f", "g"]).repeat(64) };
		const claim = { claim: `claim ${random.integer(10)}`, expiresAtMs: atMs + 86_400_000, note: "note" };
		switch (random.integer(14)) {
			case 0:
				return { t: "touch", keyId: `key_${accountId}`, atMs };
			case 1:
				return { t: "unknown-outcome", ...named, ...claim, ends: random.chance(0.5) };
			case 2:
				return { t: "outcome-known", ...named };
			case 3: {
				const ids = { requestId: id, item: random.integer(2), accountId, keyId: null };
				return { t: "send", ...ids, network: "base", method: "eth_sendRawTransaction", rawHash: "0x1", txHash: null, atMs };
			}
			case 4: {
				const txHash = random.chance(0.5) ? "0x2" : null;
				return {
					t: "send-end",
					requestId: id,
					item: random.integer(2),
					outcome: this.#one(["accepted", "-32000"]),
					txHash,
					atMs,
				};
			}
			case 5: {
				const body = { bytes: 2, crc32: 7, body: "e30=", file: null };
				return this.#post(accountId, {
					kept: { key: named.key, fingerprint: named.fingerprint, ...claim, status: 200, ...body },
				});
			}
			default:
				return this.#post(accountId, random.chance(0.3) ? { route: "crypto-rpc", doneAtMs: atMs } : {});
		}
	}

	#post(accountId: string, changes: Partial<PostRecord>): PostRecord {
		const random = this.#random;
		// Some requests come twice.
		const id = requestId(random.chance(0.05) ? 1 + random.integer(this.#requests + 1) : ++this.#requests);
		const lines = Array.from({ length: random.integer(4) }, () => {
			const amount = random.integer(random.chance(0.1) ? 2 * USD : USD / 50);
			return sampleLine(this.#one(["in", "out", "cached"]), amount, pico(random.chance(0.1) ? 0 : 1_000), this.#one(SOURCES));
		});
		const keyId = random.chance(0.5) ? `key_${accountId}` : null;
		const post = samplePost(id, accountId, { day: this.#one(DAYS), keyId, lines, ...changes });
		const owed = random.chance(0.3) ? this.#owing(post) : post;
		return random.chance(0.03) ? { ...owed, priceNano: nano(owed.priceNano + 1) } : owed;
	}

	/** The same post where the node could not pay a part of its first line, or all of it. */
	#owing(post: PostRecord): PostRecord {
		const random = this.#random;
		const [line, ...others] = post.lines;
		const [part] = line?.from ?? [];
		if (line === undefined || part === undefined) return post;
		const owed = 1 + random.integer(part.amount);
		const rest: { source: MoneySource; amount: typeof part.amount }[] =
			part.amount > owed ? [{ source: part.source, amount: nano(part.amount - owed) }] : [];
		const kept = { diem: random.integer(USD), bundled: random.integer(USD), usd: random.integer(USD) };
		const most = { diem: random.integer(2 * USD), usd: random.integer(2 * USD) };
		return { ...post, lines: [{ ...line, from: rest, owed: nano(owed) }, ...others], owing: { kept, most } };
	}

	#one<T>(list: readonly T[]): T {
		return list[this.#random.integer(list.length)] as T;
	}
}
