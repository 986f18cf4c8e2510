/** The simulated books beside a real PostgreSQL: the same questions in the same order, the same answers, the same rows. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { SQL } from "bun";
import type { ReadGroup } from "../../src/journal/index.ts";
import type { MoneySource, PostLine, PostRecord } from "../../src/journal/records.ts";
import { requestId, SAMPLE_DAY, sampleLine, samplePost } from "../../src/journal/testing/sample-records.ts";
import { nano, pico } from "../../src/ledger/nano.ts";
import { createAccount, createKey, credit, setAccount } from "../../src/store/admin.ts";
import type { RetainedLeases } from "../../src/store/core/lease-split.ts";
import type { LeaseRequest, SharedStore, StoredEpoch } from "../../src/store/core/store.ts";
import { connect } from "../../src/store/postgres/connect.ts";
import { postgresStore } from "../../src/store/postgres/postgres-store.ts";
import { StoreFolder } from "../../src/store/testing/store-folder.ts";
import { type PostgresCluster, startPostgres } from "../support/postgres-cluster.ts";
import { type SimulatedConnection, simulatedStore } from "./database.ts";
import { Random } from "./random.ts";
import { type Limits, type Opening, SimulatedStore } from "./store.ts";

const STEPS = 120;
const USD = 1_000_000_000;
const SOURCES = ["diem", "bundled", "usd"] as const;

let cluster: PostgresCluster;

beforeAll(async () => {
	cluster = await startPostgres({ fsync: "off" });
});

afterAll(() => cluster.stop());

/** One side of the comparison. */
interface Side {
	/** What a question to its books is answered, or how it fails. */
	ask(question: Question): Promise<unknown>;
	rows(): Promise<unknown>;
	credit(accountId: string, reference: string): Promise<void>;
}

type Question = <On>(books: SharedStore<On>, on: On) => Promise<unknown>;

const outcome = (work: Promise<unknown>): Promise<unknown> => work.catch((error: Error) => error.name);

function postgres(sql: SQL, folder: StoreFolder): Side {
	const books = postgresStore(folder.dir);
	const admin = folder.admin();
	return {
		ask: (question) => outcome(question(books, sql)),
		rows: async () => ({
			budgets: [
				...(await sql.unsafe(
					`SELECT account_id, source, day::float8, balance::float8, leased::float8 FROM budgets ORDER BY account_id, source, day`,
				)),
			],
			leases: [
				...(await sql.unsafe(
					`SELECT node_id, epoch::float8, account_id, source, day::float8, amount::float8 FROM leases WHERE amount > 0
						ORDER BY node_id, epoch, account_id, source, day`,
				)),
			],
			caps: [
				...(await sql.unsafe(
					`SELECT node_id, epoch::float8, account_id, key_id, day::float8,
						sum(CASE unit WHEN 'usd' THEN amount ELSE 0 END)::float8 AS usd,
						sum(CASE unit WHEN 'diem' THEN amount ELSE 0 END)::float8 AS diem
						FROM cap_leases WHERE amount > 0 GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4, 5`,
				)),
			],
			boots: [...(await sql.unsafe("SELECT node_id, epoch::float8, applied_seq::float8 FROM nodes ORDER BY node_id, epoch"))],
			fenced: [
				...(await sql.unsafe(
					"SELECT node_id, epoch::float8 FROM node_terms WHERE fenced_at IS NOT NULL ORDER BY node_id, epoch",
				)),
			],
			totals: (
				await sql.unsafe(
					`SELECT (SELECT count(*) FROM posts)::float8 AS posts, (SELECT count(*) FROM rejected)::float8 AS rejected,
						(SELECT coalesce(sum(amount), 0) FROM movements WHERE kind = 'overrun')::float8 AS overrun,
						(SELECT coalesce(sum(amount), 0) FROM movements WHERE kind = 'charge' AND unit = 'diem')::float8 AS diem,
						(SELECT coalesce(sum(amount), 0) FROM movements WHERE kind = 'charge' AND unit <> 'diem')::float8 AS usd`,
				)
			)[0],
		}),
		credit: async (accountId, reference) => void (await credit(admin, { accountId, amount: "1", reference })),
	};
}

