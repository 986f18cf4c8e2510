/** What voices that callers brought promise on every store. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { createAccount } from "../admin/accounts.ts";
import { eraseAccount } from "../admin/erase-account.ts";
import { runOperation } from "../admin/operations.ts";
import type { StoredVoice } from "../admin/voices/voice-row.ts";
import { AdminError, type AdminStore } from "../admin.ts";
import type { BooksFolder } from "./books-folder.ts";

const DAY = 86_400_000;

/** Defines the tests; each gets books of its own. */
export function testVoices(open: () => Promise<BooksFolder>): void {
	let books: BooksFolder;
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
		upstreamVoices: {},
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
		const made = voice("vv_1", { upstreamVoices: { up: "their-name" } });
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
