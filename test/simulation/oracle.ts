/**
 * Knows everything that happens in a run, and what must be true of it (docs/scale.md, the bounds). A broken rule is a
 * finding; a run without findings kept every promise.
 */
import type { ApiError } from "../../src/errors/index.ts";
import type { PostRecord } from "../../src/journal/records.ts";
import type { NodeEpoch } from "../../src/store/core/batch-applier.ts";
import { windowDays } from "../../src/store/core/caller-rows.ts";
import { limitNano } from "../../src/store/core/key-limits.ts";
import { Bits } from "./bits.ts";
import type { SimulatedDatabase } from "./database.ts";
import type { SimulatedDisk } from "./journal.ts";
import type { NodeWitness, SimulatedNode, SimulatedRequest } from "./node.ts";
import { requestNumber } from "./rows.ts";
import type { Limits } from "./store.ts";
import type { World } from "./world.ts";

/** What other nodes are asked for is waited for 300 ms; after a refusal the next 100 ms need no trip; the rest are ways. */
const RECALL_MS = 500;
/** A way that fell silent is given up after 20 s; so long may nodes not hear each other after something went wrong. */
const UNSETTLED_MS = 25_000;
const MAX_FINDINGS = 20;

/** The key of account `a7` is `key-k7`. */
const keyOf = (accountId: string): string => `key-k${accountId.slice(1)}`;
const accountOf = (keyId: string): string => `a${keyId.slice("key-k".length)}`;

export class Oracle implements NodeWitness {
	readonly findings: string[] = [];
	readonly counts = {
		held: 0,
		refused: 0,
		limited: 0,
		unavailable: 0,
		posted: 0,
		answered: 0,
		earlyRefusals: 0,
		fences: 0,
		lostCommits: 0,
	};
	/** Sum of the prices that were posted into journals. */
	postedNano = 0;
	/** Sum of the prices of posts that went with a disk, or with the process that had not written them. */
	readonly #lost: { readonly disk: SimulatedDisk; readonly unwritten: readonly string[] }[] = [];
	/** What may be borne of each account's use at most: see docs/scale.md. */
	readonly exposure = new Map<string, number>();
	/** By what its limits may be passed at most, by account: each has one key. */
	readonly limitExposure = new Map<string, number>();
	readonly nodes: SimulatedNode[] = [];
	readonly #world: World;
	readonly #database: () => SimulatedDatabase;
	readonly #limitsOf: (accountId: string) => Limits;
	readonly #limits = new Map<string, Limits>();
	readonly #answered = new Bits();
	/** Answered by the disk of a node, while the store could not be written. */
	readonly #answeredByDisk = new Bits();
	/** Boots whose leases were freed. */
	readonly #ended = new Set<string>();
	#unsettledUntilMs = 0;
	readonly #nodeUnsettledUntilMs = new Map<number, number>();

	constructor(world: World, database: () => SimulatedDatabase, limitsOf: (accountId: string) => Limits) {
		this.#world = world;
		this.#database = database;
		this.#limitsOf = limitsOf;
	}

	limitsOf(keyId: string): Limits {
		const known = this.#limits.get(keyId) ?? this.#limitsOf(accountOf(keyId));
		this.#limits.set(keyId, known);
		return known;
	}

	/** Something went wrong with the store, or (with a node) with one node only. */
	unsettled(untilMs: number, node?: number): void {
		const until = untilMs + UNSETTLED_MS;
		// A failover may take the end of a term back.
		if (node === undefined) this.#ended.clear();
		if (node === undefined) this.#unsettledUntilMs = Math.max(this.#unsettledUntilMs, until);
		else this.#nodeUnsettledUntilMs.set(node, Math.max(this.#nodeUnsettledUntilMs.get(node) ?? 0, until));
	}

