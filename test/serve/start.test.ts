import { afterAll, expect, test } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { HELLO, pricedModel } from "../support/chat-bodies.ts";
import { upstreamEntry } from "../support/running-gateway.ts";
import { startScriptedUpstream } from "../support/scripted-upstream.ts";
import { ADMIN_KEY, type Served, serve, turnpike } from "../support/served.ts";
import { until } from "../support/until.ts";

const upstream = startScriptedUpstream();
upstream.models(["gratis"]);
const config = {
	upstreams: { scripted: upstreamEntry(upstream.url) },
	models: { entries: { priced: pricedModel(["scripted"]) } },
};
const started: Served[] = [];

async function start(options: Parameters<typeof serve>[0] = {}): Promise<Served> {
	const server = await serve({ config, ...options });
	started.push(server);
	return server;
}

afterAll(async () => {
	for (const server of started) server.remove();
	await upstream.stop();
});

test("a first start prints address, a new key and a curl line that works; a second start prints no key", async () => {
	const server = await start({ env: { TURNPIKE_ADMIN_KEY: "short" } });
	expect(server.stderr()).toContain("TURNPIKE_ADMIN_KEY: expected 20 to 200");
	expect(await server.exited).toBe(78);
	const fresh = await startWithoutKey(server.dataDir);
	await until(() => fresh.stdout().includes("curl "), "the curl line");
	const text = fresh.stdout();
	expect(text).toContain(`${fresh.url}/api/v1`);
	expect(text).toContain("credit of 10 USD");
	const key = /sk_adm_[0-9A-Za-z]{43}/.exec(text)?.[0] ?? "";
	const line = text.split("\n").find((candidate) => candidate.trim().startsWith("curl ")) ?? "";
	expect(line).toContain(key);
	const shell = Bun.spawn(["sh", "-c", `${line.trim()} -s -o /dev/null -w '%{http_code}'`], { stdout: "pipe" });
	expect((await new Response(shell.stdout).text()).trim()).toBe("200");
	fresh.kill("SIGTERM");
	expect(await fresh.exited).toBe(0);
	for (const name of ["serve.pid", "serve.url"]) expect(existsSync(join(fresh.dataDir, name))).toBe(false);
	const again = await startWithoutKey(server.dataDir);
	await until(() => again.stdout().includes("curl "), "the curl line");
	expect(again.stdout()).not.toContain("sk_adm_");
	const models = await fetch(`${again.url}/api/v1/models`, { headers: { authorization: `Bearer ${key}` } });
	expect(models.status).toBe(200);
	again.kill("SIGTERM");
	expect(await again.exited).toBe(0);
});

/** `serve` gives a key by default; this starts without one. */
async function startWithoutKey(dataDir: string): Promise<Served> {
	const server = await serve({ dataDir, config, withoutKey: true });
	started.push(server);
	return server;
}

test("TURNPIKE_ADMIN_KEY is the first key, a known one later, and a warning otherwise", async () => {
	const server = await start();
	expect(server.stdout()).not.toContain(ADMIN_KEY);
	expect((await server.chat({ model: "priced", messages: HELLO })).status).toBe(200);
	server.kill("SIGTERM");
	await server.exited;
	const other = await start({ dataDir: server.dataDir, env: { TURNPIKE_ADMIN_KEY: "another-key-of-some-length" } });
	expect(other.stderr()).toContain("TURNPIKE_ADMIN_KEY is not a key of this store");
	expect((await other.chat({ model: "priced", messages: HELLO })).status).toBe(200);
	expect((await other.chat({ model: "priced", messages: HELLO }, { key: "another-key-of-some-length" })).status).toBe(401);
});

test("a wrong configuration ends with 78 and says where; a taken port and a taken folder with 1", async () => {
	const wrong = await start({ config: { server: { prot: 1 } }, waitFor: "nothing" });
	expect(await wrong.exited).toBe(78);
	expect(wrong.stderr()).toContain("server.prot: Unrecognized key");
	const server = await start();
	const samePort = await start({ port: server.port, waitFor: "nothing" });
	expect(await samePort.exited).toBe(1);
	expect(samePort.stderr()).toContain(`Port ${server.port}`);
	const sameFolder = await start({ dataDir: server.dataDir, waitFor: "nothing" });
	expect(await sameFolder.exited).toBe(1);
	expect(sameFolder.stderr()).toContain(server.dataDir);
	expect((await server.chat({ model: "priced", messages: HELLO })).status).toBe(200);
});

test("one variable puts it in front of a model server", async () => {
	const server = await start({
		config: {},
		env: { TURNPIKE_OPENAI_UPSTREAM: upstream.url, TURNPIKE_OPENAI_KEY: "upstream-key" },
	});
	await until(async () => (await server.chat({ model: "gratis", messages: HELLO })).status === 200, "the discovered model");
	expect(upstream.requests.at(-1)?.headers.get("authorization")).toBe("Bearer upstream-key");
	const answer = await server.chat({ model: "gratis", messages: HELLO });
	expect(((await answer.json()) as { cost: object }).cost).toEqual({ usd: 0, diem: 0 });
});

test("SIGTERM drains: running requests finish, new ones are refused, exit 0", async () => {
	const server = await start();
	let release: () => void = () => {};
	upstream.next({ beforeSecondChunk: new Promise<void>((resolve) => (release = resolve)) });
	const running = await server.chat({ model: "priced", messages: HELLO, stream: true });
	server.kill("SIGTERM");
	await until(async () => {
		try {
			return (await server.chat({ model: "priced", messages: HELLO })).status === 503;
		} catch {
			return true;
		}
	}, "refusal of new requests");
	release();
	expect((await running.text()).endsWith("data: [DONE]\n\n")).toBe(true);
	expect(await server.exited).toBe(0);
	expect((await turnpike(["audit", "--data", server.dataDir])).stdout).toContain("The books balance");
});

