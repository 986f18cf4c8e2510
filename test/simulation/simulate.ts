/** A whole run: nodes start, requests come, things go wrong, everything heals, the nodes stop, the books are checked. */
import { SimulatedDatabase } from "./database.ts";
import { SimulatedNode } from "./node.ts";
import { Oracle } from "./oracle.ts";
import { Random } from "./random.ts";
import { accountRank, type Fault, limitsOf, openingOf, plannedFaults, type Scenario, USUAL_HOLD } from "./scenario.ts";
import { World } from "./world.ts";

export interface SimulationReport {
	readonly seed: number;
	/** What was broken of what must be true; empty in a good run. */
	readonly findings: readonly string[];
	/** A number for the order of all events: equal runs have equal traces. */
	readonly trace: number;
	readonly events: number;
	readonly simulatedMs: number;
	readonly requests: number;
	readonly held: number;
	readonly posts: number;
	/** Refused with 402. */
	readonly refused: number;
	/** Refused with 402 while the account's money lay free in the store, or idle on a node. */
	readonly earlyRefusals: number;
	/** Refused by a limit of their key. */
	readonly limited: number;
	/** Answered with 503. */
	readonly unavailable: number;
	readonly chargedUsd: number;
	/** Spent past the accounts' money. */
	readonly overrunUsd: number;
	/** What could have been, by the bound. */
	readonly overrunBoundUsd: number;
	readonly fences: number;
	readonly lostLeaseCommits: number;
	readonly acquiresPerRequest: number;
	readonly returnsPerRequest: number;
	/** Trips to the database of every kind: batches, reads, heartbeats, polls. */
	readonly tripsPerRequest: number;
	/** While requests came. */
	readonly commitsPerSecond: number;
	readonly rowsWrittenPerSecond: number;
	readonly commits: Readonly<Record<string, number>>;
}

/** 2026-03-10T23:59:30Z: the day ends half a minute into a run. */
const START_WALL_MS = Date.UTC(2026, 2, 10, 23, 59, 30);
/** Wall clocks of machines differ by this much. */
const SKEW_MS = 200;
const START_WITHIN_MS = 60_000;
const CHECK_EVERY_MS = 1_000;
const STOP_WITHIN_MS = 60_000;
const USD = 1_000_000_000;
/** Requests that fail, of all. */
const FAILING = 0.05;
/** Requests whose price passes what was held: the model said more than it could. */
const PAST_HOLD = 0.005;
const CREDITS_PER_SECOND = 0.5;

export function simulate(scenario: Scenario): SimulationReport {
	return new Simulation(scenario).run();
}

class Simulation {
	readonly #scenario: Scenario;
	readonly #world = new World();
	readonly #load: Random;
	readonly #faults: Random;
	readonly #database: SimulatedDatabase;
	readonly #oracle: Oracle;
	readonly #nodes: SimulatedNode[] = [];
	/** When the wall clock of a node was last set back. */
	readonly #setBackMs = new Map<number, number>();
	#requests = 0;

