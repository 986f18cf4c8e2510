/**
 * Finds the server that takes writes among the hosts of a store's address. After a failover that is another host; and a
 * primary that was replaced must never be written to again, even where it comes back and takes writes. Each promotion
 * begins a new timeline with a higher number, so of two servers of one cluster the one with the higher number counts.
 */
import type { SQL } from "bun";
import { hostAddresses, withoutPassword } from "../../config/store-address.ts";
import { every, sleep, type Timers } from "../../telemetry/clock.ts";
import { StoreSilentError } from "../core/store-faults.ts";
import { connect } from "./connect.ts";
import { isWrongAddress } from "./faults.ts";

/** Remembers the highest timeline of each cluster. */
export interface Timelines {
	/** Returns 0 for a cluster that was never seen. */
	highest(cluster: string): number;
	note(cluster: string, timeline: number): void;
}

/** How long a server may take to answer; the connection's own limit is longer. */
const PROBE_MS = 3_000;
/** How long the other hosts are waited for once one that takes writes has answered. */
const OTHERS_MS = 1_000;
/** A search that failed counts for this long, so that waiting calls do not flood the servers. */
const FAILED_MS = 250;
/** Interval at which the other hosts are asked whether one of them was promoted. */
const LOOK_MS = 5_000;

/** What a host answered. */
interface Answer {
	readonly address: string;
	/** Why it cannot be written to; null where it can. */
	readonly refusal: string | null;
	/** Identifier of the cluster, which a primary and its standbys share; empty where the server does not say. */
	readonly cluster: string;
	/** 0 where the server does not say. */
	readonly timeline: number;
	readonly error?: unknown;
}

export class PrimaryFinder {
	readonly #hosts: readonly string[];
	readonly #timers: Timers;
	readonly #timelines: Timelines;
	readonly #listeners = new Set<() => void>();
	/** The address of the primary; null where it must be looked for. */
	#address: string | null;
	#last: Answer | null = null;
	#finding: Promise<string> | null = null;
	#failure: { readonly error: Error; readonly atMs: number } | null = null;
	#endLooks: (() => void) | null = null;

	/** @param place an address of one host or several; one host is always taken for the primary, and never asked */
	constructor(place: string, timers: Timers, timelines: Timelines = new RememberedTimelines()) {
		this.#hosts = hostAddresses(place);
		this.#timers = timers;
		this.#timelines = timelines;
		this.#address = this.#hosts.length === 1 ? (this.#hosts[0] ?? place) : null;
	}

