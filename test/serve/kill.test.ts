import { afterAll, expect, test } from "bun:test";
import { openAdmin } from "../../src/store/admin.ts";
import { HELLO, pricedModel } from "../support/chat-bodies.ts";
import { type PostgresCluster, startPostgres } from "../support/postgres-cluster.ts";
import { upstreamEntry } from "../support/running-gateway.ts";
import { startScriptedUpstream } from "../support/scripted-upstream.ts";
import { freePort, serve, temporaryFolder, turnpike } from "../support/served.ts";
import { until } from "../support/until.ts";

const CLIENTS = 16;
/** A round ends after 2 to so many answers more. */
const MOST_ANSWERS = 150;
const SEED = Number(process.env.KILL_SEED ?? 20261127);

/** A small seeded generator (mulberry32): a failing run can be played again. */
function generator(seed: number): () => number {
	let state = seed >>> 0;
	return () => {
		state = (state + 0x6d2b79f5) >>> 0;
		let mixed = Math.imul(state ^ (state >>> 15), state | 1);
		mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
		return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
	};
}

let cluster: PostgresCluster | null = null;

afterAll(() => cluster?.stop());

async function createDatabase(): Promise<string> {
	cluster ??= await startPostgres();
	return cluster.newDatabase();
}

const STORES: readonly [name: string, rounds: number, newStore: () => Promise<string | undefined>][] = [
	["SQLite", 30, async () => undefined],
	["PostgreSQL", 10, createDatabase],
];

test.each(STORES)(
	"kill -9 after a random number of answers under load, on %s: every acknowledged answer has one post, no post is without a request, the books balance",
	async (_, rounds, newStore) => {
		const store = await newStore();
		const random = generator(SEED);
		const upstream = startScriptedUpstream();
		upstream.models(["gratis-0", "gratis-1"]);
		const dataDir = temporaryFolder();
		const port = await freePort();
		const config = {
			upstreams: { scripted: upstreamEntry(upstream.url) },
			models: { entries: { "priced-0": pricedModel(["scripted"]), "priced-1": pricedModel(["scripted"]) } },
			accounts: { startingCreditUsd: "1000" },
			journal: { segmentMb: 1 },
			...(store === undefined ? {} : { store }),
		};
		const acknowledged: string[] = [];
		let sent = 0;
		for (let round = 0; round < rounds; round++) {
			const server = await serve({ dataDir, port, config });
			let stop = false;
			const clients = Array.from({ length: CLIENTS }, async (_, client) => {
				while (!stop) {
					sent++;
					const stream = client % 2 === 0;
					// On PostgreSQL a killed node has taken an eighth of its model's minute: one model is refused from the ninth round on.
					const model = `${client % 4 === 3 ? "gratis" : "priced"}-${round % 2}`;
					try {
						const answer = await server.chat({ model, messages: HELLO, stream });
						const text = await answer.text();
						const whole = stream ? text.endsWith("data: [DONE]\n\n") : text.endsWith("}");
						if (answer.status === 200 && whole) acknowledged.push(answer.headers.get("x-request-id") ?? "");
					} catch {
						// The server was killed under this request.
					}
				}
			});
			const target = acknowledged.length + 2 + Math.floor(random() * MOST_ANSWERS);
			await until(() => acknowledged.length >= target, `answer ${target} in round ${round}`);
			server.kill("SIGKILL");
			await server.exited;
			stop = true;
			await Promise.all(clients);
		}
		const last = await serve({ dataDir, port, config });
		const admin = openAdmin(store ?? dataDir);
		const counts = new Map<string, number>();
		for (const { request_id: id } of await admin.db.selectFrom("posts").select("request_id").execute())
			counts.set(id, (counts.get(id) ?? 0) + 1);
		await admin.close();
		const reachedUpstream = new Set(upstream.requests.map((request) => request.headers.get("x-request-id") ?? ""));
		expect(acknowledged.length).toBeGreaterThanOrEqual(2 * rounds);
		expect(acknowledged.filter((id) => counts.get(id) !== 1)).toEqual([]);
		expect([...counts.keys()].filter((id) => !reachedUpstream.has(id))).toEqual([]);
		expect(counts.size).toBeLessThanOrEqual(sent);
		const place = store === undefined ? ["--data", dataDir] : ["--config", last.configFile, "--data", dataDir];
		const audit = await turnpike(["audit", ...place, "--json"]);
		expect(JSON.parse(audit.stdout).findings).toEqual([]);
		expect(audit.code).toBe(0);
		last.kill("SIGTERM");
		expect(await last.exited).toBe(0);
		const closed = await turnpike(["audit", ...place]);
		expect(closed.stdout).toContain("The books balance");
		await upstream.stop();
		last.remove();
	},
);
