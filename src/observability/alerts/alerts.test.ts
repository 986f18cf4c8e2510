import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Config, loadConfig } from "../../config/index.ts";
import type { WorkRefusal } from "../../journal/records.ts";
import { type AdminStore, createAccount, credit, openAdmin } from "../../store/admin.ts";
import { type OpenedStore, openStore } from "../../store/index.ts";
import { systemClock, systemTimers } from "../../telemetry/clock.ts";
import { silentLog } from "../../telemetry/log.ts";
import type { UpstreamStatus } from "../../upstreams/index.ts";
import { Alerts } from "./index.ts";
import type { Notice } from "./notice.ts";

const SECRET = "a-secret-of-this-test";
const DISK: WorkRefusal = { reason: "disk", message: "The disk is nearly full", retryAfterSeconds: 10 };

let dataDir: string;
let books: OpenedStore;
let admin: AdminStore;
beforeAll(async () => {
	dataDir = mkdtempSync(join(tmpdir(), "turnpike-alerts-"));
	books = await openStore({ dataDir, journal: { segmentBytes: 1_048_576, minFreeDiskBytes: 0 } });
	admin = openAdmin(dataDir);
});
afterAll(async () => {
	await admin.close();
	await books.store.close();
	rmSync(dataDir, { recursive: true, force: true });
});

interface Received {
	readonly headers: Headers;
	readonly body: string;
	readonly notice: Notice;
}

/** Takes notices, and refuses as many as it is told to. */
class Receiver {
	readonly all: Received[] = [];
	refuse = 0;
	#heard = Promise.withResolvers<void>();
	readonly #server = Bun.serve({
		port: 0,
		fetch: async (request) => {
			const body = await request.text();
			this.all.push({ headers: request.headers, body, notice: JSON.parse(body) });
			this.#heard.resolve();
			this.#heard = Promise.withResolvers();
			return new Response(null, { status: this.refuse-- > 0 ? 503 : 204 });
		},
	});

	get url(): string {
		return `http://127.0.0.1:${this.#server.port}/alerts`;
	}

	/** The first notice that fits, waited for. */
	async found(fits: (notice: Notice) => boolean): Promise<Received> {
		for (;;) {
			const received = this.all.find(({ notice }) => fits(notice));
			if (received !== undefined) return received;
			await this.#heard.promise;
		}
	}

	stop(): void {
		void this.#server.stop(true);
	}
}

const running: { stop(): void }[] = [];
afterEach(() => {
	for (const part of running.splice(0)) part.stop();
});

function receiver(): Receiver {
	const made = new Receiver();
	running.push(made);
	return made;
}

interface World {
	upstreams: UpstreamStatus[];
	room: WorkRefusal | null;
	alerts: Config["alerts"];
}

function world(alerts: Partial<Config["alerts"]>): World {
	const { config } = loadConfig({ data: dataDir }, {}, dataDir);
	return { upstreams: [], room: null, alerts: { ...config.alerts, secret: SECRET, everyMs: 20, booksEveryMs: 0, ...alerts } };
}

function node(id: string, seen: World): Alerts {
	const alerts = new Alerts({
		config: () => seen,
		store: { admin: books.store.admin.bind(books.store), node: { id, epoch: 1 } },
		place: dataDir,
		journal: { workRefusal: () => seen.room },
		upstreams: () => seen.upstreams,
		networks: () => [],
		clock: systemClock,
		timers: systemTimers,
		log: silentLog,
		waitsMs: [10, 10, 10],
	});
	running.push(alerts);
	return alerts;
}

function upstream(name: string, state: UpstreamStatus["state"]): UpstreamStatus {
	return {
		name,
		url: null,
		state,
		running: 0,
		maxConcurrent: null,
		consecutiveFaults: 3,
		ejections: 1,
		lastFault: "status 500",
		busy: false,
		accountRefusal: null,
	};
}

/** The check of a signature as docs/observing.md has it. */
async function documentedCheck(): Promise<(headers: Headers, body: string, secret: string) => boolean> {
	const page = readFileSync(join(import.meta.dir, "../../../docs/observing.md"), "utf8");
	const file = join(dataDir, "is-ours.ts");
	writeFileSync(file, /```ts\n(.*?)```/s.exec(page)?.[1] ?? "");
	return (await import(file)).isOurs;
}

test("an upstream that is out is told once, signed, and told again when it is back", async () => {
	const hook = receiver();
	const seen = world({ url: hook.url });
	seen.upstreams = [upstream("one", "out"), upstream("two", "up")];
	node("node-a", seen);
	const { headers, body, notice } = await hook.found(({ subject }) => subject === "one");
	expect(notice).toMatchObject({ state: "raised", rule: "upstream", node: "node-a" });
	expect(notice.text).toContain("status 500");
	const isSigned = await documentedCheck();
	expect(isSigned(headers, body, SECRET)).toBe(true);
	expect(isSigned(headers, body, "another-secret-here")).toBe(false);
	expect(isSigned(headers, `${body} `, SECRET)).toBe(false);
	seen.upstreams = [upstream("one", "up")];
	await hook.found(({ state }) => state === "ended");
	expect(hook.all.map((each) => each.notice.state)).toEqual(["raised", "ended"]);
});

test("an upstream that is in use and refuses the service's account is told", async () => {
	const hook = receiver();
	const seen = world({ url: hook.url });
	seen.upstreams = [{ ...upstream("unpaid", "up"), accountRefusal: "status 402" }];
	node("node-unpaid", seen);
	const { notice } = await hook.found(({ subject }) => subject === "unpaid");
	expect(notice).toMatchObject({ state: "raised", rule: "upstream" });
	expect(notice.text).toContain("check its key, credit and quota: status 402");
	seen.upstreams = [upstream("unpaid", "up")];
	await hook.found(({ state }) => state === "ended");
});

test("a notice that is refused is sent again under the same id", async () => {
	const hook = receiver();
	hook.refuse = 2;
	const seen = world({ url: hook.url });
	seen.room = DISK;
	const alerts = node("node-retry", seen);
	await hook.found(() => hook.all.length === 3);
	expect(new Set(hook.all.map(({ notice }) => notice.id)).size).toBe(1);
	seen.room = null;
	await hook.found(({ state }) => state === "ended");
	expect(alerts.counts()).toMatchObject({ failed: 0 });
});

test("of two nodes that see the same one tells, and the other takes over when it falls silent", async () => {
	const hook = receiver();
	const seen = world({ url: hook.url });
	seen.upstreams = [upstream("shared", "out")];
	const [first, second] = [node("node-1", seen), node("node-2", seen)];
	const { notice } = await hook.found(({ subject }) => subject === "shared");
	const owner = notice.node === "node-1" ? first : second;
	owner.stop();
	seen.upstreams = [];
	const { notice: ended } = await hook.found(({ state }) => state === "ended");
	expect(ended.node).toBe(notice.node === "node-1" ? "node-2" : "node-1");
	expect(hook.all.filter((each) => each.notice.state === "raised")).toHaveLength(1);
});

test("an account with too little is named until it has enough", async () => {
	const hook = receiver();
	const account = await createAccount(admin, { name: "poor", startingCreditUsd: "1.5" });
	node("node-b", world({ url: hook.url, balanceBelowUsd: 2 }));
	const { notice } = await hook.found(({ rule }) => rule === "balance");
	expect(notice).toMatchObject({ subject: account.id, text: "The account poor has 1.50 USD left, less than 2" });
	await credit(admin, { accountId: account.id, amount: "10", reference: "fill" });
	await hook.found(({ state }) => state === "ended");
});