	/**
	 * Returns the address of the server that takes writes. Throws `StoreSilentError` where none does now, and the error of
	 * the server where a password, role or database is wrong.
	 */
	find(): Promise<string> {
		if (this.#address !== null) return Promise.resolve(this.#address);
		const failure = this.#failure;
		if (failure !== null && performance.now() - failure.atMs < FAILED_MS) return Promise.reject(failure.error);
		this.#finding ??= this.#find().finally(() => {
			this.#finding = null;
		});
		return this.#finding;
	}

	/** Notes that a connection to this server broke, or that it takes no writes: the next `find` asks the hosts again. */
	lost(address: string): void {
		if (this.#hosts.length > 1 && this.#address === address) this.#address = null;
	}

	/** Sets a listener that runs whenever another server has become the primary. */
	onMoved(listener: () => void): void {
		this.#listeners.add(listener);
	}

	/** Asks the other hosts now and then whether one of them was promoted, until `stop`. */
	watch(): void {
		if (this.#hosts.length > 1) this.#endLooks ??= every(this.#timers, LOOK_MS, () => void this.#look());
	}

	stop(): void {
		this.#endLooks?.();
		this.#endLooks = null;
	}

	async #find(): Promise<string> {
		const answers = await this.#ask(this.#hosts);
		const primary = this.#newest(answers);
		if (primary === null) {
			const wrong = answers.find(({ error }) => isWrongAddress(error))?.error;
			const error = wrong instanceof Error ? wrong : new StoreSilentError(refusals(answers));
			this.#failure = { error, atMs: performance.now() };
			throw error;
		}
		this.#failure = null;
		this.#take(primary);
		return primary.address;
	}

	/** Moves to another host where one was promoted though the present primary still answers, or hangs. */
	async #look(): Promise<void> {
		const present = this.#address;
		if (present === null || this.#finding !== null) return;
		const answers = await this.#ask(this.#hosts.filter((host) => host !== present));
		const primary = this.#newest(answers);
		const last = this.#last;
		if (primary === null || last === null || this.#address !== present) return;
		if (primary.cluster === last.cluster && primary.timeline > last.timeline) this.#take(primary);
	}

	#take(primary: Answer): void {
		const before = this.#last?.address;
		this.#address = primary.address;
		this.#last = primary;
		this.#timelines.note(primary.cluster, primary.timeline);
		if (before !== undefined && before !== primary.address) for (const listener of this.#listeners) listener();
	}

	/** Asks hosts at once, and waits a moment for those that answer late. */
	async #ask(hosts: readonly string[]): Promise<readonly Answer[]> {
		const answers: Answer[] = [];
		const { promise: writable, resolve } = Promise.withResolvers<void>();
		const all = Promise.all(
			hosts.map(async (host) => {
				const answer = await this.#probe(host);
				answers.push(answer);
				if (answer.refusal === null) resolve();
			}),
		);
		await Promise.race([all, writable.then(() => sleep(this.#timers, OTHERS_MS))]);
		return hosts.flatMap((host) => answers.filter(({ address }) => address === host));
	}

	/** Returns the first host in order that takes writes, or one of the same cluster with a higher timeline. */
	#newest(answers: readonly Answer[]): Answer | null {
		const able = answers.filter(
			({ refusal, cluster, timeline }) => refusal === null && timeline >= this.#timelines.highest(cluster),
		);
		return able.reduce<Answer | null>(
			(best, one) => (best === null || (one.cluster === best.cluster && one.timeline > best.timeline) ? one : best),
			null,
		);
	}

	async #probe(address: string): Promise<Answer> {
		const sql = connect(address, { max: 1, name: "turnpike probe" });
		const { promise: silence, reject } = Promise.withResolvers<never>();
		const cancel = this.#timers.after(PROBE_MS, () => reject(new StoreSilentError("does not answer")));
		try {
			const state = await Promise.race([readState(sql), silence]);
			const isOutdated = state.refusal === null && state.timeline < this.#timelines.highest(state.cluster);
			return { ...state, address, refusal: isOutdated ? OUTDATED : state.refusal };
		} catch (error) {
			const refusal = error instanceof Error ? error.message : String(error);
			return { address, refusal, cluster: "", timeline: 0, error };
		} finally {
			cancel();
			void sql.close({ timeout: 0 }).catch(() => {});
		}
	}
}

const OUTDATED = "was replaced by another primary, and must follow it";

function refusals(answers: readonly Answer[]): string {
	const texts = answers.map(({ address, refusal }) => `${withoutPassword(address)}: ${refusal ?? OUTDATED}`);
	return `no server of the store takes writes (${texts.join("; ")})`;
}

/** Reads whether a server takes writes, and its timeline. Throws errors of the connection. */
async function readState(sql: SQL): Promise<Omit<Answer, "address">> {
	const [{ recovering, read_only }] = await sql.unsafe(
		"SELECT pg_is_in_recovery() AS recovering, current_setting('transaction_read_only') AS read_only",
	);
	const refusal = recovering ? "is in recovery" : read_only === "on" ? "is read-only" : null;
	if (refusal !== null) return { refusal, cluster: "", timeline: 0 };
	try {
		const [row] = await sql.unsafe(
			"SELECT pg_walfile_name(pg_current_wal_insert_lsn()) AS segment, system_identifier::text AS cluster FROM pg_control_system()",
		);
		return { refusal, cluster: row.cluster, timeline: Number.parseInt(row.segment.slice(0, 8), 16) };
	} catch {
		// Hosted services may not let these functions be called; then the order of the hosts decides.
		return { refusal, cluster: "", timeline: 0 };
	}
}

/** Remembers timelines for the life of the process. */
export class RememberedTimelines implements Timelines {
	readonly #highest = new Map<string, number>();

	highest(cluster: string): number {
		return this.#highest.get(cluster) ?? 0;
	}

	note(cluster: string, timeline: number): void {
		if (timeline > this.highest(cluster)) this.#highest.set(cluster, timeline);
	}
}
