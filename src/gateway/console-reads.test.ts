import { afterAll, beforeAll, expect, test } from "bun:test";
import { type ConsoleClient, signIn } from "../../test/support/console-gateway.ts";
import { verdict } from "../../test/support/keys-gateway.ts";
import { type RunningGateway, startGateway, type TestKey, upstreamEntry } from "../../test/support/running-gateway.ts";
import { type ScriptedUpstream, startScriptedUpstream } from "../../test/support/scripted-upstream.ts";
import { until } from "../../test/support/until.ts";
import type {
	Account,
	AuditState,
	KeyRow,
	MarginReport,
	Models,
	Networks,
	Overview,
	Page,
	ProbeResult,
	RefusalRow,
	RequestDetail,
	SendRow,
	Settings,
	TopUpRow,
	Upstreams,
	UsageReport,
	WalletRow,
} from "../routes/console/types.ts";
import { noteExceededLimits } from "../store/admin/exceeded-limits.ts";
import { createKey } from "../store/admin.ts";

const MODEL = "priced";
const DAY_MS = 86_400_000;
/** Beyond the 30 days that reports cover unless they are asked for more. */
const OLD_DAY = new Date(Date.now() - 50 * DAY_MS).toISOString().slice(0, 10);
const TODAY = new Date().toISOString().slice(0, 10);

let gate: RunningGateway;
let upstream: ScriptedUpstream;
let console: ConsoleClient;
let customer: TestKey;
let requestId: string;

const chat = (key: string, body: object = {}) =>
	gate.chat({ model: MODEL, messages: [{ role: "user", content: "x" }], max_completion_tokens: 10, ...body }, { key });

beforeAll(async () => {
	upstream = startScriptedUpstream();
	upstream.always({ usage: { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 } });
	gate = await startGateway({
		config: {
			upstreams: {
				one: upstreamEntry(upstream.url, { key: "a-secret-key", discover: false }),
			},
			models: {
				entries: {
					[MODEL]: {
						type: "text",
						price: { input: 10, output: 100 },
						cost: { input: 5, output: 40 },
						contextTokens: 8192,
						maxCompletionTokens: 4096,
						upstreams: [{ upstream: "one", model: "scripted", weight: 1, order: 0 }],
					},
				},
			},
			metrics: { token: "a-secret-token" },
			limits: { failedRequests: 0 },
		},
	});
	console = await signIn(gate.url, gate.key);
	customer = await gate.newKey({ creditUsd: "5", key: { description: "50%_off" } });
	const answer = await chat(customer.secret);
	requestId = answer.headers.get("x-request-id") ?? "";
	await chat(customer.secret, { temperature: 99 });
	await gate.openedStore.store.settled();
});
afterAll(async () => {
	await gate.stop();
	await upstream.stop();
});

/** All pages of a list. */
async function pages<T>(path: string): Promise<T[][]> {
	const found: T[][] = [];
	for (let cursor: string | null = ""; cursor !== null; ) {
		const page: Page<T> = await console.get(`${path}${path.includes("?") ? "&" : "?"}${cursor === "" ? "" : `cursor=${cursor}`}`);
		found.push([...page.data]);
		cursor = page.nextCursor;
	}
	return found;
}

test("the overview tells this node's traffic, and what the books have of each day", async () => {
	const overview = await console.get<Overview>("/overview?days=3");
	expect(overview.now).toMatchObject({ requests: 2, refused: 1, errors: 0, running: 0 });
	expect(overview.now.latencyMs?.p50).toBeGreaterThan(0);
	expect([overview.minutes.length, overview.days.length]).toEqual([60, 3]);
	expect(overview.hours.at(-1)?.requests).toBe(2);
	expect(overview.days.at(-1)).toEqual({
		day: TODAY,
		requests: 1,
		usd: "0.0020",
		bundled: "0.0000",
		diem: "0.0000",
		overrun: "0.0000",
	});
	expect(overview.days[0]).toMatchObject({ requests: 0, usd: "0.0000" });
	expect(overview.node.store).toBe("sqlite");
	expect(overview.journal.full).toBeNull();
	expect(overview.upstreams.out).toBe(0);
});

