import { Database } from "bun:sqlite";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Finding } from "../../src/telemetry/finding.ts";
import { once, type PostgresCluster, startPostgres } from "../support/postgres-cluster.ts";
import { type ScriptedChain, startScriptedChain } from "../support/scripted-chain.ts";
import { freePort, serve, temporaryFolder, turnpike } from "../support/served.ts";

const folders: string[] = [];
const ends: (() => unknown)[] = [];
/** A server whose lists of models are broken in the way that its path names. */
let broken: Bun.Server<undefined>;
let chain: ScriptedChain;

const list = (...ids: readonly string[]) => ({ object: "list", data: ids.map((id) => ({ id, object: "model" })) });
const LISTS: Readonly<Record<string, () => Response>> = {
	"/wants-a-key/models": () => Response.json({ error: { message: "no key" } }, { status: 401 }),
	"/fails/models": () => Response.json({ error: { message: "out of memory" } }, { status: 500 }),
	"/page/models": () => new Response("<!doctype html><p>Welcome"),
	"/no-list/models": () => Response.json({ status: "fine" }),
	"/empty/models": () => Response.json(list()),
	"/well/models": () => Response.json(list("well-made")),
};

beforeAll(async () => {
	broken = Bun.serve({
		port: 0,
		hostname: "127.0.0.1",
		development: false,
		fetch: (request) => LISTS[new URL(request.url).pathname]?.() ?? new Response("no such path", { status: 404 }),
	});
	chain = await startScriptedChain("0x2105");
});
afterAll(async () => {
	for (const end of ends) await end();
	await broken.stop(true);
	await chain.stop();
	for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

function folder(): string {
	const made = temporaryFolder();
	folders.push(made);
	return made;
}

const WITHOUT_ENGINES = Object.fromEntries(
	["chat", "speech", "embeddings"].map((name) => [name, { embedded: { enabled: false } }]),
);

interface Examined {
	readonly code: number;
	readonly findings: readonly Finding[];
	/** Those that are not well, as `state name`. */
	readonly amiss: readonly string[];
	find(name: string, text?: string): Finding;
}

async function examine(config: object, dataDir = folder()): Promise<Examined> {
	const file = join(folder(), "turnpike.yaml");
	writeFileSync(file, JSON.stringify({ ...WITHOUT_ENGINES, server: { port: 0 }, ...config }));
	const { code, stdout, stderr } = await turnpike(["doctor", "--json", "--data", dataDir, "--config", file]);
	expect(stderr).toBe("");
	const findings = JSON.parse(stdout) as Finding[];
	for (const { state, name, mend } of findings)
		if (state !== "ok") expect([name, mend]).toEqual([name, expect.stringMatching(/./)]);
	return {
		code,
		findings,
		amiss: findings.filter(({ state }) => state === "fault").map(({ name }) => name),
		find: (name, text = "") => {
			const found = findings.find((finding) => finding.name === name && finding.text.includes(text));
			if (found === undefined) throw new Error(`no finding ${name} with ${text} in ${stdout}`);
			return found;
		},
	};
}

test("an install of which nothing is set ends with 0: what is not downloaded yet is a note with its command", async () => {
	const place = ["--data", join(folder(), "data")];
	const env = { TURNPIKE_PORT: String(await freePort()) };
	const shown = await turnpike(["doctor", ...place], env);
	expect([shown.code, shown.stderr]).toEqual([0, ""]);
	expect(shown.stdout).not.toContain("FAULT");
	expect(shown.stdout).toMatch(
		/note {3}chat engine: The embedded model is not downloaded yet.*\n {7}fix: npx --no turnpike models pull smollm2/,
	);
	expect(shown.stdout).toMatch(/\n\d+ ok, \d+ notes, 0 faults\n$/);
});

test("upstreams, models, chains and addresses that are wrong are each found, with what mends it", async () => {
	const dead = "http://127.0.0.1:9";
	const at = (path: string) => ({ url: `http://127.0.0.1:${broken.port}/${path}` });
	const dataDir = folder();
	chmodSync(dataDir, 0o755);
	const held = Bun.serve({ port: 0, hostname: "127.0.0.1", development: false, fetch: () => new Response() });
	ends.push(() => held.stop(true));
	const { code, find, amiss } = await examine(
		{
			server: { port: held.port },
			journal: { minFreeDiskMb: 999_999_999 },
			upstreams: {
				down: { url: `${dead}/v1` },
				"wants-a-key": at("wants-a-key"),
				"without-v1": at("without-v1"),
				fails: at("fails"),
				page: at("page"),
				"no-list": at("no-list"),
				empty: at("empty"),
				given: { ...at("well"), key: "its-key" },
				unused: { provider: "anthropic", key: "its-key" },
				quiet: { ...at("quiet"), discover: false },
			},
			models: {
				entries: {
					"by-no-one": { price: { input: 1, output: 2 } },
					misspelt: { price: { input: 1, output: 2 }, upstreams: [{ upstream: "given", model: "wel-made" }] },
				},
				traits: { text: { default: "who-knows" } },
			},
			web: { chromium: "/no/such/chromium", search: { searxng: { url: dead } } },
			traces: { url: `${dead}/v1/traces` },
			alerts: { url: `${dead}/alerts`, secret: "0123456789abcdef" },
			rpc: {
				networks: {
					"base-mainnet": {
						upstreams: [
							{ name: "mine", url: chain.url },
							{ name: "away", url: dead },
						],
					},
					"ethereum-mainnet": { upstreams: [{ url: chain.url }] },
				},
			},
			staking: { chain: { rpcUrl: chain.url, id: 1 }, contract: `0x${"a1".repeat(20)}` },
			x402: { payTo: `0x${"a1".repeat(20)}` },
		},
		dataDir,
	);
	expect(code).toBe(1);
	expect(find("server")).toMatchObject({
		state: "fault",
		text: expect.stringContaining(`Port ${held.port} on 127.0.0.1 is in use`),
		mend: `TURNPIKE_PORT=${(held.port ?? 0) + 1} npm start`,
	});
	expect(find("disk")).toMatchObject({ state: "fault", mend: "journal: {minFreeDiskMb: 200}" });
	expect(find("data folder")).toMatchObject({ state: "note", mend: `chmod 700 ${dataDir}` });
	const mends: Readonly<Record<string, string>> = {
		"upstream down": `start the server at ${dead}/v1, or set upstreams.down.url to its address`,
		"upstream wants-a-key": "set upstreams.wants-a-key.key: ",
		"upstream without-v1": "set upstreams.without-v1.url to the address above /models, usually with /v1",
		"upstream fails": "read that server's log",
		"upstream page": "set upstreams.page.url to the address of an OpenAI-compatible API",
		"upstream no-list": "set upstreams.no-list.url to the address of an OpenAI-compatible API",
		"upstream unused": "[{upstream: unused, model: ITS_NAME}]",
		"model by-no-one": 'models.entries["by-no-one"].upstreams: ',
		prices: "or upstreams.given.discover: false",
		"page reader": "web: {chromium: ",
		searches: "set web.search.searxng.url",
		traces: "set traces.url",
		alerts: "set alerts.url",
		staking: "staking.chain.rpcUrl: a node of chain 1, or set staking.chain.id",
		"top-ups": "TURNPIKE_X402_KEY=0x...",
		"chain ethereum-mainnet": "move its address under rpc.networks",
	};
	for (const [name, mend] of Object.entries(mends))
		expect([name, find(name)]).toEqual([name, expect.objectContaining({ state: "fault", mend: expect.stringContaining(mend) })]);
	expect(find("chain base-mainnet", "mine at ").state).toBe("ok");
	expect(find("chain base-mainnet", "away at ")).toMatchObject({
		state: "fault",
		mend: expect.stringContaining("start that node"),
	});
	expect(find("upstream empty")).toMatchObject({ state: "note", mend: expect.stringContaining("load a model") });
	expect(find("upstream quiet").state).toBe("ok");
	expect(find("model misspelt")).toMatchObject({ state: "note", mend: expect.stringContaining("well-made") });
	expect(find("models", "who-knows").state).toBe("note");
	expect(amiss.toSorted()).toEqual([...Object.keys(mends), "server", "disk", "chain base-mainnet"].toSorted());
});

test("a model that is offered for nothing is a note where nobody sends a bill, and no word where its price is set", async () => {
	const upstreams = { mine: { url: `http://127.0.0.1:${broken.port}/well` } };
	const free = await examine({ upstreams });
	expect([free.code, free.find("prices").state]).toEqual([0, "note"]);
	const upstream = { upstreams: { mine: { ...upstreams.mine, key: "its-key" } } };
	const set = await examine({ ...upstream, models: { entries: { "well-made": { price: { input: 0, output: 0 } } } } });
	expect([set.code, set.amiss, set.findings.some(({ name }) => name === "prices")]).toEqual([0, [], false]);
});

test("entries are examined: workflows and characters that cannot be read, prices below cost, prices by type", async () => {
	const upstreams = { mine: { url: `http://127.0.0.1:${broken.port}/well` } };
	const by = (more: object) => ({ upstreams: [{ upstream: "mine", ...more }] });
	const { code, amiss, find } = await examine({
		upstreams,
		models: {
			entries: {
				"well-made": { ...by({}), price: { input: 1, output: 3 }, cost: { input: 2, output: 3 } },
				painter: { type: "inpaint", image: { usd: 1 }, ...by({ protocol: "comfyui", workflow: "/no/such/workflow.json" }) },
				talker: { type: "tts", speech: { voices: ["a"] }, ...by({ model: "well-made" }) },
			},
		},
	});
	expect([code, amiss]).toEqual([1, ["model painter"]]);
	expect(find("model painter").mend).toContain("save it as /no/such/workflow.json");
	expect(find("model well-made")).toMatchObject({
		state: "note",
		text: "input is sold at 1 USD per million tokens, and costs 2",
		mend: 'models.entries["well-made"].price.input: 2 or more',
	});
	expect(find("prices")).toMatchObject({
		text: expect.stringContaining("1 model of upstream mine without a price"),
		mend: expect.stringContaining('models: {entries: {"talker": {speech: {perMillionCharacters: 15}}}}'),
	});
	const characters = await examine({ characters: "/no/such/characters.json" });
	expect([characters.code, characters.find("models").mend]).toEqual([
		1,
		expect.stringContaining("set characters to a readable file"),
	]);
});

test("settings that contradict each other are found before a start ends with 78", async () => {
	for (const [models, where] of [
		[{ entries: { a: { speech: { voices: ["x"] }, type: "text" } } }, "models.entries.a.speech"],
		[{ entries: { a: { image: { usd: 1 }, type: "text" } } }, "models.entries.a.image"],
	] as const) {
		const { code, find } = await examine({ models });
		expect([code, find("models")]).toEqual([
			1,
			expect.objectContaining({
				state: "fault",
				mend: expect.stringMatching(new RegExp(`^correct .*turnpike\\.yaml:1:\\d+: ${where}$`)),
			}),
		]);
	}
	const network = await examine({ rpc: { networks: { "base-main": { upstreams: [{ url: "http://127.0.0.1:9" }] } } } });
	expect(network.find("chains")).toMatchObject({ state: "fault", text: expect.stringContaining("base-main") });
});

test("addresses of money and of this machine that cannot be right are found", async () => {
	const { code, find, amiss } = await examine({
		server: { host: "192.0.2.1" },
		staking: { chain: { rpcUrl: chain.url }, contract: "0x5AAeb6053F3E94C9b9A09f33669435E7Ef1BeAed" },
		x402: { payTo: "0x5AAeb6053F3E94C9b9A09f33669435E7Ef1BeAed" },
	});
	expect([code, amiss]).toEqual([1, ["server", "staking", "top-ups"]]);
	expect(find("server").text).toContain("Cannot listen on 192.0.2.1");
	expect(find("staking").mend).toContain("staking.contract: copy the address once more");
	expect(find("top-ups").mend).toContain("TURNPIKE_X402_PAY_TO");
	const away = { payTo: `0x${"a1".repeat(20)}`, rpcUrl: "http://127.0.0.1:9", facilitator: { url: "http://127.0.0.1:9" } };
	expect((await examine({ x402: away })).find("top-ups").mend).toContain("set x402.rpcUrl to one that runs");
});

test("a data folder that cannot be used is found", async () => {
	const file = join(folder(), "file");
	writeFileSync(file, "");
	for (const dataDir of [file, join(file, "below")]) {
		const { code, find } = await examine({}, dataDir);
		expect([code, find("data folder")]).toEqual([
			1,
			expect.objectContaining({ state: "fault", mend: expect.stringContaining("TURNPIKE_DATA") }),
		]);
	}
	const dataDir = folder();
	writeFileSync(join(dataDir, "journal"), "");
	expect((await examine({}, dataDir)).find("data folder")).toMatchObject({
		state: "fault",
		mend: `mv ${dataDir}/journal ${dataDir}/journal.old`,
	});
	const archived = await examine({ retention: { folder: join(file, "archive"), journalMonths: 12 } });
	expect([archived.code, archived.amiss, archived.find("archive").text]).toEqual([
		1,
		["archive"],
		expect.stringContaining(`${file} is not a folder`),
	]);
});

test("books that are damaged, lost, or of a newer version are found", async () => {
	const damaged = folder();
	writeFileSync(join(damaged, "turnpike.db"), Buffer.alloc(8_192, "no database "));
	const server = await serve({ config: WITHOUT_ENGINES });
	ends.push(() => server.remove());
	server.kill("SIGTERM");
	await server.exited;
	const newer = server.dataDir;
	const books = new Database(join(newer, "turnpike.db"));
	books.run("PRAGMA user_version = 9999");
	books.close();
	for (const [dataDir, mend] of [
		[damaged, `cp BACKUP.db ${damaged}/turnpike.db`],
		[newer, "start the newer version"],
	] as const) {
		const { code, find } = await examine({}, dataDir);
		expect([code, find("books")]).toEqual([1, expect.objectContaining({ state: "fault", mend: expect.stringContaining(mend) })]);
	}
	for (const suffix of ["", "-wal", "-shm"]) rmSync(join(newer, `turnpike.db${suffix}`), { force: true });
	const gone = await examine({}, newer);
	expect([gone.code, gone.find("books").mend]).toEqual([1, expect.stringContaining(`cp BACKUP.db ${newer}/turnpike.db`)]);
});

test("a server that runs and does not answer is found, with what ends it", async () => {
	const server = await serve({ config: WITHOUT_ENGINES });
	ends.push(() => server.remove());
	server.kill("SIGSTOP");
	const { code, find } = await examine({}, server.dataDir);
	expect([code, find("server")]).toEqual([
		1,
		expect.objectContaining({ state: "fault", mend: expect.stringContaining(`kill -9 ${server.pid}`) }),
	]);
	server.kill("SIGCONT");
});

test("a limit on file descriptors that a node cannot live with is found", async () => {
	const file = join(folder(), "turnpike.yaml");
	writeFileSync(file, JSON.stringify({ ...WITHOUT_ENGINES, server: { port: 0 } }));
	const command = [process.execPath, join(import.meta.dir, "../../src/main.ts"), "doctor", "--data", folder(), "--config", file];
	const child = Bun.spawn(["sh", "-c", 'ulimit -n 512; exec "$@"', "sh", ...command], { stdout: "pipe", stderr: "inherit" });
	const shown = await new Response(child.stdout).text();
	expect([await child.exited, shown]).toEqual([
		1,
		expect.stringContaining(
			"FAULT  file descriptors: at most 512: each connection takes one, and its upstream another\n       fix: ulimit -n 65536",
		),
	]);
});

/** A setup that a start refuses: `doctor` says the same, file and path first. */
test("a configuration that is none ends with 78", async () => {
	const file = join(folder(), "turnpike.yaml");
	writeFileSync(file, JSON.stringify({ models: { entries: { a: { upstreams: [{ upstream: "nobody" }] } } } }));
	const { code, stderr } = await turnpike(["doctor", "--data", folder(), "--config", file]);
	expect([code, stderr]).toEqual([78, expect.stringContaining(`${file}:1:42: models.entries.a.upstreams[0].upstream`)]);
});

test("what keeps a PostgreSQL from being the store is found, with the line that mends it", async () => {
	const rules = mkdtempSync(join(tmpdir(), "turnpike-hba-"));
	folders.push(rules);
	chmodSync(rules, 0o755);
	const hba = join(rules, "pg_hba.conf");
	writeFileSync(hba, "host all postgres 127.0.0.1/32 trust\nhost all all 127.0.0.1/32 scram-sha-256\n", { mode: 0o644 });
	const cluster = await startPostgres({ hba_file: hba });
	ends.push(() => cluster.stop());
	const url = await cluster.newDatabase();
	await once(url, async (sql) => {
		await sql.unsafe("CREATE ROLE clerk LOGIN PASSWORD 'its-password'");
		await sql.unsafe("CREATE ROLE reader LOGIN PASSWORD 'its-password'");
		await sql.unsafe("ALTER ROLE reader SET default_transaction_read_only = on");
	});
	const { port, pathname } = new URL(url);
	const as = (who: string, on = port) => `postgres://${who}@127.0.0.1:${on}${pathname}`;
	const old = await olderPostgres(cluster, url);
	ends.push(() => old.stop());
	const setups: readonly (readonly [string, string])[] = [
		["postgres://clerk:x@127.0.0.1:9/db", "pg_isready -h 127.0.0.1 -p 9"],
		[as("clerk:wrong"), "ALTER ROLE clerk LOGIN PASSWORD"],
		[as("nobody-knows:x"), "set the password in store (TURNPIKE_STORE)"],
		[`postgres://postgres@127.0.0.1:${port}/absent`, `createdb -h 127.0.0.1 -p ${port} -U postgres absent`],
		[as("clerk:its-password"), "GRANT ALL ON SCHEMA public TO clerk;"],
		[as("reader:its-password"), "name the primary in store (TURNPIKE_STORE)"],
		[as("postgres", String(old.port)), "pg_upgradecluster"],
	];
	for (const [store, mend] of setups) {
		const { code, find, amiss } = await examine({ store });
		expect([code, amiss, find("books").mend]).toEqual([1, ["books"], expect.stringContaining(mend)]);
		expect(find("books").text).not.toContain("its-password");
	}
	const well = await examine({ store: url });
	expect([well.code, well.find("books").state]).toEqual([0, "ok"]);
});

/** A way to the cluster on which it says that it is PostgreSQL 13. */
async function olderPostgres(cluster: PostgresCluster, url: string): Promise<{ port: number; stop(): void }> {
	const number: string = await once(url, async (sql) => {
		const [row] = await sql.unsafe("SELECT current_setting('server_version_num') AS number");
		return row.number;
	});
	const ways = new Map<object, Promise<Bun.Socket>>();
	const proxy = Bun.listen({
		hostname: "127.0.0.1",
		port: 0,
		socket: {
			open(client) {
				const way = Bun.connect({
					hostname: "127.0.0.1",
					port: cluster.port,
					socket: {
						data: (_, bytes) => {
							const said = Buffer.from(bytes).toString("latin1").replaceAll(number, "130014");
							client.write(Buffer.from(said, "latin1"));
						},
						close: () => void client.end(),
					},
				});
				ways.set(client, way);
			},
			async data(client, bytes) {
				const sent = Buffer.from(bytes);
				(await ways.get(client))?.write(sent);
			},
			close(client) {
				void ways.get(client)?.then((way) => way.end());
			},
		},
	});
	return { port: proxy.port, stop: () => proxy.stop(true) };
}