	held(node: SimulatedNode, request: SimulatedRequest): void {
		this.counts.held++;
		this.#world.note(request.number * 4 + 1);
		const term = this.#database().store.rows.term({ id: node.id, epoch: node.epoch });
		// Where a failover lost the whole boot, its leases are lost ones, too: those are counted as such.
		if (term?.fenced === true || this.#ended.has(`${node.id}/${node.epoch}`))
			this.find(`${node.id} held ${request.worst} for request ${request.number} after its term`);
	}

	posted(_node: SimulatedNode, request: SimulatedRequest, overrun: number): void {
		this.counts.posted++;
		this.#world.note(request.number * 4 + 2);
		this.postedNano += request.price ?? 0;
		const beyond = Math.max(0, (request.price ?? 0) - request.worst);
		if (beyond > 0) this.#expose(request.accountId, beyond);
		if (overrun > beyond) this.find(`request ${request.number} overran by ${overrun}, its price passes its hold by ${beyond}`);
	}

	answered(node: SimulatedNode, request: SimulatedRequest): void {
		this.counts.answered++;
		this.#answered.set(request.number, true);
		if (node.journal?.ackedByDisk === true) this.#answeredByDisk.set(request.number, true);
	}

	refused(node: SimulatedNode, request: SimulatedRequest, error: ApiError, day: number): void {
		this.#world.note(request.number * 4 + 3);
		if (error.status !== 402) {
			this.counts.unavailable++;
			return;
		}
		if (error.code === "INSUFFICIENT_BALANCE") {
			this.counts.refused++;
			// Diem that the key may not use lies idle, rightly.
			if (this.limitsOf(keyOf(request.accountId)).diem === null) this.#judgeRefusal(node, request, day);
		} else {
			this.counts.limited++;
			if (error.code === "API_KEY_USD_SPEND_LIMIT_EXCEEDED") this.#judgeLimit(node, request, day);
		}
	}

	/** A post that no disk has: its process was killed in the same turn, or lost its disk. */
	lost(disk: SimulatedDisk, unwritten: readonly string[]): void {
		this.#lost.push({ disk, unwritten });
	}

	/** A boot's leases are about to be freed: what it has under way may be borne, since others may spend its money. */
	fenced(node: NodeEpoch): void {
		this.counts.fences++;
		this.#ended.add(`${node.id}/${node.epoch}`);
		const { rows } = this.#database().store;
		const of = this.nodes.find(({ id }) => id === node.id);
		if (of === undefined) return;
		for (const [accountId, secured] of of.open) {
			this.#expose(accountId, secured);
			this.#exposeLimit(accountId, secured);
		}
		const applied = rows.boot(node.id, node.epoch)?.appliedSeq ?? 0;
		for (const group of of.disk.groups.values()) if (group.seq > applied) this.#exposeTexts(group.records);
		this.#exposeTexts(of.journal?.gathered ?? []);
	}

	/** A failover lost a lease: the node spends money that the store may give to others. */
	lostGrant(accountId: string, amount: number): void {
		this.counts.lostCommits++;
		this.#expose(accountId, amount);
	}

	/** A failover lost a lease of a key's limits: others may be given the same. */
	lostCap(keyId: string, amount: number): void {
		this.#exposeLimit(accountOf(keyId), amount);
	}

	/** What must be true at any moment. */
	checkNow(): void {
		const { rows } = this.#database().store;
		if (rows.totals.rejected > 0) this.find(`${rows.totals.rejected} posts were rejected`);
		for (const boot of rows.fencedWithLeases()) this.find(`boot ${boot} was fenced and has leases`);
		for (const [accountId, overrun] of rows.overruns) {
			const most = this.exposure.get(accountId) ?? 0;
			if (overrun > most) this.find(`${accountId}: ${overrun} was borne by the operator, at most ${most} could be`);
		}
		for (const { boot, fenced } of rows.capHolders()) if (fenced) this.find(`boot ${boot} was fenced and has leases of limits`);
		for (const [keyId, days] of rows.takeUsed()) for (const day of days) this.#checkLimit(keyId, day);
	}

	#checkLimit(keyId: string, day: number): void {
		const { usd, diem, period } = this.limitsOf(keyId);
		if (usd === null && diem === null) return;
		const used = this.#database().store.rows.used(keyId, windowDays(period, day));
		const most = this.limitExposure.get(accountOf(keyId)) ?? 0;
		if (used.usd > limitNano(usd) + most || used.diem > limitNano(diem) + most)
			this.find(`${keyId} used ${used.usd} and ${used.diem} of ${usd} and ${diem}, its limits can be passed by ${most}`);
	}

