/** Stored answers and sends survive a kill -9, on any store. */
import { afterEach, expect, test } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { answersFolder } from "../../store/data-folder.ts";
import type { StoreFolder } from "../../store/testing/store-folder.ts";
import { bodyOf, createTestKey, fingerprintOf, RpcNode, ticketOf } from "./rpc-node.ts";

const ROUNDS = 6;
const WRITER = join(import.meta.dir, "rpc-crash-writer.ts");
const DURABILITIES = ["process", "power", "store"] as const;

/** Runs the writer until it has printed `lines` lines, and kills it; returns its complete lines. */
async function runAndKill(books: StoreFolder, hash: string, round: number, lines: number): Promise<string[]> {
	const durability = DURABILITIES[round % DURABILITIES.length] ?? "process";
	const args = [books.dir, hash, String((round + 1) * 1_000_000), durability, books.postgres ?? ""];
	const child = Bun.spawn([process.execPath, WRITER, ...args], { stdout: "pipe", stderr: "inherit" });
	const decoder = new TextDecoder();
	let output = "";
	for await (const chunk of child.stdout) {
		output += decoder.decode(chunk, { stream: true });
		if (output.split("\n").length > lines) child.kill("SIGKILL");
	}
	expect(await child.exited).toBe(137);
	return output.split("\n").slice(1, -1);
}

/** Defines the test on the given books. */
export function testRpcCrashes(createStore: () => StoreFolder | Promise<StoreFolder>): void {
	let folder: StoreFolder | null = null;

	afterEach(async () => {
		await folder?.remove();
	});

	test("after a kill -9 at any moment a charge and its kept answer are both there, or neither", async () => {
		const seed = Number(process.env.TURNPIKE_TEST_SEED ?? Date.now() % 1_000_000);
		const books = await createStore();
		folder = books;
		const { hash } = await createTestKey(books, await books.account("1000"));
		const { db } = books.admin();
		for (let round = 0; round < ROUNDS; round++) {
			const told = await runAndKill(books, hash, round, 3 + ((seed * (round + 7)) % 60));
			const numbers = (word: string) =>
				told.filter((line) => line.startsWith(`${word} `)).map((line) => Number(line.split(" ")[1]));
			const node = await RpcNode.open(books);
			try {
				const caller = await node.caller(hash);
				const answers = await db.selectFrom("idempotency_answers").select(["note", "known"]).execute();
				const kept = answers.filter(({ known }) => known === 1n).map(({ note }) => note);
				const posts = (await db.selectFrom("posts").select("request_id").execute()).map((post) => post.request_id);
				expect({ seed, round, kept: kept.toSorted() }).toEqual({ seed, round, kept: posts.toSorted() });
				for (const number of numbers("key")) {
					const claim = await node.idempotency.claim(caller, `k${number}`, fingerprintOf(`${number}`));
					const whole = claim.kind === "replay" && Buffer.from(claim.answer.body).equals(bodyOf(number));
					expect({ seed, round, number, kind: claim.kind, whole }).toEqual({ seed, round, number, kind: "replay", whole: true });
				}
				for (const number of numbers("unknown")) {
					const claim = await node.idempotency.claim(caller, `k${number}`, fingerprintOf(`${number}`));
					expect({ seed, round, number, kind: claim.kind }).toEqual({ seed, round, number, kind: "unknown" });
					ticketOf(claim).release();
				}
				const ended = new Set([...numbers("key"), ...numbers("unknown")]);
				for (const number of numbers("send").filter((begun) => !ended.has(begun))) {
					const claim = await node.idempotency.claim(caller, `k${number}`, fingerprintOf(`${number}`));
					expect(["fresh", "replay", "unknown"]).toContain(claim.kind);
					if (claim.kind !== "replay") ticketOf(claim).release();
				}
				const sends = await db.selectFrom("rpc_sends").select("raw_hash").execute();
				const audited = new Set(sends.map((send) => send.raw_hash));
				expect(numbers("send").filter((number) => !audited.has(`0x${number}`))).toEqual([]);
				await node.sweep.sweep();
				expect((await db.selectFrom("rejected").select("error").execute()).length).toBe(0);
			} finally {
				await node.close();
			}
			const files = existsSync(answersFolder(books.dir)) ? readdirSync(answersFolder(books.dir)) : [];
			const named = await db.selectFrom("idempotency_answers").select("file").where("file", "is not", null).execute();
			const expected = books.postgres === undefined ? named.map(({ file }) => file ?? "") : [];
			expect({ seed, round, files: files.toSorted() }).toEqual({ seed, round, files: expected.toSorted() });
			const { ok, findings } = await books.audit();
			expect({ seed, round, ok, findings }).toEqual({ seed, round, ok: true, findings: [] });
		}
	}, 120_000);
}
