import { afterAll, afterEach, describe, expect, test } from "bun:test";
import { chatForward, type ForwardOptions, HELLO, textModel } from "../../../test/support/chat-forward.ts";
import { until } from "../../../test/support/until.ts";
import {
	codeOf,
	upstreamConfig as config,
	drain,
	ONE,
	TIMEOUTS,
	TWO,
	UpstreamPair,
} from "../../../test/support/upstream-pair.ts";
import { ApiError } from "../../errors/index.ts";
import { systemTimerClock } from "../../telemetry/timer-clock.ts";
import type { ChatUpstreamsOptions } from "./chat-upstreams.ts";

const pair = new UpstreamPair();
const { main, spare } = pair;
const connect = (options: Partial<ChatUpstreamsOptions> = {}) => pair.connect(options);
const unary = (options: ForwardOptions = {}, upstreams = connect()) => pair.unary(options, upstreams);
const open = (options: ForwardOptions = {}, upstreams = connect()) => pair.open(options, upstreams);
afterEach(() => pair.reset());
afterAll(() => pair.stop());

describe("a caller that leaves", () => {
	test("stops the upstream at once: unary, before headers, before and after the first event", async () => {
		for (const [behaviour, streamed] of [
			[{ hang: true }, false],
			[{ hang: true }, true],
			[{ hang: "after-headers" }, true],
			[{ hang: "after-first-chunk" }, true],
		] as const) {
			main.requests.length = 0;
			main.next(behaviour);
			const caller = new AbortController();
			const call = { signal: caller.signal, model: TWO };
			const ended = streamed ? drain(open(call)).then((drained) => drained.error) : unary(call).catch((error: unknown) => error);
			await until(() => main.requests.length === 1, "the request came");
			caller.abort(new Error("left"));
			expect(await ended).toMatchObject({ message: "left" });
			await until(() => main.requests[0]?.isAborted === true, "the upstream saw it");
		}
		expect(spare.requests).toEqual([]);
		expect(main.open).toBe(0);
	});

	test("is no fault of the upstream", async () => {
		const upstreams = connect();
		for (let i = 0; i < 5; i++) {
			main.next({ hang: true });
			const caller = new AbortController();
			const ended = unary({ signal: caller.signal }, upstreams).catch(() => {});
			await until(() => main.open === 1, "it runs");
			caller.abort();
			await ended;
			await until(() => main.open === 0, "it was let go");
		}
		expect(upstreams.snapshot()[0]).toMatchObject({ state: "up", consecutiveFaults: 0, running: 0 });
	});

	test("before anything was sent sends nothing", async () => {
		const sent: string[] = [];
		await unary({ signal: AbortSignal.abort(new Error("left")), onSent: (name) => sent.push(name) }).catch(() => {});
		expect([main.requests.length, sent.length]).toEqual([0, 0]);
	});

	test("frees the place also where nobody reads or cancels the stream any more", async () => {
		for (const leave of ["abort", "cancel"] as const) {
			for (const turns of [0, 1, 2, 3, 5, 8, 20, 60]) {
				const upstreams = connect();
				main.next({ hang: "after-first-chunk" });
				const caller = new AbortController();
				const stream = open({ signal: caller.signal }, upstreams);
				await until(() => main.requests.length > 0, "the request came");
				for (let turn = 0; turn < turns; turn++) await new Promise<void>((resolve) => setImmediate(resolve));
				if (leave === "abort") caller.abort(new Error("left"));
				else stream.cancel();
				await until(() => upstreams.snapshot()[0]?.running === 0, `place freed after ${turns} turns`);
				main.requests.length = 0;
			}
		}
		await until(() => main.open === 0, "the upstream was let go");
	});

	test("cancel does the same, also twice, and the read under way ends", async () => {
		main.next({ hang: "after-first-chunk" });
		const stream = open();
		await stream.opened;
		const read = stream.each(() => null).catch((error: unknown) => error);
		stream.cancel();
		stream.cancel();
		expect(await read).toBeInstanceOf(ApiError);
		await until(() => main.requests[0]?.isAborted === true, "the upstream saw it");
	});
});