	constructor(scenario: Scenario) {
		this.#scenario = scenario;
		const random = new Random(scenario.seed);
		this.#load = random.fork();
		this.#faults = random.fork();
		const skews = random.fork();
		const rankOf = (id: string): number => Number(id.slice(1));
		const oracle = new Oracle(
			this.#world,
			() => this.#database,
			(accountId) => limitsOf(rankOf(accountId), scenario),
		);
		this.#oracle = oracle;
		this.#database = new SimulatedDatabase(this.#world, random.fork(), scenario.latency, {
			now: () => START_WALL_MS + this.#world.nowMs,
			opening: (id) => openingOf(rankOf(id), scenario.seed),
			accountOfKey: (hash) => `a${hash.slice(1)}`,
			fenced: (node) => oracle.fenced(node),
			lostGrants: (accountId, amount) => oracle.lostGrant(accountId, amount),
			limitsOf: (keyId) => oracle.limitsOf(keyId),
			lostCaps: (keyId, amount) => oracle.lostCap(keyId, amount),
			...(scenario.broken?.books ? { broken: scenario.broken.books } : {}),
		});
		this.#database.noticeLoss = scenario.noticeLoss;
		for (let index = 0; index < scenario.nodes; index++) {
			this.#nodes.push(
				new SimulatedNode(index, {
					world: this.#world,
					database: this.#database,
					witness: oracle,
					wallMs: START_WALL_MS + Math.round(skews.between(-SKEW_MS, SKEW_MS)),
					termMs: scenario.termMs,
					maxCallers: scenario.maxCallersPerNode,
					broken: scenario.broken?.node ?? new Set(),
				}),
			);
		}
		oracle.nodes.push(...this.#nodes);
	}

	run(): SimulationReport {
		const world = this.#world;
		const { loadMs, termMs } = this.#scenario;
		for (const node of this.#nodes) node.start();
		while (!this.#nodes.every((node) => node.serving)) {
			world.run(world.nowMs + 10);
			if (world.nowMs > START_WITHIN_MS) throw new Error("the nodes did not start");
		}
		const beginMs = world.nowMs;
		const before = this.#written();
		for (const fault of plannedFaults(this.#scenario, this.#faults)) world.at(beginMs + fault.atMs, () => this.#break(fault));
		world.at(beginMs, () => this.#arrive(beginMs + loadMs));
		world.at(beginMs, () => this.#credit(beginMs + loadMs));
		this.#runChecked(beginMs + loadMs);
		const written = this.#written();
		const { asked, trips: made } = this.#database;
		const [acquires, returns] = [asked.acquire, asked.giveBack];
		const trips = made.lease + made.batch + made.other;
		// All that is under way ends, whoever is paused, cut off or down comes back, and who is dead is reaped.
		this.#runChecked(world.nowMs + 5 * termMs + STOP_WITHIN_MS);
		for (const node of this.#nodes) if (!node.serving) this.#oracle.find(`${node.id} did not come back`);
		world.settle(Promise.all(this.#nodes.map((node) => node.stop())), STOP_WITHIN_MS);
		world.run(world.nowMs + STOP_WITHIN_MS);
		this.#oracle.checkEnd(this.#requests, this.#scenario.mostEarlyRefusals);
		const { counts } = this.#oracle;
		const { totals, commits } = this.#database.store.rows;
		const seconds = loadMs / 1_000;
		return {
			seed: this.#scenario.seed,
			findings: this.#oracle.findings,
			trace: world.trace,
			events: world.events,
			simulatedMs: world.nowMs,
			requests: this.#requests,
			held: counts.held,
			posts: totals.posts,
			refused: counts.refused,
			earlyRefusals: counts.earlyRefusals,
			limited: counts.limited,
			unavailable: counts.unavailable,
			chargedUsd: (totals.charged.usd + totals.charged.diem) / USD,
			overrunUsd: totals.overrun / USD,
			overrunBoundUsd: [...this.#oracle.exposure.values()].reduce((sum, amount) => sum + amount, 0) / USD,
			fences: counts.fences,
			lostLeaseCommits: counts.lostCommits,
			acquiresPerRequest: acquires / this.#requests,
			returnsPerRequest: returns / this.#requests,
			tripsPerRequest: trips / this.#requests,
			commitsPerSecond: (written.commits - before.commits) / seconds,
			rowsWrittenPerSecond: (written.rows - before.rows) / seconds,
			commits,
		};
	}

	#written(): { commits: number; rows: number } {
		const { commits, rowsWritten } = this.#database.store.rows;
		return { commits: Object.values(commits).reduce((sum, count) => sum + count, 0), rows: rowsWritten };
	}

	#runChecked(untilMs: number): void {
		while (this.#world.nowMs < untilMs) {
			this.#world.run(Math.min(untilMs, this.#world.nowMs + CHECK_EVERY_MS));
			this.#oracle.checkNow();
		}
	}

	/** Requests come at random, each to any node that takes some: as a load balancer spreads them. */
	#arrive(untilMs: number): void {
		const { requestsPerSecond, accounts, workMs } = this.#scenario;
		const random = this.#load;
		const node = this.#nodes[random.integer(this.#nodes.length)];
		const rank = accountRank(random, accounts);
		const worst = Math.round(USUAL_HOLD * random.between(0.2, 1.8));
		const request = {
			number: this.#requests++,
			accountId: `a${rank}`,
			hash: `k${rank}`,
			worst,
			price: this.#price(worst),
			workMs: random.exponential(workMs),
		};
		// A balancer sends nothing to a node that it cannot reach; a paused one still has its connections.
		if (node?.alive === true) void node.serve(request);
		const nextMs = this.#world.nowMs + random.exponential(1_000 / requestsPerSecond);
		if (nextMs < untilMs) this.#world.at(nextMs, () => this.#arrive(untilMs));
	}

	/** A seventh of the worst case on average; now and then nothing, now and then more than was held. */
	#price(worst: number): number | null {
		const random = this.#load;
		if (random.chance(FAILING)) return null;
		return Math.round(worst * (random.chance(PAST_HOLD) ? random.between(1, 1.5) : random.unit() ** 6));
	}

	/** The operator credits accounts while nodes run. */
	#credit(untilMs: number): void {
		const random = this.#load;
		const nextMs = this.#world.nowMs + random.exponential(1_000 / CREDITS_PER_SECOND);
		if (nextMs >= untilMs) return;
		this.#world.at(nextMs, () => {
			const rank = accountRank(random, this.#scenario.accounts);
			if (this.#database.up) this.#database.store.credit(`a${rank}`, USUAL_HOLD * 10);
			this.#credit(untilMs);
		});
	}

	#break(fault: Fault): void {
		const world = this.#world;
		const oracle = this.#oracle;
		if (fault.kind === "failover") {
			oracle.unsettled(world.nowMs + fault.downMs);
			this.#database.failover(fault.how, fault.lostMs, fault.downMs);
			return;
		}
		const node = this.#nodes[fault.node];
		if (node === undefined) return;
		if (fault.kind === "step") {
			// A machine that sleeps for a while and whose clock is set back by as much knows nothing of it, by no clock.
			if (node.asleep) return;
			if (fault.byMs < 0) this.#setBackMs.set(node.index, world.nowMs);
			node.stepWall(fault.byMs);
			oracle.unsettled(world.nowMs, node.index);
		} else if (fault.kind === "cut" && !node.network.cut) {
			oracle.unsettled(world.nowMs + fault.forMs, node.index);
			node.network.break();
			world.at(world.nowMs + fault.forMs, () => node.network.heal());
		} else if (fault.kind === "pause" && node.serving) {
			oracle.unsettled(world.nowMs + fault.forMs, node.index);
			const setBackMs = this.#setBackMs.get(node.index) ?? Number.NEGATIVE_INFINITY;
			const asleep = fault.asleep && world.nowMs - setBackMs > this.#scenario.termMs;
			node.pause(asleep);
			world.at(world.nowMs + fault.forMs, () => node.resume());
		} else if (fault.kind === "kill" && node.alive) {
			oracle.unsettled(world.nowMs + fault.backMs, node.index);
			node.kill(fault.keepDisk);
			world.at(world.nowMs + fault.backMs, () => node.start());
		}
	}
}
