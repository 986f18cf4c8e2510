/** What survives a kill -9, on any store. */
import { afterEach, expect, test } from "bun:test";
import { join } from "node:path";
import { openStore } from "../index.ts";
import type { StoreFolder } from "./store-folder.ts";

const ROUNDS = 10;
const WRITER = join(import.meta.dir, "crash-writer.ts");
/** Returns numbers of a seed, 0 to 1: TURNPIKE_TEST_SEED repeats a failing run. */
function seeded(seed: number): () => number {
	let state = seed >>> 0;
	return () => {
		state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
		return state / 0x1_0000_0000;
	};
}

interface Life {
	readonly durability: string;
	/** Where its lifetime begins: at its start, or when it began to post. */
	readonly from: "start" | "ready";
	readonly ms: number;
}

/** Runs the writer for its lifetime, kills it, and returns what it acknowledged. */
async function runAndKill(books: StoreFolder, accountId: string, first: number, life: Life): Promise<string[]> {
	const args = [books.dir, accountId, String(first), life.durability, books.postgres ?? ""];
	const child = Bun.spawn([process.execPath, WRITER, ...args], {
		stdout: "pipe",
		stderr: "inherit",
	});
	let doomed = false;
	const doom = () => {
		if (!doomed) setTimeout(() => child.kill("SIGKILL"), life.ms);
		doomed = true;
	};
	if (life.from === "start") doom();
	const decoder = new TextDecoder();
	let output = "";
	for await (const chunk of child.stdout) {
		output += decoder.decode(chunk, { stream: true });
		if (output.includes("ready\n")) doom();
	}
	expect(await child.exited).toBe(137);
	// The last line may be cut: an incomplete line is no acknowledgement.
	return output.split("\n").slice(1, -1);
}

/** Defines the test on the given books. */
export function testCrashes(createStore: () => StoreFolder | Promise<StoreFolder>): void {
	let folder: StoreFolder | null = null;

	afterEach(async () => {
		await folder?.remove();
	});

	test("a kill -9 at any moment loses no acknowledged post and books none twice", async () => {
		const seed = Number(process.env.TURNPIKE_TEST_SEED ?? Date.now() % 1_000_000);
		const random = seeded(seed);
		const books = await createStore();
		folder = books;
		const accountId = await books.account("1000");
		const admin = books.admin();
		const acknowledged = new Set<string>();
		for (let round = 0; round < ROUNDS; round++) {
			const ids = await runAndKill(books, accountId, (round + 1) * 1_000_000, {
				durability: ["process", "process", "power", "store"][round % 4] ?? "process",
				from: round % 5 === 4 ? "start" : "ready",
				ms: Math.floor(random() * 300),
			});
			for (const id of ids) acknowledged.add(id);
			const { store, lostTail } = await openStore({
				dataDir: books.dir,
				postgres: books.postgres,
				journal: { minFreeDiskBytes: 0 },
			});
			expect(lostTail).toBeNull();
			await store.close();
			const posts = await admin.db.selectFrom("posts").select("request_id").execute();
			const booked = new Set(posts.map((post) => post.request_id));
			const missing = [...acknowledged].filter((id) => !booked.has(id));
			expect({ seed, round, missing, twice: posts.length - booked.size }).toEqual({ seed, round, missing: [], twice: 0 });
			const { ok, findings } = await books.audit();
			expect({ seed, round, ok, findings }).toEqual({ seed, round, ok: true, findings: [] });
			const leased = await admin.db.selectFrom("leases").selectAll().execute();
			expect(leased).toEqual([]);
		}
		expect(acknowledged.size).toBeGreaterThan(ROUNDS);
	});
}