function simulated(openings: ReadonlyMap<string, Opening>, keys: ReadonlyMap<string, LimitedKey>): Side {
	const limits = new Map([...keys.values()].map((key) => [key.id, key.limits]));
	const books = new SimulatedStore({
		now: Date.now,
		opening: (accountId) => openings.get(accountId) ?? null,
		accountOfKey: () => null,
		limitsOf: (keyId) => limits.get(keyId) ?? { usd: null, diem: null, period: "EPOCH" },
	});
	const on = { ask: (_kind: string, work: (books: SimulatedStore) => unknown) => Promise.resolve().then(() => work(books)) };
	const compare = (a: object, b: object): number =>
		JSON.stringify(Object.values(a)) < JSON.stringify(Object.values(b)) ? -1 : 1;
	const { rows } = books;
	for (const accountId of openings.keys()) rows.account(accountId);
	return {
		ask: (question) => outcome(question(simulatedStore, on as SimulatedConnection)),
		rows: async () => {
			const { posts, rejected, overrun, charged } = rows.totals;
			const boots = ["node_a", "node_b"].flatMap((node_id) =>
				rows.bootsOf(node_id).map(({ epoch, appliedSeq }) => ({ node_id, epoch, applied_seq: appliedSeq })),
			);
			const budgets = [...rows.accounts()].flatMap(([account_id, account]) => [
				...(["bundled", "usd"] as const).flatMap((source) => {
					const purse = account[source];
					return purse === undefined ? [] : [{ account_id, source, day: 0, ...purse }];
				}),
				...[...account.diem].map(([day, purse]) => ({ account_id, source: "diem", day, ...purse })),
			]);
			const leases = boots.flatMap(({ node_id, epoch }) =>
				[...openings.keys()].flatMap((account_id) =>
					rows.leasesOf({ id: node_id, epoch }, account_id).map((lease) => ({ node_id, epoch, account_id, ...lease })),
				),
			);
			const caps = boots.flatMap(({ node_id, epoch }) =>
				[...openings.keys()].flatMap((account_id) =>
					rows
						.capsOf({ id: node_id, epoch }, account_id)
						.map(({ keyId, day, usd, diem }) => ({ node_id, epoch, account_id, key_id: keyId, day, usd, diem })),
				),
			);
			return {
				budgets: budgets.sort(compare),
				leases: leases.sort(compare),
				caps: caps.sort(compare),
				boots,
				fenced: boots
					.filter(({ node_id, epoch }) => rows.term({ id: node_id, epoch })?.fenced)
					.map(({ node_id, epoch }) => ({ node_id, epoch })),
				totals: { posts, rejected, overrun, diem: charged.diem, usd: charged.usd },
			};
		},
		credit: async (accountId) => books.credit(accountId, USD),
	};
}

/** Three accounts: a rich one, a poor one with bundled credit, one with a daily allowance. */
async function accounts(folder: StoreFolder): Promise<Map<string, Opening>> {
	const openings = new Map<string, Opening>();
	for (const [usd, bundled, stake] of [
		[100, 0, 0],
		[1, 2, 0],
		[2, 0, 3],
	] as const) {
		const { id } = await createAccount(folder.admin(), { name: "test", startingCreditUsd: `${usd}` });
		const admin = folder.admin(() => (SAMPLE_DAY - 1) * 86_400_000);
		if (bundled + stake > 0) {
			const changes = { ...(bundled > 0 ? { bundledUsd: `${bundled}` } : {}), ...(stake > 0 ? { stakeDiem: `${stake}` } : {}) };
			await setAccount(admin, id, changes);
		}
		openings.set(id, { usd: usd * USD, bundled: bundled * USD, stakeDiem: stake * USD });
	}
	return openings;
}

interface LimitedKey {
	readonly id: string;
	readonly limits: Limits;
}