test("reload by command and by SIGHUP changes prices; a wrong file keeps the old one and says why", async () => {
	const server = await start();
	const cost = async () =>
		((await (await server.chat({ model: "priced", messages: HELLO })).json()) as { cost: { usd: number } }).cost.usd;
	const before = await cost();
	const dearer = { ...config, models: { entries: { priced: pricedModel(["scripted"], { price: { input: 10, output: 40 } }) } } };
	writeFileSync(server.configFile, JSON.stringify(dearer));
	expect((await turnpike(["reload", "--data", server.dataDir, "--config", server.configFile])).code).toBe(0);
	await until(async () => Math.abs((await cost()) - before * 10) < 1e-12, "the new price");
	writeFileSync(server.configFile, "server: {prot: 1}\n");
	process.kill(Number(readFileSync(join(server.dataDir, "serve.pid"), "utf8")), "SIGHUP");
	await until(() => server.stderr().includes("the new configuration is invalid"), "the refusal");
	expect(server.stderr()).toContain("server.prot");
	expect(await cost()).toBeCloseTo(before * 10, 12);
	writeFileSync(server.configFile, JSON.stringify({ ...config, server: { port: 1 } }));
	process.kill(server.pid, "SIGHUP");
	await until(async () => Math.abs((await cost()) - before) < 1e-12, "the old price again");
});

test("accounts and keys of the command line work while the server runs", async () => {
	const server = await start();
	const data = ["--data", server.dataDir];
	const account = JSON.parse((await turnpike(["accounts", "create", "customer", "--credit", "2.5", "--json", ...data])).stdout);
	const key = JSON.parse(
		(await turnpike(["keys", "create", account.id, "--json", "--limit-usd", "1", "--period", "MONTH", ...data])).stdout,
	);
	expect(key.consumptionLimits.usd).toBe("1");
	expect((await server.chat({ model: "priced", messages: HELLO }, { key: key.apiKey })).status).toBe(200);
	const first = JSON.parse((await turnpike(["accounts", "credit", account.id, "1", "--ref", "r1", "--json", ...data])).stdout);
	const second = JSON.parse((await turnpike(["accounts", "credit", account.id, "1", "--ref", "r1", "--json", ...data])).stdout);
	expect([first.replayed, second.replayed]).toEqual([false, true]);
	expect((await turnpike(["accounts", "disable", account.id, ...data])).code).toBe(0);
	await until(
		async () => (await server.chat({ model: "priced", messages: HELLO }, { key: key.apiKey })).status === 403,
		"the disabled account",
	);
	await turnpike(["accounts", "enable", account.id, ...data]);
	await until(
		async () => (await server.chat({ model: "priced", messages: HELLO }, { key: key.apiKey })).status === 200,
		"the enabled account",
	);
	const id = (await server.chat({ model: "priced", messages: HELLO }, { key: key.apiKey })).headers.get("x-request-id") ?? "";
	await until(async () => (await turnpike(["requests", "show", id, ...data])).code === 0, "the booked request");
	const shown = (await turnpike(["requests", "show", id, ...data])).stdout;
	const amount = (name: string) => new RegExp(`^${name} +(\\S+) USD`, "m").exec(shown)?.[1];
	expect(Number(amount("price"))).toBeGreaterThan(0);
	expect([amount("paid"), amount("overrun")]).toEqual([amount("price"), "0.0000"]);
	await turnpike(["keys", "revoke", key.id, ...data]);
	await until(
		async () => (await server.chat({ model: "priced", messages: HELLO }, { key: key.apiKey })).status === 401,
		"the revoked key",
	);
	const wrong = await turnpike(["accounts", "credit", account.id, "-5", ...data]);
	expect(wrong.code).toBe(64);
	expect((await turnpike(["accounts", "show", "acc_none", ...data])).stderr).toContain("there is no account");
});

test("probes and pages answer without a credential", async () => {
	const server = await start();
	expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
	expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
	const docs = await fetch(`${server.url}/docs`);
	expect(docs.headers.get("content-type")).toContain("text/html");
	expect(await docs.text()).toContain("/chat/completions");
	const document = (await (await fetch(`${server.url}/api/v1/openapi.json`)).json()) as { openapi: string; paths: object };
	expect(document.openapi).toBe("3.1.0");
	expect(Object.keys(document.paths)).toContain("/chat/completions");
});

test("doctor and chat find a server on whatever port it listens, and tell a killed one", async () => {
	const server = await start({ config: { ...config, chat: { embedded: { enabled: false } } } });
	const place = ["--data", server.dataDir, "--config", server.configFile];
	const doctor = await turnpike(["doctor", ...place]);
	expect(doctor.stdout).toContain(`ok     server: process ${server.pid} at ${server.url}: ready`);
	const chat = await turnpike(["chat", "Say hello.", "--model", "priced", "--key", ADMIN_KEY, ...place]);
	expect(chat.code).toBe(0);
	expect(chat.stdout.trim()).not.toBe("");
	server.kill("SIGKILL");
	await server.exited;
	expect((await turnpike(["doctor", ...place])).stdout).toContain(`server: not running: process ${server.pid} was killed`);
});
