import { afterEach, describe, expect, test } from "bun:test";
import { closeSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { GROUP_HEADER_BYTES, groupBytes, peekGroup } from "./group.ts";
import { JournalCorruptError, JournalReader, type LostTail, openJournal } from "./index.ts";
import { SEGMENT_HEADER_BYTES } from "./segment.ts";
import { requestId, samplePost } from "./testing/sample-records.ts";

const NODE = "node_test";
const SMALL = 64 * 1024;
const OTHER_BOOT = "f".repeat(32);
const folders: string[] = [];

afterEach(() => {
	for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function createFolder(): string {
	const folder = mkdtempSync(join(tmpdir(), "turnpike-reader-"));
	folders.push(folder);
	return folder;
}

/** Writes one record per group; resolves with the segment files. */
async function write(dir: string, count: number, options: { nextSeq?: number; epoch?: number; durability?: "power" } = {}) {
	const start = { nodeId: NODE, epoch: options.epoch ?? 1, nextSeq: options.nextSeq ?? 1 };
	const durability = options.durability ?? "process";
	const journal = await openJournal({ dir, start, durability, minFreeDiskBytes: 0, segmentBytes: SMALL, syncEveryMs: 3_600_000 });
	for (let number = 0; number < count; number++) await journal.append(samplePost(requestId(start.nextSeq + number), "acc_a"));
	await journal.close();
}

interface Reading {
	readonly seqs: number[];
	readonly lostTail: LostTail | null;
	readonly error: unknown;
}

function read(dir: string, nextSeq = 1, boot?: string): Reading {
	const reader = new JournalReader({ dir, nodeId: NODE, nextSeq, ...(boot ? { boot } : {}) });
	const seqs: number[] = [];
	try {
		for (const group of reader.readRest()) seqs.push(group.seq);
		return { seqs, lostTail: reader.lostTail, error: null };
	} catch (error) {
		return { seqs, lostTail: null, error };
	} finally {
		reader.close();
	}
}

/** Returns the byte offsets of the groups of a segment, and the end of the last one. */
function groupOffsets(file: string): number[] {
	const bytes = readFileSync(file);
	const offsets = [SEGMENT_HEADER_BYTES];
	for (let at = SEGMENT_HEADER_BYTES; ; ) {
		const header = peekGroup(bytes, at);
		if (header === null) return offsets;
		at += groupBytes(header.payloadBytes);
		offsets.push(at);
	}
}

function patch(file: string, offset: number, bytes: Uint8Array): void {
	const fd = openSync(file, "r+");
	writeSync(fd, bytes, 0, bytes.length, offset);
	closeSync(fd);
}

const segment = (dir: string, number: number) => join(dir, `${String(number).padStart(10, "0")}.seg`);
const upTo = (last: number, first = 1) => Array.from({ length: last - first + 1 }, (_, index) => first + index);

describe("a torn end", () => {
	test("at every byte of the last group ends the reading before that group, without a fault", async () => {
		const dir = createFolder();
		await write(dir, 3);
		const whole = readFileSync(segment(dir, 1));
		const [, , lastAt = 0, end = 0] = groupOffsets(segment(dir, 1));
		const payloadEnd = lastAt + GROUP_HEADER_BYTES + (peekGroup(whole, lastAt)?.payloadBytes ?? 0);
		for (let cut = lastAt; cut < payloadEnd; cut++) {
			const torn = Buffer.from(whole);
			torn.fill(0, cut);
			writeFileSync(segment(dir, 1), torn);
			expect({ cut, ...read(dir) }).toEqual({ cut, seqs: [1, 2], lostTail: null, error: null });
		}
		expect(end - payloadEnd).toBeLessThan(8);
	});

	test("over an earlier use of the segment does not bring old records back", async () => {
		const dir = createFolder();
		await write(dir, 3);
		const [, , lastAt = 0, end = 0] = groupOffsets(segment(dir, 1));
		const torn = readFileSync(segment(dir, 1));
		// A reused file has complete groups of an earlier boot and sequence behind the tear.
		const old = createFolder();
		await write(old, 3, { epoch: 0 });
		const stale = readFileSync(segment(old, 1));
		for (let cut = lastAt; cut < end; cut += 8) {
			stale.copy(torn, cut, SEGMENT_HEADER_BYTES, SEGMENT_HEADER_BYTES + (end - SEGMENT_HEADER_BYTES));
			writeFileSync(segment(dir, 1), torn);
			expect(read(dir)).toEqual({ seqs: [1, 2], lostTail: null, error: null });
		}
	});

	test("of a cut file ends the reading there", async () => {
		const dir = createFolder();
		await write(dir, 3);
		const [, , lastAt = 0] = groupOffsets(segment(dir, 1));
		writeFileSync(segment(dir, 1), readFileSync(segment(dir, 1)).subarray(0, lastAt + 10));
		expect(read(dir).seqs).toEqual([1, 2]);
	});
});

describe("damage in the middle", () => {
	test("of any byte of a group is reported with its place, and nothing behind it is read", async () => {
		const dir = createFolder();
		await write(dir, 4);
		const [, secondAt = 0, thirdAt = 0] = groupOffsets(segment(dir, 1));
		const whole = readFileSync(segment(dir, 1));
		const payloadEnd = secondAt + GROUP_HEADER_BYTES + (peekGroup(whole, secondAt)?.payloadBytes ?? 0);
		expect(payloadEnd).toBeLessThanOrEqual(thirdAt);
		for (let at = secondAt; at < payloadEnd; at += 3) {
			patch(segment(dir, 1), at, Buffer.from([(whole[at] ?? 0) ^ 0x40]));
			const { seqs, error } = read(dir);
			expect(seqs).toEqual([1]);
			expect(error).toBeInstanceOf(JournalCorruptError);
			expect((error as JournalCorruptError).fault).toEqual({
				file: segment(dir, 1),
				offset: secondAt,
				expectedSeq: 2,
				foundSeq: 3,
			});
			patch(segment(dir, 1), at, whole.subarray(at, at + 1));
		}
		expect(read(dir).seqs).toEqual([1, 2, 3, 4]);
	});

	test("that takes a whole segment is a hole", async () => {
		const dir = createFolder();
		await write(dir, 300);
		const files = readdirSync(dir).length;
		expect(files).toBeGreaterThan(3);
		rmSync(segment(dir, 2));
		expect(read(dir).error).toBeInstanceOf(JournalCorruptError);
		rmSync(segment(dir, 1));
		expect(read(dir).error).toBeInstanceOf(JournalCorruptError);
	});

	test("is no fault where the store has those groups already", async () => {
		const dir = createFolder();
		await write(dir, 300);
		rmSync(segment(dir, 1));
		expect(read(dir, 150)).toEqual({ seqs: upTo(300, 150), lostTail: null, error: null });
		expect(read(dir, 301)).toEqual({ seqs: [], lostTail: null, error: null });
	});
});

describe("after a power cut", () => {
	test("a hole in what was never synced is the end, and tells what it took", async () => {
		const dir = createFolder();
		await write(dir, 4);
		const [, secondAt = 0] = groupOffsets(segment(dir, 1));
		patch(segment(dir, 1), secondAt, Buffer.alloc(16));
		expect(read(dir, 1, OTHER_BOOT)).toEqual({
			seqs: [1],
			lostTail: { fromSeq: 2, toSeq: 4, file: segment(dir, 1), offset: secondAt },
			error: null,
		});
	});

	test("a hole in what a later group knew to be synced is damage", async () => {
		const dir = createFolder();
		await write(dir, 4, { durability: "power" });
		const [, secondAt = 0] = groupOffsets(segment(dir, 1));
		patch(segment(dir, 1), secondAt, Buffer.alloc(16));
		expect(read(dir, 1, OTHER_BOOT).error).toBeInstanceOf(JournalCorruptError);
	});

	test("what was lost is not found again behind the groups that the next boot wrote in its place", async () => {
		const dir = createFolder();
		await write(dir, 4);
		const [, secondAt = 0] = groupOffsets(segment(dir, 1));
		patch(segment(dir, 1), secondAt, Buffer.alloc(16));
		await write(dir, 3, { nextSeq: 2, epoch: 2 });
		expect(read(dir, 1, OTHER_BOOT)).toEqual({ seqs: [1, 2, 3, 4], lostTail: null, error: null });
	});

	test("that took more journal than store, the sequence goes on behind the store's", async () => {
		const dir = createFolder();
		await write(dir, 3);
		const reader = new JournalReader({ dir, nodeId: NODE, nextSeq: 11 });
		expect([...reader.readRest()]).toEqual([]);
		await write(dir, 2, { nextSeq: 11, epoch: 2 });
		expect([...reader.readTo(12)].map((group) => group.seq)).toEqual([11, 12]);
		reader.close();
	});
});

describe("a tailer", () => {
	test("reads exactly up to the sequence it is told, over segments", async () => {
		const dir = createFolder();
		await write(dir, 250);
		const reader = new JournalReader({ dir, nodeId: NODE, nextSeq: 1 });
		for (const [from, to] of [
			[1, 1],
			[2, 99],
			[100, 250],
		] as const) {
			expect([...reader.readTo(to)].map((group) => group.seq)).toEqual(upTo(to, from));
		}
		expect([...reader.readTo(250)]).toEqual([]);
		expect(() => [...reader.readTo(251)]).toThrow(JournalCorruptError);
		reader.close();
	});

	test("does not read the segments of another node", async () => {
		const dir = createFolder();
		await write(dir, 3);
		const reader = new JournalReader({ dir, nodeId: "node_other", nextSeq: 1 });
		expect([...reader.readRest()]).toEqual([]);
		expect(reader.lostTail).toBeNull();
	});
});