test("days that are over are read once", async () => {
	const { db } = gate.admin;
	const day = Date.parse(`${OLD_DAY}T00:00:00Z`) / DAY_MS;
	const { accountId: account_id, id: key_id } = customer;
	const row = {
		account_id,
		key_id,
		day,
		unit: "usd",
		sku: `${MODEL}-llm-output-mtoken`,
		amount: 1_000_000_000,
		units: 1,
		rows: 1,
	};
	await db
		.insertInto("usage_daily")
		.values({ ...row, unit: "usd" })
		.execute();
	const long = await console.get<Overview>("/overview?days=90");
	// It never happens to a day that is over: so it is seen whether the day is read again.
	await db.deleteFrom("usage_daily").where("day", "=", BigInt(day)).execute();
	const other = await console.get<Overview>("/overview?days=80");
	expect([long.days.length, other.days.length]).toEqual([90, 80]);
	expect(other.days).toEqual(long.days.slice(10));
	expect(other.days.filter(({ usd }) => usd !== "0.0000").map(({ day }) => day)).toEqual([OLD_DAY, TODAY]);
});

test("models and upstreams are told with what they answered", async () => {
	const { models } = await console.get<Models>("/models");
	expect(models.find(({ id }) => id === MODEL)).toMatchObject({ online: true, requests: 1, errors: 0, type: "text" });
	const { upstreams } = await console.get<Upstreams>("/upstreams");
	expect(upstreams[0]).toMatchObject({ name: "one", state: "up", requests: 1, models: [MODEL], ejections: 0 });
	expect(JSON.stringify(upstreams)).not.toContain("secret");
});

test("an upstream is asked at once whether it is there", async () => {
	expect(await console.change<ProbeResult>("POST", "/upstreams/one/probe")).toMatchObject({
		name: "one",
		alive: true,
		state: "up",
	});
	for (const name of ["embedded", "none"])
		expect(await verdict(console.ask("POST", `/upstreams/${name}/probe`))).toBe("404 NOT_FOUND");
});

test("keys are found by a part of what they are called, and its signs stand for themselves", async () => {
	for (const search of ["50%_off", "0%_O", customer.secret.slice(-6), customer.id.slice(3, 20)]) {
		const { data } = await console.get<Page<KeyRow>>(`/keys?search=${encodeURIComponent(search)}`);
		expect(data.map(({ id }) => id)).toEqual([customer.id]);
	}
	const { data } = await console.get<Page<KeyRow>>("/keys?search=50__off");
	expect(data).toEqual([]);
	const [row] = (await console.get<Page<KeyRow>>(`/keys?accountId=${customer.accountId}`)).data;
	expect(row).toMatchObject({ state: "active", account: { name: "test" }, trailingSevenDays: { usd: "0.0020", diem: "0.0000" } });
});

test("pages of many keys follow each other, each key once, newest first", async () => {
	// A name that no id has by chance: theirs are without I, L, O and U.
	const { id: accountId } = (await console.change<{ data: Account }>("POST", "/accounts", { name: "multitude" })).data;
	const createdAt: string[] = [];
	for (let number = 0; number < 130; number++) {
		const hash = number.toString(16).padStart(64, "0");
		await createKey(gate.admin, {
			accountId,
			type: "INFERENCE",
			hash,
			last6: hash.slice(-6),
			...(number < 10 ? { expiresAtMs: 1 } : {}),
		});
	}
	const found = await pages<KeyRow>("/keys?search=multitude");
	expect(found.map((page) => page.length)).toEqual([50, 50, 20]);
	expect(new Set(found.flat().map(({ id }) => id)).size).toBe(120);
	createdAt.push(...found.flat().map((key) => key.createdAt));
	expect(createdAt).toEqual(createdAt.toSorted().toReversed());
	const all = (await pages<KeyRow>(`/keys?accountId=${accountId}&state=all&limit=200`)).flat();
	expect(Object.groupBy(all, ({ state }) => state).expired?.length).toBe(10);
	expect((await console.get<Page<Account>>("/accounts?search=MULTI")).data.map(({ name }) => name)).toEqual(["multitude"]);
});

test.each(["cursor=x", `cursor=${Buffer.from("1 a b").toString("base64url")}`, "limit=0", "limit=201", "unknown=1"])(
	"a list refuses %s",
	async (query) => {
		for (const path of ["/keys", "/accounts", "/sends", "/refusals", "/wallets", "/top-ups"])
			expect(await verdict(console.ask("GET", `${path}?${query}`))).toBe("400 INVALID_REQUEST");
	},
);

test("usage is told by day, model, key and account, and adds up", async () => {
	const report = await console.get<UsageReport>("/usage?by=day,model,key");
	expect(report).toMatchObject({ to: TODAY, by: ["day", "model", "key"], truncated: false, total: { usd: "0.0020" } });
	expect(report.rows).toEqual([
		{
			day: TODAY,
			model: MODEL,
			key: { id: customer.id, description: "50%_off", last6Chars: customer.secret.slice(-6) },
			usd: "0.0020",
			bundled: "0.0000",
			diem: "0.0000",
			overrun: "0.0000",
			units: { "input tokens": 100, "output tokens": 10 },
		},
	]);
	const byAccount = await console.get<UsageReport>(`/usage?by=account&model=${MODEL}&keyId=${customer.id}`);
	expect(byAccount.rows).toMatchObject([{ account: { id: customer.accountId, name: "test" }, usd: "0.0020" }]);
	const none = await console.get<UsageReport>("/usage?model=other&from=2026-01-01&to=2026-01-31");
	expect([none.rows, none.total.usd]).toEqual([[], "0.0000"]);
});