/** A key for each account, with limits of each period. */
async function keysOf(folder: StoreFolder, accountIds: readonly string[]): Promise<Map<string, LimitedKey>> {
	const limits: readonly Limits[] = [
		{ usd: "20", diem: null, period: "LIFETIME" },
		{ usd: "1.5", diem: "0", period: "MONTH" },
		{ usd: "2", diem: "1.25", period: "EPOCH" },
	];
	const keys = new Map<string, LimitedKey>();
	for (const [index, accountId] of accountIds.entries()) {
		const of = limits[index % limits.length];
		if (of === undefined) throw new Error("no limits");
		const { id } = await createKey(folder.admin(), {
			accountId,
			type: "INFERENCE",
			hash: `${index}`.padStart(64, "0"),
			last6: "abcdef",
			limits: { usd: of.usd, diem: of.diem, vcu: null },
			limitPeriod: of.period,
		});
		keys.set(accountId, { id, limits: of });
	}
	return keys;
}

/** A question at random: among them late posts of ended boots, batches that come again, and batches behind a hole. */
class Questions {
	readonly #random: Random;
	readonly #accounts: readonly string[];
	readonly #keys: ReadonlyMap<string, LimitedKey>;
	/** Every boot that was begun, with the sequence that it posted last. */
	readonly #boots: { boot: StoredEpoch; seq: number }[] = [];
	#posts = 0;

	constructor(seed: number, accountIds: readonly string[], keys: ReadonlyMap<string, LimitedKey>) {
		this.#random = new Random(seed);
		this.#accounts = accountIds;
		this.#keys = keys;
	}

	next(): Question {
		const random = this.#random;
		if (this.#boots.length < 2) return this.#start(this.#boots.length === 0 ? "node_a" : "node_b");
		// Now and then one of an ended boot.
		const recent = this.#boots.slice(-3);
		const of = recent[random.integer(recent.length)] ?? this.#boots[0];
		if (of === undefined) throw new Error("no boot");
		const { boot } = of;
		const accountId = this.#accounts[random.integer(this.#accounts.length)] ?? "";
		const day = SAMPLE_DAY + random.integer(2);
		switch (random.integer(10)) {
			case 0:
				return random.chance(0.3) ? this.#start(boot.id) : (books, on) => books.heartbeat(on, boot, 60_000);
			case 1:
				return random.chance(0.2) ? (books, on) => books.reap(on, 10_000) : (books, on) => books.isKnownEpoch(on, boot);
			case 2:
				return (books, on) => books.leases(boot).budgets(on, accountId, day);
			case 3:
			case 4:
			case 5:
			case 6: {
				// Of one account most often; else of some together, in any order.
				const others = this.#accounts.filter((other) => other !== accountId && random.chance(0.3));
				const asks = (random.chance(0.5) ? [accountId, ...others] : [...others, accountId]).map((asked) =>
					this.#leaseAsk(asked, day),
				);
				const liveNodes = 1 + random.integer(3);
				return (books, on) => books.leases(boot).execute(on, asks, liveNodes);
			}
			default:
				return this.#batch(of, accountId, day);
		}
	}

	#leaseAsk(accountId: string, day: number): LeaseRequest {
		const random = this.#random;
		const keyId = this.#keys.get(accountId)?.id ?? "";
		if (random.chance(0.25)) {
			const retained = SOURCES.filter(() => random.chance(0.3)).map(
				(source): RetainedLeases => ({ source, day: source === "diem" ? day : 0, amount: random.integer(USD) }),
			);
			const some = { keyId, day, usd: random.integer(USD), diem: random.integer(2) * random.integer(USD) };
			const caps = random.chance(0.5) ? { caps: random.chance(0.5) ? [some] : [] } : {};
			return { name: "giveBack", arguments: { accountId, retained, ...caps } };
		}
		const needNano = nano(random.integer(random.chance(0.5) ? USD / 50 : 3 * USD));
		const part = random.chance(0.2);
		const usable = random.chance(0.2) ? { usable: { diem: random.integer(USD), usd: random.integer(USD) } } : {};
		const amounts = (most: number) => ({ usd: random.integer(most), diem: random.integer(most) });
		const cap = { keyId, amount: needNano + random.integer(USD / 10), money: amounts(USD / 10), headroom: amounts(USD / 5) };
		const headroom = { usd: cap.headroom.usd - USD / 10, diem: cap.headroom.diem - USD / 10 };
		return {
			name: "acquire",
			arguments: {
				accountId,
				day,
				needNano,
				part,
				...usable,
				...(random.chance(0.5) ? { cap: { ...cap, headroom } } : {}),
			},
		};
	}

