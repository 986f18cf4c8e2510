/** Several servers on one PostgreSQL, a fixed price a request, and clients that ask until they are refused. */
import { afterAll, afterEach, beforeAll, beforeEach, expect } from "bun:test";
import { type AdminStore, openAdmin, showAccount } from "../../src/store/admin.ts";
import { HELLO } from "./chat-bodies.ts";
import { type PostgresCluster, startPostgres } from "./postgres-cluster.ts";
import { upstreamEntry } from "./running-gateway.ts";
import { type ScriptedUpstream, startScriptedUpstream } from "./scripted-upstream.ts";
import { type Served, serve } from "./served.ts";

/** 10 tokens at 100 USD per million: 0.001 USD a request. Every request holds exactly what it costs. */
export const PRICE_NANO = 1_000_000;
export const BODY = { model: "fixed", messages: HELLO, max_tokens: 10 };
/** Short enough for a test, long enough for a loaded machine. */
export const TERM_MS = 6_000;
export const ANSWER = { usage: { prompt_tokens: 5, completion_tokens: 10, total_tokens: 15 } };

export interface Tally {
	/** Request ids of the answers. */
	readonly served: string[];
	refused: number;
	/** Requests that were neither: the node died under them, or took none. */
	failed: number;
	/** Requests that wait for their answer. */
	running: number;
	/** Told of each refusal as it comes. */
	onRefusal: (tally: Tally) => void;
}

export const createTally = (): Tally => ({ served: [], refused: 0, failed: 0, running: 0, onRefusal: () => {} });

export class NodeFleet {
	readonly nodes: Served[] = [];
	#cluster: PostgresCluster | null = null;
	#upstream: ScriptedUpstream | null = null;
	#admin: AdminStore | null = null;
	url = "";

	/** Gives each test of the file a database, an upstream, and no nodes. */
	static forTests(): NodeFleet {
		const fleet = new NodeFleet();
		beforeAll(async () => {
			fleet.#cluster = await startPostgres();
		});
		afterAll(() => fleet.#cluster?.stop());
		beforeEach(async () => fleet.#begin((await fleet.#cluster?.newDatabase()) ?? ""));
		afterEach(() => fleet.#end());
		return fleet;
	}

	/** Gives each test an upstream, and no nodes; the test starts its servers and calls `on`. */
	static withoutStore(): NodeFleet {
		const fleet = new NodeFleet();
		afterEach(() => fleet.#end());
		return fleet;
	}

	/** Uses the store at an address for the rest of the test. */
	on(url: string): void {
		this.#begin(url);
	}

	#begin(url: string): void {
		this.#upstream = startScriptedUpstream();
		this.#upstream.always(ANSWER);
		this.url = url;
		this.#admin = openAdmin(url);
	}

	async #end(): Promise<void> {
		for (const node of this.nodes.splice(0)) node.remove();
		await this.#admin?.close();
		await this.#upstream?.stop();
	}

	get cluster(): PostgresCluster {
		if (this.#cluster === null) throw new Error("no test runs");
		return this.#cluster;
	}

	get upstream(): ScriptedUpstream {
		if (this.#upstream === null) throw new Error("no test runs");
		return this.#upstream;
	}

	get admin(): AdminStore {
		if (this.#admin === null) throw new Error("no test runs");
		return this.#admin;
	}

	/** Credit for so many requests; `more` goes into the configuration of every node. */
	config(requests: number, more: object = {}): object {
		return {
			store: this.url,
			node: { termMs: TERM_MS },
			log: { level: "warn" },
			accounts: { startingCreditUsd: (requests / 1_000).toFixed(3) },
			upstreams: { scripted: upstreamEntry(this.upstream.url) },
			models: {
				entries: {
					fixed: { type: "text", price: { input: 0, output: 100 }, contextTokens: 4_096, upstreams: [{ upstream: "scripted" }] },
				},
			},
			...more,
		};
	}

	/** Starts nodes together, on an empty database. */
	async start(count: number, requests: number, more: object = {}): Promise<Served[]> {
		const config = this.config(requests, more);
		const started = await Promise.all(Array.from({ length: count }, () => serve({ config })));
		this.nodes.push(...started);
		for (const node of started) {
			const code = await Promise.race([node.exited, Promise.resolve(null)]);
			if (code !== null) throw new Error(`a node ended with ${code} instead of serving: ${node.stderr()}`);
		}
		return started;
	}

	/** A node on the folder of one that died. */
	async startAgain(dead: Served, requests: number): Promise<Served> {
		const again = await serve({ dataDir: dead.dataDir, config: this.config(requests) });
		this.nodes.push(again);
		return again;
	}

	async accountId(): Promise<string> {
		return (await this.admin.db.selectFrom("accounts").select("id").executeTakeFirstOrThrow()).id;
	}

	async posts(): Promise<number> {
		return (await this.bookedIds()).length;
	}

	async bookedIds(): Promise<string[]> {
		const rows = await this.admin.db.selectFrom("posts").select("request_id").execute();
		return rows.map((row) => row.request_id);
	}

	async balance(): Promise<number> {
		return Number((await showAccount(this.admin, await this.accountId())).balances.usd);
	}

	/** Of all nodes. */
	async leased(): Promise<number> {
		return Number((await this.admin.db.selectFrom("budgets").select("leased").executeTakeFirstOrThrow()).leased);
	}

	/** Sum of what all posts cost, of the charges, and of what the operator bears. */
	async sums(): Promise<{ posts: number; charges: number; overrun: number }> {
		const { db } = this.admin;
		const total = async (kind: "charge" | "overrun") =>
			(await db.selectFrom("movements").select("amount").where("kind", "=", kind).execute()).reduce(
				(sum, { amount }) => sum + Number(amount),
				0,
			);
		const posts = await db.selectFrom("posts").select("price").execute();
		return {
			posts: posts.reduce((sum, { price }) => sum + Number(price), 0),
			charges: await total("charge"),
			overrun: await total("overrun"),
		};
	}
}

/** Clients that ask until they are refused (402), or cannot ask any more. */
export async function hammer(
	targets: readonly Served[],
	clients: number,
	tally: Tally,
	running: () => boolean = () => true,
	key?: string,
): Promise<void> {
	const client = async (node: Served): Promise<void> => {
		while (running()) {
			let answer: Response;
			tally.running++;
			try {
				answer = await node.chat(BODY, key === undefined ? {} : { key });
				await answer.arrayBuffer();
			} catch {
				tally.failed++;
				return;
			} finally {
				tally.running--;
			}
			if (answer.status === 200) tally.served.push(answer.headers.get("x-request-id") ?? "");
			else if (answer.status === 402) {
				tally.refused++;
				tally.onRefusal(tally);
				return;
			} else {
				tally.failed++;
				await Bun.sleep(50);
			}
		}
	};
	const of = (index: number) => targets[index % targets.length] as Served;
	await Promise.all(Array.from({ length: clients }, (_, index) => client(of(index))));
}

/** One request that must be answered. */
export async function answered(node: Served, key?: string): Promise<void> {
	const answer = await node.chat(BODY, key === undefined ? {} : { key });
	expect([answer.status, await answer.text()]).toEqual([200, expect.any(String)]);
}
