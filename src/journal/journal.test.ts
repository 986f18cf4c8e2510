import { afterEach, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { until } from "../../test/support/until.ts";
import { type JournalOptions, JournalReader, JournalRecordTooLargeError, type JournalWriter, openJournal } from "./index.ts";
import type { JournalRecord, PostRecord } from "./records.ts";
import { requestId, samplePost } from "./testing/sample-records.ts";

const NODE = "node_test";
const SMALL = 64 * 1024;
const folders: string[] = [];

afterEach(() => {
	for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function createFolder(): string {
	const folder = mkdtempSync(join(tmpdir(), "turnpike-journal-"));
	folders.push(folder);
	return folder;
}

function open(dir: string, options: Partial<JournalOptions> = {}, nextSeq = 1, epoch = 1): Promise<JournalWriter> {
	const start = { nodeId: NODE, epoch, nextSeq };
	const onFatal = (error: Error) => {
		throw error;
	};
	return openJournal({ dir, start, minFreeDiskBytes: 0, segmentBytes: SMALL, onFatal, ...options });
}

function readAll(dir: string, nextSeq = 1): { seq: number; records: JournalRecord[] }[] {
	const reader = new JournalReader({ dir, nodeId: NODE, nextSeq });
	const groups = [...reader.readRest()].map((group) => ({
		seq: group.seq,
		records: group.records.map((text) => JSON.parse(text) as JournalRecord),
	}));
	reader.close();
	return groups;
}

const idsOf = (groups: { records: JournalRecord[] }[]) =>
	groups.flatMap((group) => group.records.map((record) => (record as PostRecord).id));

const post = (number: number, changes: Partial<PostRecord> = {}) => samplePost(requestId(number), "acc_a", changes);

describe("the writer", () => {
	test("writes all records of one turn of the event loop as one group", async () => {
		const dir = createFolder();
		const journal = await open(dir);
		await Promise.all([1, 2, 3].map((number) => journal.append(post(number))));
		await journal.append(post(4));
		await journal.close();
		const groups = readAll(dir);
		expect(groups.map((group) => [group.seq, group.records.length])).toEqual([
			[1, 3],
			[2, 1],
		]);
		expect(groups[0]?.records[0]).toEqual(post(1));
	});

	test("counts a group that is being gathered as written, and flush makes it so", async () => {
		const dir = createFolder();
		const journal = await open(dir);
		expect([journal.writtenSeq, journal.flushedSeq]).toEqual([0, 0]);
		const first = journal.append(post(1));
		expect([journal.writtenSeq, journal.flushedSeq]).toEqual([1, 0]);
		journal.flush();
		expect([journal.writtenSeq, journal.flushedSeq]).toEqual([1, 1]);
		expect(idsOf(readAll(dir))).toEqual([requestId(1)]);
		const second = journal.append(post(2));
		expect(journal.writtenSeq).toBe(2);
		await Promise.all([first, second]);
		await journal.close();
	});

	test("keeps text of every kind byte for byte, also where it is as long as a group may be", async () => {
		const dir = createFolder();
		const journal = await open(dir);
		const models = ["ünïcödé 模型 🚪", 'quote " back \\ newline \n', "\u2028\u0000", "🚪".repeat(14_000), "a".repeat(60_000)];
		for (const [number, model] of models.entries()) await journal.append(post(number, { model }));
		await journal.close();
		expect(readAll(dir).flatMap((group) => group.records.map((record) => (record as PostRecord).model))).toEqual(models);
	});

	test("refuses a record that no group can hold, and goes on", async () => {
		const dir = createFolder();
		const journal = await open(dir);
		expect(() => journal.append(post(1, { model: "a".repeat(SMALL) }))).toThrow(JournalRecordTooLargeError);
		await journal.append(post(2));
		await journal.close();
		expect(idsOf(readAll(dir))).toEqual([requestId(2)]);
	});

	test("spreads a turn that passes a group over several, and groups over segments, in order", async () => {
		const dir = createFolder();
		const journal = await open(dir);
		const numbers = Array.from({ length: 1_500 }, (_, number) => number);
		await Promise.all(numbers.map((number) => journal.append(post(number))));
		await journal.close();
		const groups = readAll(dir);
		expect(groups.length).toBeGreaterThan(10);
		expect(groups.map((group) => group.seq)).toEqual(groups.map((_, index) => index + 1));
		expect(idsOf(groups)).toEqual(numbers.map(requestId));
	});

	test("takes no record after its close", async () => {
		const journal = await open(createFolder());
		await journal.close();
		expect(() => journal.append(post(1))).toThrow("closed");
		expect(journal.workRefusal()?.reason).toBe("closing");
		await journal.close();
	});

	test("ends through onFatal where a segment cannot be written, and the append rejects", async () => {
		const dir = createFolder();
		const faults: Error[] = [];
		const journal = await open(dir, { onFatal: (error) => faults.push(error) });
		rmSync(dir, { recursive: true });
		const outcomes = Array.from({ length: 300 }, (_, number) => number).map((number) => {
			try {
				return journal.append(post(number)).then(
					() => "durable",
					() => "rejected",
				);
			} catch {
				return "refused";
			}
		});
		const settled = await Promise.all(outcomes);
		expect(faults.length).toBe(1);
		expect(settled).toContain("rejected");
		expect(settled.at(-1)).toBe("refused");
		expect(journal.workRefusal()?.reason).toBe("closing");
	});
});

describe("durability", () => {
	test("of kind power resolves after a sync that covers the group", async () => {
		const dir = createFolder();
		const journal = await open(dir, { durability: "power" });
		await Promise.all(Array.from({ length: 50 }, (_, number) => journal.append(post(number))));
		await journal.append(post(50));
		await journal.close();
		expect(idsOf(readAll(dir)).length).toBe(51);
	});

	test("of kind store resolves when the store has applied the group", async () => {
		const journal = await open(createFolder(), { durability: "store" });
		let answered = false;
		const appended = journal.append(post(1)).then(() => {
			answered = true;
		});
		journal.flush();
		for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));
		expect(answered).toBe(false);
		journal.progress({ appliedSeq: 1, position: { segment: 1, offset: 64 }, checkpointedSeq: 0, failing: false });
		await appended;
		await journal.close();
	});

	test("of kind store answers as power during an outage, and takes no new work after the grace", async () => {
		let nowMs = 0;
		const journal = await open(createFolder(), { durability: "store", graceMs: 30_000, monotonicMs: () => nowMs });
		journal.progress({ appliedSeq: 0, position: { segment: 1, offset: 64 }, checkpointedSeq: 0, failing: true });
		await journal.append(post(1));
		nowMs = 30_000;
		expect(journal.workRefusal()).toBeNull();
		nowMs = 30_001;
		expect(journal.workRefusal()?.reason).toBe("grace");
		await journal.append(post(2));
		journal.progress({ appliedSeq: 2, position: { segment: 1, offset: 64 }, checkpointedSeq: 0, failing: false });
		expect(journal.workRefusal()).toBeNull();
		await journal.close();
	});
});

describe("room", () => {
	test("is there on a fresh journal", async () => {
		const journal = await open(createFolder());
		expect(journal.workRefusal()).toBeNull();
		await journal.close();
	});

	test("ends where the disk is nearly full, while running requests still post", async () => {
		const journal = await open(createFolder(), { minFreeDiskBytes: Number.MAX_SAFE_INTEGER });
		expect(journal.workRefusal()?.reason).toBe("disk");
		await journal.append(post(1));
		await journal.close();
	});

	test("ends where the store is too far behind, and is back when it has caught up", async () => {
		const journal = await open(createFolder(), { maxBacklogBytes: 100_000 });
		for (let number = 0; journal.backlogBytes <= 100_000; number++) await journal.append(post(number));
		await until(() => journal.workRefusal()?.reason === "backlog");
		const appliedSeq = journal.writtenSeq;
		journal.progress({ appliedSeq, position: { segment: 1, offset: 64 }, checkpointedSeq: 0, failing: false });
		expect(journal.backlogBytes).toBe(0);
		expect(journal.workRefusal()).toBeNull();
		await journal.close();
	});
});

describe("segments", () => {
	test("have spares ahead, filled to their size; a next boot takes them over", async () => {
		const dir = createFolder();
		const sizes = () => readdirSync(dir).map((name) => Bun.file(join(dir, name)).size);
		const journal = await open(dir);
		expect(sizes().length).toBeGreaterThanOrEqual(2);
		await until(() => sizes().filter((size) => size === SMALL).length === 9);
		await journal.close();
		const next = await open(dir, {}, 1, 2);
		await until(() => sizes().length === 9 || sizes().length === 10);
		await next.append(post(1));
		await next.close();
		expect(idsOf(readAll(dir))).toEqual([requestId(1)]);
	});

	test("are ready under a load that fills one after the other: nobody is turned away", async () => {
		const dir = createFolder();
		const journal = await open(dir, { keepBytes: 20 * SMALL });
		const refused = new Set<string>();
		let number = 0;
		for (let turn = 0; turn < 1_000; turn++) {
			const posts = Array.from({ length: 20 }, () => {
				const room = journal.workRefusal();
				if (room !== null) refused.add(room.reason);
				return journal.append(post(number++));
			});
			await Promise.all(posts);
			const seq = journal.writtenSeq;
			const position = { segment: 1, offset: 64 };
			journal.progress({ appliedSeq: seq, position, checkpointedSeq: Math.max(0, seq - 50), failing: false });
		}
		expect([...refused]).toEqual([]);
		await journal.close();
		const groups = readAll(dir, journal.writtenSeq - 49);
		expect(idsOf(groups)).toEqual(Array.from({ length: 1_000 }, (_, index) => requestId(number - 1_000 + index)));
	});

	test("that cannot be made turn new requests away once the spares are used, while running ones post; and then are made", async () => {
		const dir = createFolder();
		const journal = await open(dir);
		await until(() => readdirSync(dir).filter((name) => name.endsWith(".seg")).length === 9);
		for (const name of ["spare.tmp", "burst.tmp"]) mkdirSync(join(dir, name));
		let number = 0;
		while (journal.workRefusal() === null) await journal.append(post(number++));
		expect(journal.workRefusal()?.reason).toBe("segment");
		// The last one is fresh: half of it is more than these.
		const running = Array.from({ length: 20 }, () => journal.append(post(number++)));
		await Promise.all(running);
		for (const name of ["spare.tmp", "burst.tmp"]) rmdirSync(join(dir, name));
		await until(() => journal.workRefusal() === null);
		await journal.append(post(number++));
		await journal.close();
		expect(idsOf(readAll(dir))).toEqual(Array.from({ length: number }, (_, at) => requestId(at)));
	});

	test("are used again only when a checkpoint covers them, and their old records are not read", async () => {
		const dir = createFolder();
		let nowMs = 0;
		const journal = await open(dir, { keepMs: 1_000, keepBytes: 1 << 30, monotonicMs: () => nowMs });
		const writeTurns = async (from: number, to: number) => {
			for (let number = from; number < to; number++) await journal.append(post(number));
		};
		await writeTurns(0, 400);
		nowMs = 10_000;
		await writeTurns(400, 500);
		const before = readdirSync(dir).length;
		expect(before).toBeGreaterThanOrEqual(5);
		expect(existsSync(join(dir, "0000000001.seg"))).toBe(true);
		journal.progress({ appliedSeq: 500, position: { segment: 5, offset: 64 }, checkpointedSeq: 450, failing: false });
		await writeTurns(500, 2_000);
		expect(existsSync(join(dir, "0000000001.seg"))).toBe(false);
		// Uncovered ones are all there: 450 to 2,000 can be read as a whole.
		expect(idsOf(readAll(dir, 451))).toEqual(Array.from({ length: 1_550 }, (_, index) => requestId(450 + index)));
		await journal.close();
	});

	test("of an earlier boot stay readable behind a new one", async () => {
		const dir = createFolder();
		const first = await open(dir);
		for (let number = 0; number < 300; number++) await first.append(post(number));
		await first.close();
		const second = await open(dir, {}, 301, 2);
		for (let number = 300; number < 320; number++) await second.append(post(number));
		await second.close();
		expect(idsOf(readAll(dir))).toEqual(Array.from({ length: 320 }, (_, number) => requestId(number)));
		expect(idsOf(readAll(dir, 311))).toEqual(Array.from({ length: 10 }, (_, index) => requestId(310 + index)));
	});
});
