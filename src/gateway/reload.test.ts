import { afterAll, expect, test } from "bun:test";
import { HELLO, pricedModel } from "../../test/support/chat-bodies.ts";
import { startGateway, upstreamEntry } from "../../test/support/running-gateway.ts";
import { startScriptedUpstream } from "../../test/support/scripted-upstream.ts";
import type { Config } from "../config/index.ts";

const upstream = startScriptedUpstream();
const running = await startGateway({
	config: { upstreams: { scripted: upstreamEntry(upstream.url) }, models: { entries: { priced: pricedModel(["scripted"]) } } },
});

afterAll(async () => {
	await running.stop();
	await upstream.stop();
});

test("a reload that fails half way, for whatever reason, changes nothing", async () => {
	const before = running.gateway.config;
	const { catalog } = running.gateway;
	const broken = {
		...before,
		limits: { ...before.limits, listRequestsPerMinute: 7 },
		models: { ...before.models, entries: {} },
		upstreams: { ...before.upstreams, other: { url: upstream.url, dialect: "no such dialect" } },
	} as unknown as Config;
	expect(() => running.gateway.reload(broken)).toThrow();
	expect(running.gateway.config).toBe(before);
	expect(running.gateway.catalog).toBe(catalog);
	expect((await running.chat({ model: "priced", messages: HELLO })).status).toBe(200);
});