	/** The same post where the node could not pay all of it. */
	#owing(post: PostRecord, line: PostLine, source: MoneySource): PostRecord {
		const random = this.#random;
		const owed = 1 + random.integer(post.priceNano);
		const paid = nano(post.priceNano - owed);
		const kept = { diem: random.integer(USD), bundled: random.integer(USD), usd: random.integer(USD) };
		const most = { diem: random.integer(2 * USD), usd: random.integer(2 * USD) };
		const lines = [{ ...line, from: paid > 0 ? [{ source, amount: paid }] : [], owed: nano(owed) }];
		return { ...post, lines, owing: { kept, most } };
	}

	#start(nodeId: string): Question {
		const before = this.#boots.findLast(({ boot }) => boot.id === nodeId);
		const dead = before?.boot ?? { id: nodeId, epoch: 0, appliedSeq: 0 };
		const seq = before?.seq ?? 0;
		this.#boots.push({ boot: { id: nodeId, epoch: dead.epoch + 1, appliedSeq: seq }, seq });
		// Some terms are over when they begin, so that there is somebody to reap.
		const termMs = this.#random.chance(0.2) ? -60_000 : 60_000;
		return (books, on) => books.startEpoch(on, { ...dead, appliedSeq: seq }, termMs);
	}

	#batch(of: { boot: StoredEpoch; seq: number }, accountId: string, day: number): Question {
		const random = this.#random;
		const first = random.chance(0.1) ? of.seq + 2 : random.chance(0.1) ? Math.max(1, of.seq) : of.seq + 1;
		const records = Array.from({ length: 1 + random.integer(3) }, () => {
			const amount = 1 + random.integer(random.chance(0.2) ? 2 * USD : USD / 50);
			const source = SOURCES[random.integer(3)] ?? "usd";
			const line = sampleLine("sku", amount, pico(1_000), source);
			const keyed = random.chance(0.6) ? { keyId: this.#keys.get(accountId)?.id ?? null, capped: true as const } : {};
			const post = samplePost(requestId(++this.#posts), accountId, { day, ...keyed, lines: [line] });
			return JSON.stringify(random.chance(0.3) ? this.#owing(post, line, source) : post);
		});
		const group: ReadGroup = { seq: first, records, bytes: 0, end: { segment: 1, offset: 0 } };
		if (first === of.seq + 1) of.seq = first;
		return (books, on) => books.applier(of.boot).apply(on, [group]);
	}
}

test.each([1, 2, 3, 4])("questions of seed %p get the same answers and leave the same rows", async (seed) => {
	const folder = new StoreFolder(await cluster.newDatabase());
	const openings = await accounts(folder);
	const sql = connect(folder.place, { max: 2, name: "test" });
	try {
		const keys = await keysOf(folder, [...openings.keys()]);
		const [real, memory] = [postgres(sql, folder), simulated(openings, keys)];
		const questions = new Questions(seed, [...openings.keys()], keys);
		expect(await memory.rows()).toEqual(await real.rows());
		for (let step = 0; step < STEPS; step++) {
			const question = questions.next();
			const answer = await real.ask(question);
			expect({ step, answer: await memory.ask(question) }).toEqual({ step, answer });
			if (step % 10 === 0) {
				const accountId = [...openings.keys()][step % openings.size] ?? "";
				await Promise.all([real.credit(accountId, `r${step}`), memory.credit(accountId, `r${step}`)]);
			}
			expect({ step, rows: await memory.rows() }).toEqual({ step, rows: await real.rows() });
		}
	} finally {
		await sql.close();
		await folder.remove();
	}
});
