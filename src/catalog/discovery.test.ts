import { afterEach, describe, expect, test } from "bun:test";
import { until } from "../../test/support/until.ts";
import { Discovery, type DiscoveryOptions } from "./discovery.ts";
import { configOf } from "./testing/config.ts";

const stops: (() => unknown)[] = [];
afterEach(async () => {
	for (const stop of stops.splice(0)) await stop();
});

/** A real server whose answer to GET /v1/models can be changed, and that counts how often it was asked. */
function upstream() {
	const state = { asked: 0, answer: (): Response | Promise<Response> => Response.json({ data: [{ id: "x" }] }) };
	const server = Bun.serve({
		hostname: "127.0.0.1",
		port: 0,
		fetch: () => {
			state.asked++;
			return state.answer();
		},
	});
	stops.push(() => server.stop(true));
	return { state, url: `http://127.0.0.1:${server.port}/v1` };
}

function discoveryOf(upstreams: Record<string, unknown>, more: Partial<DiscoveryOptions> = {}) {
	const events: string[] = [];
	const discovery = new Discovery({
		upstreams: configOf({ upstreams }).upstreams,
		retryMs: 20,
		refreshMs: 40,
		onChange: (name) => events.push(`${name} changed`),
		onFault: (name, { fault }) => events.push(`${name} ${fault}`),
		...more,
	});
	stops.push(() => discovery.stop());
	return { discovery, events };
}

const lists = (discovery: Discovery) =>
	Object.fromEntries([...discovery.lists()].map(([name, models]) => [name, models.map(({ id }) => id)]));

describe("discovery", () => {
	test("asks every upstream at the start, but those that are not to be discovered", async () => {
		const [a, b] = [upstream(), upstream()];
		const { discovery, events } = discoveryOf({ a: { url: a.url }, b: { url: b.url, discover: false } });
		expect(discovery.status("a")).toMatchObject({ state: "asking", models: null });
		await discovery.start();
		expect(lists(discovery)).toEqual({ a: ["x"] });
		expect(events).toEqual(["a changed"]);
		expect(discovery.status("a")?.state).toBe("up");
		expect(discovery.status("b")).toBeUndefined();
		expect(b.state.asked).toBe(0);
	});

	test("asks an upstream that is down again until it answers, and tells each fault once", async () => {
		const { state, url } = upstream();
		const good = state.answer;
		state.answer = () => new Response("<html>");
		const { discovery, events } = discoveryOf({ a: { url } });
		await discovery.start();
		expect(lists(discovery)).toEqual({});
		expect(discovery.status("a")).toMatchObject({ state: "down", models: null, error: { fault: "not-json" } });
		await until(() => state.asked >= 4);
		expect(events).toEqual(["a not-json"]);
		state.answer = good;
		await until(() => discovery.status("a")?.state === "up");
		expect(events).toEqual(["a not-json", "a changed"]);
	});

	test("keeps the last good list while the upstream is down", async () => {
		const { state, url } = upstream();
		const { discovery, events } = discoveryOf({ a: { url } });
		await discovery.start();
		state.answer = () => new Response("", { status: 500 });
		await until(() => discovery.status("a")?.state === "down");
		expect(lists(discovery)).toEqual({ a: ["x"] });
		expect(events).toEqual(["a changed", "a status"]);
	});

	test("tells a changed list and no other", async () => {
		const { state, url } = upstream();
		let second = 1_700_000_000;
		state.answer = () => Response.json({ data: [{ id: "x", created: second++ }] });
		const { discovery, events } = discoveryOf({ a: { url } });
		await discovery.start();
		await until(() => state.asked >= 4);
		expect(events).toEqual(["a changed"]);
		expect(discovery.lists().get("a")?.[0]?.created).toBe(1_700_000_000);
		state.answer = () => Response.json({ data: [{ id: "y" }] });
		await until(() => events.length === 2);
		expect(lists(discovery)).toEqual({ a: ["y"] });
	});

	test("knows an empty list from none", async () => {
		const { state, url } = upstream();
		state.answer = () => Response.json({ data: [] });
		const { discovery, events } = discoveryOf({ a: { url } });
		await discovery.start();
		expect(lists(discovery)).toEqual({ a: [] });
		expect(events).toEqual(["a changed"]);
	});

	test("joins a question that is under way", async () => {
		const { state, url } = upstream();
		const { discovery } = discoveryOf({ a: { url } }, { retryMs: 60_000 });
		await Promise.all([discovery.start(), discovery.refresh(), discovery.refresh("a"), discovery.refresh("nobody")]);
		expect(state.asked).toBe(1);
	});

	test("stops at once while an upstream hangs, and says nothing afterwards", async () => {
		const { state, url } = upstream();
		state.answer = () => new Promise(() => {});
		const { discovery, events } = discoveryOf({ a: { url } }, { timeoutMs: 60_000 });
		const started = discovery.start();
		await until(() => state.asked === 1);
		await discovery.stop();
		await started;
		await discovery.stop();
		await discovery.refresh();
		expect(state.asked).toBe(1);
		expect(events).toEqual([]);
	});

	test("does not keep the process alive", async () => {
		const { url } = upstream();
		const script = `
			const { Discovery } = await import(${JSON.stringify(import.meta.resolve("./discovery.ts"))});
			const upstream = { url: ${JSON.stringify(url)}, dialect: "generic", discover: true };
			await new Discovery({ upstreams: { a: upstream }, retryMs: 60000 }).start();
			console.log("asked");
		`;
		const child = Bun.spawn([process.execPath, "-e", script], { stdout: "pipe", stderr: "inherit" });
		stops.push(() => child.kill());
		expect(await new Response(child.stdout).text()).toBe("asked\n");
		expect(await child.exited).toBe(0);
	});
});
