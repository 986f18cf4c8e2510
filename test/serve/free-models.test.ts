import { afterAll, expect, test } from "bun:test";
import { pricedModel } from "../support/chat-bodies.ts";
import { upstreamEntry } from "../support/running-gateway.ts";
import { startScriptedUpstream } from "../support/scripted-upstream.ts";
import { type Served, serve, turnpike } from "../support/served.ts";
import { until } from "../support/until.ts";

const upstream = startScriptedUpstream();
upstream.models(["gratis", "gratis-too", "priced"]);
const started: Served[] = [];

afterAll(async () => {
	for (const server of started) server.remove();
	await upstream.stop();
});

async function start(entry: object, dataDir?: string): Promise<Served> {
	const config = {
		upstreams: { scripted: upstreamEntry(upstream.url, entry) },
		models: { entries: { priced: pricedModel(["scripted"]) } },
		chat: { embedded: { enabled: false } },
	};
	const server = await serve({ config, ...(dataDir === undefined ? {} : { dataDir }) });
	started.push(server);
	return server;
}

/** The warnings about models at price 0. */
function told(server: Served): { upstream: string; models: number }[] {
	const lines = server.stderr().split("\n");
	return lines
		.filter((line) => line.includes("at price 0"))
		.map((line) => JSON.parse(line) as { upstream: string; models: number });
}

async function reloaded(server: Served): Promise<void> {
	const times = () => server.stderr().split('"msg":"reloaded"').length;
	const before = times();
	server.kill("SIGHUP");
	await until(() => times() > before, "the reload");
}

test("models at price 0 of an upstream with a key are told at the start and at a reload, once each", async () => {
	const server = await start({ key: "k" });
	await until(() => told(server).length > 0, "the warning");
	await until(() => server.stdout().includes("curl "), "the banner");
	expect(told(server)).toMatchObject([{ upstream: "scripted", models: 2 }]);
	await reloaded(server);
	await until(() => told(server).length > 1, "the warning again");
	expect(told(server)).toHaveLength(2);
});

test("on an upstream of our own they are told as soon as there is an account to give them to", async () => {
	const server = await start({});
	await until(() => server.stderr().includes("listed its models"), "the list");
	await reloaded(server);
	expect(told(server)).toEqual([]);
	await turnpike(["accounts", "create", "customer", "--data", server.dataDir]);
	await reloaded(server);
	await until(() => told(server).length > 0, "the warning");
	expect(told(server)).toMatchObject([{ upstream: "scripted", models: 2 }]);
});

test("an upstream whose models are not discovered gives nothing away", async () => {
	const server = await start({ key: "k", discover: false });
	await until(() => server.stdout().includes("curl "), "the banner");
	await reloaded(server);
	expect(told(server)).toEqual([]);
});