test("usage is a CSV file", async () => {
	const answer = await console.ask("GET", "/usage.csv?by=model,key");
	expect(answer.headers.get("content-type")).toBe("text/csv; charset=utf-8");
	expect(answer.headers.get("content-disposition")).toContain("by-model-key.csv");
	expect((await answer.text()).split("\r\n").slice(0, 2)).toEqual([
		"model,keyId,key,usd,bundled,diem,overrun,units",
		`${MODEL},${customer.id},50%_off,0.0020,0.0000,0.0000,0.0000,100 input tokens; 10 output tokens`,
	]);
});

test.each([
	"by=day,day",
	"by=week",
	"by=",
	"from=2026-02-30",
	"from=2026-03-01&to=2026-02-01",
	"from=2020-01-01&to=2026-01-01",
	"from=x",
])("usage refuses %s", async (query) => {
	expect(await verdict(console.ask("GET", `/usage?${query}`))).toBe("400 INVALID_REQUEST");
});

test("margin is what a model was sold for, less its cost", async () => {
	const report = await console.get<MarginReport>("/margin");
	expect(report.models).toEqual([
		{
			model: MODEL,
			soldUsd: "0.0020",
			overrunUsd: "0.0000",
			costUsd: "0.0009",
			soldWithoutCostUsd: "0.0000",
			marginUsd: "0.0011",
			marginPercent: 55,
		},
	]);
	expect(report.total).toMatchObject({ soldUsd: "0.0020", marginUsd: "0.0011" });
});

test("networks are told, also those without upstreams", async () => {
	const { networks, cache } = await console.get<Networks>("/networks");
	expect(networks.find(({ network }) => network === "ethereum-mainnet")).toMatchObject({
		online: false,
		head: null,
		upstreams: [],
	});
	expect(cache.hitRatio).toBeNull();
});

test("one request is found by its X-Request-ID", async () => {
	const { data } = await console.get<{ data: RequestDetail }>(`/requests/${requestId}`);
	expect(data).toMatchObject({
		requestId,
		account: { id: customer.accountId, name: "test" },
		keyId: customer.id,
		model: MODEL,
		upstream: "one",
		status: 200,
		price: "0.0020",
		usage: { promptTokens: 100, completionTokens: 10, counted: false },
	});
	expect(data.lines.map(({ text }) => text)).toEqual([
		"100 tokens at 10 USD a million = 0.001 USD",
		"10 tokens at 100 USD a million = 0.001 USD",
	]);
	expect(data.lines.map(({ unitType, pricePerUnitUsd, amount }) => [unitType, pricePerUnitUsd, amount])).toEqual([
		["tokens", "10", "0.0010"],
		["tokens", "100", "0.0010"],
	]);
	for (const id of ["f".repeat(32), "%20", "a'b", "x".repeat(200)])
		expect(await verdict(console.ask("GET", `/requests/${id}`))).toBe("404 NOT_FOUND");
});

test("refusals by limits are told of all accounts, newest first", async () => {
	const entry = { accountId: customer.accountId, keyId: customer.id, modelId: MODEL, tier: "paid", kind: "RPM" } as const;
	await noteExceededLimits(
		gate.admin,
		[1, 2, 3].map((second) => ({ ...entry, atMs: 1_790_000_000_000 + second })),
	);
	const found = await pages<RefusalRow>("/refusals?limit=2");
	expect(found.map((page) => page.length)).toEqual([2, 1]);
	expect(found[0]?.[0]).toMatchObject({ kind: "RPM", account: { name: "test" }, modelId: MODEL });
	expect(found.flat().map(({ at }) => at)).toEqual(
		found
			.flat()
			.map(({ at }) => at)
			.toSorted()
			.toReversed(),
	);
	expect((await console.get<Page<RefusalRow>>(`/refusals?accountId=${gate.accountId}`)).data).toEqual([]);
});

