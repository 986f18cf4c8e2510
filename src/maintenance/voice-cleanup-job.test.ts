import { expect, test } from "bun:test";
import type { OrphanedVoice } from "../access/index.ts";
import { runOperation } from "../store/admin/operations.ts";
import { StoreFolder } from "../store/testing/store-folder.ts";
import type { Timers } from "../telemetry/clock.ts";
import { VoiceCleanupJob, type VoiceCleanupJobDeps } from "./voice-cleanup-job.ts";

/** Timers that a test lets run; each run waits until the next is set. */
class OneTimer implements Timers {
	readonly delays: number[] = [];
	#action: (() => void) | null = null;
	#set: () => void = () => {};

	after(delayMs: number, action: () => void): () => void {
		this.delays.push(delayMs);
		this.#action = action;
		this.#set();
		return () => {
			this.#action = null;
		};
	}

	get waits(): boolean {
		return this.#action !== null;
	}

	async run(): Promise<number> {
		const next = new Promise<void>((resolve) => {
			this.#set = resolve;
		});
		this.#action?.();
		await next;
		return this.delays.at(-1) ?? 0;
	}
}

test("expired voices leave step by step, live ones stay; a store that is away ends nothing; a stop does", async () => {
	const books = new StoreFolder();
	const admin = books.admin();
	const nowMs = 1_728_000_000_000;
	for (let index = 0; index < 25; index++) {
		const id = `vv_${index}`;
		await runOperation(admin, "storeVoicePart", { voiceId: id, part: 0, body: new Uint8Array([1]), nowMs });
		const voice = {
			id,
			owner: "acc_a",
			modelId: "m",
			sampleFormat: "wav",
			sampleBytes: 1,
			slidingMs: 0,
			createdAtMs: nowMs,
			expiresAtMs: index === 0 ? nowMs + 10_000 : nowMs + 1_000,
		};
		await runOperation(admin, "createVoice", { voice, atMost: 100, nowMs });
	}
	let away = true;
	const store: VoiceCleanupJobDeps["store"] = {
		admin: (name, input) => (away ? Promise.reject(new Error("away")) : runOperation(admin, name, input)),
	};
	const timers = new OneTimer();
	const sweep = new VoiceCleanupJob({
		store,
		clock: { wallMs: () => nowMs + 5_000 },
		timers,
		registry: { orphaned: () => Promise.resolve([]), confirmDeleted: () => Promise.resolve() },
		upstreams: { deleteVoice: () => Promise.resolve() },
	});
	const left = async () => (await admin.db.selectFrom("voice_sample_parts").select("voice_id").execute()).length;
	expect(await timers.run()).toBe(60_000);
	away = false;
	expect([await timers.run(), await left()]).toEqual([1_000, 5]);
	expect([await timers.run(), await left()]).toEqual([60_000, 1]);
	expect((await admin.db.selectFrom("voices").select("id").execute()).map(({ id }) => id)).toEqual(["vv_0"]);
	sweep.stop();
	expect(timers.waits).toBe(false);
	await books.remove();
});

test("what upstreams keep of voices that are gone is taken back, at once where one was deleted, and again where that fails", async () => {
	const waiting: OrphanedVoice[] = ["one", "two"].map((name) => ({ voiceId: `vv_${name}`, upstream: "labs", name, claim: "c" }));
	const tookBack: string[] = [];
	let refuses = "two";
	const timers = new OneTimer();
	const sweep = new VoiceCleanupJob({
		store: { admin: () => Promise.resolve({ more: false }) as never },
		clock: { wallMs: () => 0 },
		timers,
		registry: {
			orphaned: () => Promise.resolve(waiting.filter(({ name }) => !tookBack.includes(name))),
			confirmDeleted: async ({ name }) => void tookBack.push(name),
		},
		upstreams: {
			deleteVoice: (_, name) => (name === refuses ? Promise.reject(new Error("away")) : Promise.resolve()),
		},
	});
	sweep.soon();
	expect(timers.delays).toEqual([60_000, 0]);
	expect([await timers.run(), tookBack]).toEqual([60_000, ["one"]]);
	refuses = "";
	expect([await timers.run(), tookBack]).toEqual([60_000, ["one", "two"]]);
	sweep.stop();
	sweep.soon();
	expect(timers.waits).toBe(false);
});
