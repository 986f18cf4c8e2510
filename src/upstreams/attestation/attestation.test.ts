import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { type AttestingUpstream, startAttestingUpstream } from "../../../test/support/attesting-upstream.ts";
import { chatForward, HELLO, textModel } from "../../../test/support/chat-forward.ts";
import { createKeys, seal } from "../../../test/support/sealed-crypto.ts";
import { TIMEOUTS, upstreamConfig } from "../../../test/support/upstream-pair.ts";
import type { Log } from "../../telemetry/log.ts";
import { createChatUpstreams, type RunningChatUpstreams } from "../chat/chat-upstreams.ts";
import { type Attestations, createAttestations } from "./index.ts";
import { KnownKeys } from "./known-keys.ts";

const ATTESTATION = {
	report: "attestation/report",
	signature: "signature/{id}",
	sealed: true,
	clientKeyHeader: "x-client-pub-key",
	modelKeyHeader: "x-model-pub-key",
	algorithmHeader: "x-signing-algo",
};
const MODEL = textModel([{}]);
const NONCE = "ab".repeat(32);

let server: AttestingUpstream;
let upstreams: RunningChatUpstreams;
let attestations: Attestations;
const lines: unknown[] = [];

beforeAll(() => {
	server = startAttestingUpstream();
	const note = (...line: unknown[]) => void lines.push(line);
	const log: Log = { level: "debug", debug: note, info: note, warn: note, error: note };
	upstreams = createChatUpstreams({
		upstreams: { main: upstreamConfig(server, { attestation: ATTESTATION, health: { failures: 1_000, probeEveryMs: 60_000 } }) },
		timeouts: TIMEOUTS,
		log,
	});
	attestations = createAttestations(upstreams.attemptDeps);
});
afterEach(() => {
	server.behave({});
	lines.length = 0;
});
afterAll(async () => {
	upstreams.close();
	await server.stop();
});

const signal = () => new AbortController().signal;

describe("the log", () => {
	test("says of what failed the server and the status, and nothing of keys, nonces, ids and words", async () => {
		const clientKey = createKeys().publicKey;
		const packet = seal("the plans", server.keys.publicKey);
		const body = { ...HELLO, stream: true, messages: [{ role: "user", content: packet }] };
		const [holder] = MODEL.targets;
		if (holder === undefined) throw new Error("no target");
		const sealed = { clientKey, modelKey: server.keys.publicKey, holder };
		for (const status of [400, 421, 500]) {
			server.behave({ status, reportStatus: status, signatureStatus: status });
			await attestations.report(MODEL, NONCE, signal()).catch(() => {});
			await attestations.signature(MODEL, "chatcmpl-secret", null, signal()).catch(() => {});
			const stream = upstreams.stream({ ...chatForward(body, { model: MODEL }), sealed });
			await stream.opened.catch(() => {});
		}
		const text = JSON.stringify(lines);
		expect(lines.length).toBeGreaterThan(6);
		for (const secret of [NONCE, clientKey, server.keys.publicKey, "chatcmpl-secret", packet.slice(0, 40), "the plans"])
			expect(text).not.toContain(secret);
	});
});

describe("a report", () => {
	test("that is no JSON object, or does not come, is none", async () => {
		server.behave({ reportStatus: 204 });
		await expect(attestations.report(MODEL, NONCE, signal())).rejects.toMatchObject({ code: "TEE_ATTESTATION_FAILED" });
		await server.stop();
		await expect(attestations.report(MODEL, NONCE, signal())).rejects.toMatchObject({ code: "TEE_ATTESTATION_FAILED" });
		await expect(attestations.signature(MODEL, "id", null, signal())).rejects.toMatchObject({ code: "TEE_SIGNATURE_FAILED" });
	});
});

describe("keys of reports", () => {
	const [one, two] = [createKeys().publicKey, createKeys().publicKey];

	test("are known in each of their spellings, also those of several machines", () => {
		const keys = new KnownKeys();
		keys.learn(
			{ signing_public_key: one.slice(2), model_attestations: [{ signing_public_key: `0x${two.toUpperCase()}` }] },
			"a",
			"m",
		);
		for (const key of [one, one.slice(2), one.toUpperCase(), two, two.slice(2)]) expect(keys.isHeldBy(key, "a", "m")).toBe(true);
		expect(keys.isHeldBy(one, "b", "m")).toBe(false);
		expect(keys.isHeldBy(one, "a", "n")).toBe(false);
	});

	test("belong to who showed them last, and the oldest are forgotten", () => {
		const keys = new KnownKeys();
		keys.learn({ signing_key: one }, "a", "m");
		keys.learn({ signing_key: one }, "b", "m");
		expect([keys.isHeldBy(one, "a", "m"), keys.isHeldBy(one, "b", "m")]).toEqual([false, true]);
		keys.learn({ all_attestations: Array.from({ length: 10_000 }, (_, at) => ({ signing_key: `key-${at}` })) }, "c", "m");
		expect(keys.isHeldBy(one, "b", "m")).toBe(false);
		expect(keys.isHeldBy("key-9999", "c", "m")).toBe(true);
	});
});
