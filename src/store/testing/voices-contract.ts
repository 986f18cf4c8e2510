/** The guarantees for voices that callers brought, on every store. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { createAccount } from "../admin/accounts.ts";
import { eraseAccount } from "../admin/erase-account.ts";
import { runOperation } from "../admin/operations.ts";
import type { StoredVoice } from "../admin/voices/voice-row.ts";
import { AdminError, type AdminStore } from "../admin.ts";
import type { StoreFolder } from "./store-folder.ts";

const DAY = 86_400_000;

/** Defines the tests; each gets its own books. */
export function testVoices(open: () => Promise<StoreFolder>): void {
	let books: StoreFolder;
	let admin: AdminStore;
	const nowMs = 1_728_000_000_000;

	beforeEach(async () => {
		books = await open();
		admin = books.admin(() => nowMs);
	});
	afterEach(() => books.remove());

	const voice = (id: string, more: Partial<StoredVoice> = {}): StoredVoice => ({
		id,
		owner: "acc_a",
		modelId: "a-model",
		sampleFormat: "wav",
		sampleBytes: 3,
		slidingMs: 0,
		createdAtMs: nowMs,
		expiresAtMs: nowMs + 7 * DAY,
		...more,
	});
	const create = (made: StoredVoice, atMost = 10) => runOperation(admin, "createVoice", { voice: made, atMost, nowMs });
	const part = (voiceId: string, index: number, bytes: readonly number[], storedMs = nowMs) =>
		runOperation(admin, "storeVoicePart", { voiceId, part: index, body: new Uint8Array(bytes), nowMs: storedMs });
	const read = (voiceId: string, index: number) => runOperation(admin, "readVoicePart", { voiceId, part: index });
	const find = (id: string, owner = "acc_a", atMs = nowMs) => runOperation(admin, "findVoice", { id, owner, nowMs: atMs });

	test("a voice is found by its owner alone, and its sample comes back in parts", async () => {
		await part("vv_1", 0, [1, 2]);
		await part("vv_1", 1, [3]);
		await part("vv_1", 1, [9]);
		const made = voice("vv_1");
		await create(made);
		await create(made);
		expect(await find("vv_1")).toEqual(made);
		expect(await find("vv_1", "acc_b")).toBeNull();
		expect(await find("vv_2")).toBeNull();
		expect([...((await read("vv_1", 0)) ?? [])]).toEqual([1, 2]);
		expect([...((await read("vv_1", 1)) ?? [])]).toEqual([3]);
		expect(await read("vv_1", 2)).toBeNull();
	});

	test("a list has the live ones of its owner, newest first", async () => {
		await create(voice("vv_1"));
		await create(voice("vv_2", { createdAtMs: nowMs + 1 }));
		await create(voice("vv_3", { owner: "acc_b" }));
		await create(voice("vv_4", { expiresAtMs: nowMs }));
		const listed = await runOperation(admin, "listVoices", { owner: "acc_a", nowMs });
		expect(listed.map(({ id }) => id)).toEqual(["vv_2", "vv_1"]);
	});

	test("an owner has so many at most, of which expired ones are none", async () => {
		await create(voice("vv_1", { expiresAtMs: nowMs }), 2);
		await create(voice("vv_2"), 2);
		await create(voice("vv_3"), 2);
		const refused = await create(voice("vv_4"), 2).catch((error: unknown) => error);
		expect(refused instanceof AdminError ? refused.code : refused).toBe("CONFLICT");
		await create(voice("vv_5", { owner: "acc_b" }), 2);
	});

	test("a use moves a sliding expiry and no other, and brings none back", async () => {
		await create(voice("vv_fixed"));
		await create(voice("vv_sliding", { slidingMs: 7 * DAY, expiresAtMs: nowMs + DAY }));
		await create(voice("vv_over", { slidingMs: 7 * DAY, expiresAtMs: nowMs - 1 }));
		for (const id of ["vv_fixed", "vv_sliding", "vv_over"]) await runOperation(admin, "touchVoice", { id, nowMs: nowMs + 5 });
		expect((await find("vv_fixed"))?.expiresAtMs).toBe(nowMs + 7 * DAY);
		expect((await find("vv_sliding"))?.expiresAtMs).toBe(nowMs + 5 + 7 * DAY);
		expect(await find("vv_over")).toBeNull();
	});

	test("a voice that is deleted takes its sample with it; another's and a missing one are not", async () => {
		await part("vv_1", 0, [1]);
		await create(voice("vv_1"));
		const remove = (id: string, owner: string) => runOperation(admin, "deleteVoice", { id, owner, nowMs });
		expect(await remove("vv_1", "acc_b")).toBe(false);
		expect(await remove("vv_none", "acc_a")).toBe(false);
		expect(await remove("vv_1", "acc_a")).toBe(true);
		expect(await find("vv_1")).toBeNull();
		expect(await read("vv_1", 0)).toBeNull();
		expect(await remove("vv_1", "acc_a")).toBe(false);
	});

	test("the sweep takes what has expired, and old parts without a voice, step by step", async () => {
		for (const id of ["vv_1", "vv_2", "vv_3"]) {
			await part(id, 0, [1]);
			await create(voice(id, { expiresAtMs: id === "vv_3" ? nowMs + 1 : nowMs }));
		}
		await part("vv_stray", 0, [1], nowMs - 2 * 3_600_000);
		await part("vv_coming", 0, [1], nowMs);
		const sweep = (rows: number) => runOperation(admin, "sweepVoices", { nowMs, rows });
		expect(await sweep(1)).toEqual({ more: true });
		expect(await sweep(10)).toEqual({ more: false });
		expect(await find("vv_3")).not.toBeNull();
		const there = await Promise.all(
			["vv_1", "vv_2", "vv_3", "vv_stray", "vv_coming"].map(async (id) => (await read(id, 0)) !== null),
		);
		expect(there).toEqual([false, false, true, false, true]);
	});

	test("an upstream's voice is made by one at a time, kept once, and found by all", async () => {
		await create(voice("vv_1"));
		const key = { voiceId: "vv_1", upstream: "labs" };
		const claim = (by: string, atMs = nowMs) =>
			runOperation(admin, "claimUpstreamVoice", { ...key, claim: by, nowMs: atMs, untilMs: atMs + 1_000 });
		const states = await Promise.all(["a", "b", "c"].map((by) => claim(by)));
		expect(states.map(({ state }) => state).sort()).toEqual(["busy", "busy", "mine"]);
		// A node that takes too long loses the claim to the next, and with it the right to store the voice.
		expect(await claim("d", nowMs + 1_000)).toEqual({ state: "mine" });
		const first = ["a", "b", "c"][states.findIndex(({ state }) => state === "mine")] ?? "";
		expect(await runOperation(admin, "keepUpstreamVoice", { ...key, claim: first, name: "late" })).toBe(false);
		expect(await runOperation(admin, "keepUpstreamVoice", { ...key, claim: "d", name: "theirs" })).toBe(true);
		expect(await claim("e", nowMs + 9_000)).toEqual({ state: "there", name: "theirs" });
		expect(
			await runOperation(admin, "claimUpstreamVoice", { ...key, voiceId: "vv_2", claim: "a", nowMs, untilMs: nowMs }),
		).toEqual({
			state: "gone",
		});
		// Another upstream has another voice; one that was not created, or was forgotten, may be created again.
		expect(
			(await runOperation(admin, "claimUpstreamVoice", { ...key, upstream: "x", claim: "a", nowMs, untilMs: nowMs + 9 })).state,
		).toBe("mine");
		await runOperation(admin, "dropUpstreamVoice", { ...key, upstream: "x", claim: "a" });
		expect(
			(await runOperation(admin, "claimUpstreamVoice", { ...key, upstream: "x", claim: "b", nowMs, untilMs: nowMs + 9 })).state,
		).toBe("mine");
		expect(await runOperation(admin, "forgetUpstreamVoice", { ...key, name: "other" })).toBe(false);
		expect(await runOperation(admin, "forgetUpstreamVoice", { ...key, name: "theirs" })).toBe(true);
		expect((await claim("f")).state).toBe("mine");
	});

	test("what upstreams keep of voices that are gone is left to be taken back, by one node each", async () => {
		for (const id of ["vv_1", "vv_2", "vv_3"]) {
			await create(voice(id, { expiresAtMs: id === "vv_2" ? nowMs + 1 : nowMs + DAY }));
			const key = { voiceId: id, upstream: "labs", claim: "a" };
			await runOperation(admin, "claimUpstreamVoice", { ...key, nowMs, untilMs: nowMs + 50 });
			if (id !== "vv_3") await runOperation(admin, "keepUpstreamVoice", { ...key, name: `their ${id}` });
		}
		const take = (claim: string, atMs: number) =>
			runOperation(admin, "takeLeftVoices", { claim, nowMs: atMs, untilMs: atMs + 1_000, rows: 10 });
		expect(await take("x", nowMs)).toEqual([]);
		for (const id of ["vv_1", "vv_3"]) await runOperation(admin, "deleteVoice", { id, owner: "acc_a", nowMs });
		await runOperation(admin, "sweepVoices", { nowMs: nowMs + 1, rows: 10 });
		const [one, two] = await Promise.all([take("x", nowMs + 10), take("y", nowMs + 10)]);
		expect([...one, ...two].map(({ name }) => name).sort()).toEqual(["their vv_1", "their vv_2"]);
		const claim = one.some(({ voiceId }) => voiceId === "vv_1") ? "x" : "y";
		await runOperation(admin, "dropUpstreamVoice", { voiceId: "vv_1", upstream: "labs", claim });
		// A voice that could not be deleted at the upstream is returned again; one that was never created is removed.
		expect((await take("z", nowMs + 2_000)).map(({ name }) => name)).toEqual(["their vv_2"]);
		expect((await admin.db.selectFrom("upstream_voices").select("voice_id").execute()).map((row) => row.voice_id)).toEqual([
			"vv_2",
		]);
	});

	test("an account that is erased leaves no voice and no sample", async () => {
		await createAccount(admin, { name: "operator" });
		const account = await createAccount(admin, { name: "ada" });
		await part("vv_1", 0, [1]);
		await create(voice("vv_1", { owner: account.id }));
		await eraseAccount(admin, account.id);
		expect(await find("vv_1", account.id)).toBeNull();
		expect(await read("vv_1", 0)).toBeNull();
	});
}