test("sends are told by hashes, newest first", async () => {
	for (let item = 0; item < 3; item++)
		await gate.admin.db
			.insertInto("rpc_sends")
			.values({
				request_id: "r".repeat(32),
				item,
				account_id: customer.accountId,
				key_id: customer.id,
				network: "ethereum-mainnet",
				method: "eth_sendRawTransaction",
				raw_hash: `0x${String(item).repeat(64)}`,
				tx_hash: null,
				sent_at: 1_790_000_000_000,
				outcome: item === 0 ? null : "accepted",
				ended_at: null,
			})
			.execute();
	const found = await pages<SendRow>("/sends?limit=2&network=ethereum-mainnet");
	expect(found.map((page) => page.map(({ item }) => item))).toEqual([[2, 1], [0]]);
	const [send] = (await console.get<Page<SendRow>>(`/sends?hash=0x${"1".repeat(64)}`)).data;
	expect(send).toMatchObject({ item: 1, outcome: "accepted", keyId: customer.id });
	expect((await console.get<Page<SendRow>>("/sends?since=2027-01-01")).data).toEqual([]);
});

test("wallets and their top-ups are told without what was signed", async () => {
	const payer = `0x${"ab".repeat(20)}`;
	for (const [id, state] of [
		["payment_1", "failed"],
		["payment_2", "unknown"],
	] as const)
		await gate.admin.db
			.insertInto("top_ups")
			.values({
				id,
				network: "eip155:8453",
				asset: "0x1",
				payer,
				nonce: id,
				pay_to: "0x2",
				units: 5_000_000,
				amount: 5_000_000_000,
				valid_before: 1,
				proof: '{"signature":"signed-by-the-payer"}',
				state,
				settler: "none",
				settler_until: 0,
				from_block: 0,
				look_at: 8_000_000_000_000,
				transaction_hash: null,
				log_index: null,
				block: null,
				reason: state === "failed" ? "expired" : null,
				account_id: null,
				movement_id: null,
				created_at: 1_790_000_000_000,
				ended_at: state === "failed" ? 1_790_000_000_001 : null,
			})
			.execute();
	const found = await pages<TopUpRow>("/top-ups?limit=1");
	expect(found.flat().map(({ id, state, amountUsd }) => [id, state, amountUsd])).toEqual([
		["payment_2", "unknown", "5.0000"],
		["payment_1", "failed", "5.0000"],
	]);
	expect(JSON.stringify(found)).not.toContain("signed-by-the-payer");
	expect((await console.get<Page<TopUpRow>>("/top-ups?state=failed&payer=ABAB")).data.map(({ id }) => id)).toEqual(["payment_1"]);
	expect((await console.get<Page<WalletRow>>("/wallets?search=abab")).data).toEqual([]);
	expect(await verdict(console.ask("POST", "/reconcile"))).toBe("503 X402_NOT_CONFIGURED");
});

test("settings are told without their secrets", async () => {
	const { config, logLevel } = await console.get<Settings>("/settings");
	expect(JSON.stringify(config)).not.toContain("secret");
	expect(config).toMatchObject({ metrics: { token: "(hidden)" }, upstreams: { one: { key: "(hidden)" } } });
	expect(logLevel).toBe("silent");
});

test("the log level is set, and a level that is none is refused", async () => {
	expect((await console.change<Settings>("PUT", "/log-level", { level: "error" })).logLevel).toBe("error");
	expect((await console.get<Overview>("/overview")).node.logLevel).toBe("error");
	expect(await verdict(console.ask("PUT", "/log-level", { level: "loud" }))).toBe("400 INVALID_REQUEST");
	await console.change("PUT", "/log-level", { level: "silent" });
});

test("the books are proven when they are asked to be", async () => {
	expect(["never", "done"]).toContain((await console.get<AuditState>("/books")).state);
	expect((await console.ask("POST", "/books")).status).toBe(202);
	let books = await console.get<AuditState>("/books");
	await until(async () => {
		books = await console.get<AuditState>("/books");
		return books.state !== "running";
	}, "the audit's end");
	expect(books).toMatchObject({ state: "done", error: null, report: { ok: true, findings: [] } });
	expect((await console.get<Overview>("/overview")).books.report?.ok).toBe(true);
});

test("who leaves a stream of the playground stops the upstream", async () => {
	upstream.next({ hang: "after-first-chunk" });
	const leave = new AbortController();
	const answer = await fetch(`${gate.url}/console/api/play/chat/completions`, {
		method: "POST",
		headers: { cookie: console.cookie, "x-csrf-token": console.session.csrfToken, "content-type": "application/json" },
		body: JSON.stringify({ model: MODEL, messages: [{ role: "user", content: "x" }], stream: true }),
		signal: leave.signal,
	});
	await answer.body?.getReader().read();
	leave.abort();
	await upstream.requests.at(-1)?.aborted;
	expect(upstream.requests.at(-1)?.isAborted).toBe(true);
	await until(() => gate.gateway.budgets.holdsOpen === 0, "the end of the hold");
});
