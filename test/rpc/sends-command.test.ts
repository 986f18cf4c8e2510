import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { openStore } from "../../src/store/index.ts";
import { StoreFolder } from "../../src/store/testing/store-folder.ts";

const CLI = join(import.meta.dir, "..", "..", "src", "main.ts");
const HASH = (digit: string) => `0x${digit.repeat(64)}`;
const at = (text: string) => Date.parse(text);

let books: StoreFolder;

async function sends(...flags: string[]): Promise<{ code: number; out: string; err: string }> {
	const child = Bun.spawn([process.execPath, CLI, "rpc", "sends", "--data", books.dir, ...flags], {
		stdout: "pipe",
		stderr: "pipe",
	});
	const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
	return { code: await child.exited, out, err };
}

async function found(...flags: string[]): Promise<string[]> {
	const { out } = await sends("--json", ...flags);
	return (JSON.parse(out) as { requestId: string; item: number }[]).map(({ requestId, item }) => `${requestId}/${item}`);
}

beforeAll(async () => {
	books = new StoreFolder();
	const accountId = await books.account();
	const { store, journal } = await openStore({ dataDir: books.dir, journal: { minFreeDiskBytes: 0 } });
	const send = { t: "send", accountId, method: "eth_sendRawTransaction" } as const;
	const base = { ...send, network: "base-mainnet", keyId: "key-1" };
	const polygon = { ...send, network: "polygon-mainnet", keyId: "key-2" };
	void journal.append({
		...base,
		requestId: "r1",
		item: 0,
		rawHash: HASH("a"),
		txHash: HASH("b"),
		atMs: at("2026-03-01T10:00:00Z"),
	});
	void journal.append({
		...base,
		requestId: "r1",
		item: 1,
		rawHash: HASH("c"),
		txHash: HASH("c"),
		atMs: at("2026-03-01T10:00:00Z"),
	});
	void journal.append({
		...polygon,
		requestId: "r2",
		item: 0,
		rawHash: HASH("d"),
		txHash: HASH("d"),
		atMs: at("2026-03-02T00:00:00Z"),
	});
	await journal.append({
		t: "send-end",
		requestId: "r1",
		item: 0,
		outcome: "accepted",
		txHash: null,
		atMs: at("2026-03-01T10:00:01Z"),
	});
	await store.close();
});

afterAll(() => books.remove());

test("sends are found by hash, network, key and time, newest first", async () => {
	expect(await found()).toEqual(["r2/0", "r1/1", "r1/0"]);
	expect(await found("--hash", HASH("A"))).toEqual(["r1/0"]);
	expect(await found("--hash", HASH("b"))).toEqual(["r1/0"]);
	expect(await found("--network", "base-mainnet")).toEqual(["r1/1", "r1/0"]);
	expect(await found("--key", "key-2")).toEqual(["r2/0"]);
	expect(await found("--since", "2026-03-02")).toEqual(["r2/0"]);
	expect(await found("--limit", "2")).toEqual(["r2/0", "r1/1"]);
	expect(await found("--network", "base-mainnet", "--key", "key-2")).toEqual([]);
});

test("a send is told with its hashes, its time and what came of it", async () => {
	const { out } = await sends("--json", "--hash", HASH("a"));
	expect(JSON.parse(out)).toEqual([
		{
			requestId: "r1",
			item: 0,
			accountId: expect.stringMatching(/^acc_/),
			keyId: "key-1",
			network: "base-mainnet",
			method: "eth_sendRawTransaction",
			rawHash: HASH("a"),
			txHash: HASH("b"),
			sentAt: "2026-03-01T10:00:00.000Z",
			outcome: "accepted",
			endedAt: "2026-03-01T10:00:01.000Z",
		},
	]);
	const table = (await sends()).out.split("\n");
	expect(table[0]).toMatch(/^SENT +NETWORK +METHOD +TX HASH +OUTCOME +KEY +REQUEST$/);
	expect(table[2]).toContain("unknown");
});

test("what is no hash, instant or number is refused with a sentence", async () => {
	for (const [flag, value] of [
		["--hash", "abc"],
		["--since", "yesterday"],
		["--limit", "0"],
		["--limit", "100000"],
		["--limit", "1e3"],
	] as const) {
		const { code, err, out } = await sends(flag, value);
		expect([code, out]).toEqual([1, ""]);
		expect(err).toContain(flag);
	}
});