describe("upstreams that fail again and again", () => {
	test("are left out, probed in the background, and come back", async () => {
		const health = { failures: 2, probeEveryMs: 20 };
		const upstreams = connect({ upstreams: { main: config(main, { health }), spare: config(spare) } });
		main.models([], 500);
		main.always({ status: 500 });
		for (let i = 0; i < 3; i++) expect(await unary({ model: TWO }, upstreams)).toMatchObject({ upstream: "spare" });
		expect(main.requests.length).toBe(2);
		expect(upstreams.snapshot()[0]).toMatchObject({ name: "main", state: "out" });
		main.always({});
		main.models(["m"]);
		await until(() => upstreams.snapshot()[0]?.state === "trial", "a probe was good");
		expect(await unary({ model: TWO }, upstreams)).toMatchObject({ upstream: "main" });
		expect(upstreams.snapshot()[0]?.state).toBe("up");
	});

	test("are used all the same where there is no other", async () => {
		const upstreams = connect();
		main.always({ status: 500 });
		for (let i = 0; i < 5; i++) expect(await codeOf(unary({ model: ONE }, upstreams))).toBe("INFERENCE_FAILED");
		main.always({});
		expect(await unary({ model: ONE }, upstreams)).toMatchObject({ upstream: "main" });
	});
});

describe("bounds of one upstream", () => {
	/** The system's clock, but that it calls nobody: what was to happen later. */
	const due = () => {
		const actions: (() => void)[] = [];
		const after = (_: number, action: () => void) => {
			actions.push(action);
			return () => void actions.splice(actions.indexOf(action), 1);
		};
		return { actions, clock: { monotonicMs: systemTimerClock.monotonicMs, after } };
	};

	test("send the overflow to the next, and answer MODEL_AT_CAPACITY where there is none in time", async () => {
		const { actions, clock } = due();
		const upstreams = connect({ clock, upstreams: { main: config(main, { maxConcurrent: 1 }), spare: config(spare) } });
		main.next({ hang: "after-first-chunk" });
		const held = open({ model: TWO }, upstreams);
		await held.opened;
		expect(await unary({ model: TWO }, upstreams)).toMatchObject({ upstream: "spare", retries: 0 });
		const before = actions.length;
		const refused = codeOf(unary({ model: ONE }, upstreams));
		await until(() => actions.length === before + 1, "the wait for a place");
		actions.at(-1)?.();
		expect(await refused).toBe("MODEL_AT_CAPACITY");
		const waiting = unary({ model: ONE }, upstreams);
		await until(() => actions.length === before + 1, "the wait for a place");
		held.cancel();
		expect(await waiting).toMatchObject({ upstream: "main", retries: 0 });
		expect(upstreams.snapshot()[0]).toMatchObject({ running: 0 });
	});

	test("whoever leaves while it waits for a place takes none", async () => {
		const upstreams = connect({ upstreams: { main: config(main, { maxConcurrent: 1 }) } });
		main.next({ hang: "after-first-chunk" });
		const held = open({ model: ONE }, upstreams);
		await held.opened;
		const caller = new AbortController();
		const gone = unary({ model: ONE, signal: caller.signal }, upstreams).catch((error: unknown) => error);
		caller.abort(new Error("left"));
		expect(await gone).toMatchObject({ message: "left" });
		held.cancel();
		expect(upstreams.snapshot()[0]).toMatchObject({ running: 0 });
		expect(main.requests).toHaveLength(1);
	});
});

describe("new settings", () => {
	test("bind new calls; a stream under way runs to its end", async () => {
		const gate = Promise.withResolvers<void>();
		const upstreams = connect();
		main.next({ beforeSecondChunk: gate.promise });
		const stream = open({ model: ONE }, upstreams);
		await stream.opened;
		upstreams.reload({ main: config(spare, { key: "new-key" }) });
		expect((await unary({ model: ONE }, upstreams)).upstream).toBe("main");
		expect(spare.requests[0]?.headers.get("authorization")).toBe("Bearer new-key");
		gate.resolve();
		expect((await drain(stream)).error).toBeNull();
	});
});