	/** What must be true when every node has stopped, after so many requests. */
	checkEnd(requests: number, mostEarly: number): void {
		this.checkNow();
		const { earlyRefusals } = this.counts;
		if (earlyRefusals > mostEarly * requests) this.find(`${earlyRefusals} of ${requests} requests were refused early`);
		const { rows } = this.#database().store;
		const { totals } = rows;
		let left = 0n;
		let leftDiem = 0n;
		for (const [accountId, { usd, bundled, diem }] of rows.accounts()) {
			for (const purse of [usd, bundled, ...diem.values()]) {
				if (purse === undefined) continue;
				if (purse.balance < 0 || purse.leased !== 0)
					this.find(`${accountId}: ${purse.leased} is leased, ${purse.balance} is left`);
			}
			left += BigInt((usd?.balance ?? 0) + (bundled?.balance ?? 0));
			for (const purse of diem.values()) leftDiem += BigInt(purse.balance);
		}
		if (rows.leased !== 0) this.find(`leases of ${rows.leased} were not returned`);
		for (const { boot } of rows.capHolders()) this.find(`leases of limits of boot ${boot} were not returned`);
		this.#equal("USD that came in", totals.credited.usd, left + BigInt(totals.charged.usd), "what is left and what was charged");
		this.#equal(
			"diem that came in",
			totals.credited.diem,
			leftDiem + BigInt(totals.charged.diem),
			"what is left and what was charged",
		);
		const charged = totals.charged.usd + totals.charged.diem + totals.overrun;
		this.#equal("the prices of all posts", totals.price, charged, "what was charged and what was borne");
		this.#equal(
			"what was posted less what was lost with a disk",
			this.postedNano - this.#lostNano(),
			totals.price,
			"what was booked",
		);
		for (let number = 0; number < requests; number++) {
			if (this.#answered.has(number) && !rows.posted.has(number) && !this.#answeredByDisk.has(number))
				this.find(`request ${number} was answered and is not booked`);
		}
		if (this.#database().store.rows.totals.posts > this.counts.posted) this.find("a post was booked twice");
	}

	find(finding: string): void {
		if (this.findings.length < MAX_FINDINGS) this.findings.push(`${this.#world.nowMs.toFixed(1)} ms: ${finding}`);
	}

	/** A 402 while money of the account lies idle elsewhere: one that recall should have found is a finding. */
	#judgeRefusal(at: SimulatedNode, request: SimulatedRequest, day: number): void {
		const { accountId, worst } = request;
		const now = this.#world.nowMs;
		let idle = 0;
		let overdue = 0;
		for (const node of this.nodes) {
			const use = node.uses.get(accountId);
			if (use === undefined) continue;
			const free = use.key.cached.money.free(day);
			const sum = free.diem + free.bundled + free.usd;
			idle += sum;
			const deaf = node === at || !node.serving || node.network.cut || now < (this.#nodeUnsettledUntilMs.get(node.index) ?? 0);
			if (!deaf && now - use.atMs > RECALL_MS) overdue += sum;
		}
		const { rows } = this.#database().store;
		const free = (["usd", "bundled"] as const).reduce((sum, source) => {
			const purse = rows.balanceRow(accountId, source, 0);
			return sum + (purse === undefined ? 0 : purse.balance - purse.leased);
		}, 0);
		if (idle + free >= worst) this.counts.earlyRefusals++;
		const settled = now >= this.#unsettledUntilMs && now >= (this.#nodeUnsettledUntilMs.get(at.index) ?? 0);
		if (settled && this.#database().noticeLoss === 0 && overdue >= worst)
			this.find(`${accountId} was refused ${worst} on ${at.id} while ${overdue} lay idle elsewhere`);
	}

	/** A refusal by a limit while a part of it that suffices lies idle on a node that hears. */
	#judgeLimit(at: SimulatedNode, request: SimulatedRequest, day: number): void {
		const { accountId, worst } = request;
		const now = this.#world.nowMs;
		let idle = 0;
		let overdue = 0;
		for (const node of this.nodes) {
			const use = node.uses.get(accountId);
			const room = Math.max(0, use?.key.window(day)?.leaseHeadroom.usd ?? 0);
			idle += room;
			const deaf = node === at || !node.serving || node.network.cut || now < (this.#nodeUnsettledUntilMs.get(node.index) ?? 0);
			if (!deaf && now - (use?.atMs ?? now) > RECALL_MS) overdue += room;
		}
		if (idle >= worst) this.counts.earlyRefusals++;
		const settled = now >= this.#unsettledUntilMs && now >= (this.#nodeUnsettledUntilMs.get(at.index) ?? 0);
		if (settled && this.#database().noticeLoss === 0 && overdue >= worst)
			this.find(`${accountId} was limited to less than ${worst} on ${at.id} while ${overdue} of its limit lay idle elsewhere`);
	}

	#lostNano(): number {
		const { posted } = this.#database().store.rows;
		let sum = 0;
		const add = (text: string): void => {
			const record = JSON.parse(text) as PostRecord;
			if (record.t === "post" && !posted.has(requestNumber(record.id))) sum += record.priceNano;
		};
		for (const { disk, unwritten } of this.#lost) {
			for (const group of disk.groups.values()) for (const text of group.records) add(text);
			for (const text of unwritten) add(text);
		}
		return sum;
	}

	#exposeTexts(texts: readonly string[]): void {
		for (const text of texts) {
			const record = JSON.parse(text) as PostRecord;
			if (record.t !== "post") continue;
			this.#expose(record.accountId, record.priceNano);
			this.#exposeLimit(record.accountId, record.priceNano);
		}
	}

	#expose(accountId: string, amount: number): void {
		this.exposure.set(accountId, (this.exposure.get(accountId) ?? 0) + amount);
	}

	#exposeLimit(accountId: string, amount: number): void {
		this.limitExposure.set(accountId, (this.limitExposure.get(accountId) ?? 0) + amount);
	}

	#equal(what: string, one: number | bigint, other: number | bigint, with_: string): void {
		if (one !== other) this.find(`${what}: ${one}, but ${with_}: ${other}`);
	}
}