describe("the same prompt_cache_key", () => {
	test("goes to the same upstream among equals", async () => {
		const upstreams = connect();
		const model = textModel([{}, { upstream: "spare" }]);
		for (let key = 0; key < 5; key++) {
			const names = new Set<string>();
			for (let i = 0; i < 4; i++)
				names.add((await upstreams.whole(chatForward({ ...HELLO, prompt_cache_key: `k${key}` }, { model }))).upstream);
			expect(names.size).toBe(1);
		}
	});
});

describe("the embedded engine", () => {
	const embedded = textModel([{ upstream: "embedded", model: "small" }]);
	const NOBODY = "http://127.0.0.1:1/v1";

	test("that has just ended under an old address is asked for its address once more", async () => {
		for (const streamed of [false, true]) {
			const addresses = [NOBODY, main.url];
			const endpoint = async () => ({ url: addresses.shift() ?? NOBODY, key: "local" });
			const upstreams = connect({ upstreams: {}, embedded: { endpoint } });
			if (streamed) expect((await drain(open({ model: embedded }, upstreams))).error).toBeNull();
			else expect(await unary({ model: embedded }, upstreams)).toMatchObject({ upstream: "embedded", retries: 0 });
			expect(addresses).toEqual([]);
		}
		let asked = 0;
		const gone = connect({ upstreams: {}, embedded: { endpoint: async () => ({ url: NOBODY, key: `${++asked}` }) } });
		expect(await codeOf(unary({ model: embedded }, gone))).toBe("MODEL_OFFLINE");
		expect(asked).toBe(2);
	});

	test("is reached at the address that it gives at each call", async () => {
		const upstreams = connect({ upstreams: {}, embedded: { endpoint: async () => ({ url: main.url, key: "local" }) } });
		expect(await unary({ model: embedded }, upstreams)).toMatchObject({ upstream: "embedded" });
		expect(main.requests[0]?.headers.get("authorization")).toBe("Bearer local");
	});

	test("answers with its own errors: from its start, and from its answers", async () => {
		const loading = new ApiError("MODEL_OFFLINE", { message: "the model is being fetched: 40 %" });
		const offline = connect({ embedded: { endpoint: () => Promise.reject(loading) } });
		expect(await unary({ model: embedded }, offline).catch((error: unknown) => error)).toBe(loading);
		const upstreams = connect({ embedded: { endpoint: async () => ({ url: main.url, key: "local" }) } });
		const refused = {
			error: { message: "temperature is off", code: "INVALID_REQUEST", param: "temperature" },
			code: "INVALID_REQUEST",
		};
		main.next({ status: 400, raw: JSON.stringify(refused) });
		const two = textModel([{ upstream: "embedded" }, { upstream: "spare", order: 1 }]);
		expect(await unary({ model: two }, upstreams).catch((error: unknown) => error)).toMatchObject({
			code: "INVALID_REQUEST",
			options: { param: "temperature" },
		});
		main.next({
			status: 429,
			raw: JSON.stringify({ error: { message: "queue is full", code: "MODEL_OVERLOADED" } }),
			headers: { "retry-after": "2" },
		});
		expect(await unary({ model: embedded }, upstreams).catch((error: unknown) => error)).toMatchObject({
			code: "MODEL_OVERLOADED",
			message: "queue is full",
			options: { retryAfterSeconds: 2 },
		});
	});

	test("that does not start in time is a time-out, and one that never will is let go when the caller leaves", async () => {
		const never = { endpoint: () => new Promise<never>(() => {}) };
		expect(
			await codeOf(unary({ model: embedded }, connect({ embedded: never, timeouts: { ...TIMEOUTS, chatUnaryMs: 40 } }))),
		).toBe("REQUEST_TIMEOUT");
		const caller = new AbortController();
		const ended = unary({ model: embedded, signal: caller.signal }, connect({ embedded: never })).catch(
			(error: unknown) => error,
		);
		caller.abort(new Error("left"));
		expect(await ended).toMatchObject({ message: "left" });
	});
});
