/** How long the pages of a long statement take, over HTTP on a server in a process of its own. */
import { generateSecretKey, keyHash } from "../../src/access/index.ts";
import { createKey, openAdmin } from "../../src/store/admin.ts";
import { type LongStatement, writeLongStatement } from "../../src/store/testing/long-statement.ts";
import { type Served, serve, temporaryFolder } from "./served.ts";

export interface LongHistory {
	readonly statement: LongStatement;
	readonly server: Served;
	/** ADMIN key of the account with the long statement. */
	readonly key: string;
}

/** A server whose first account has so many charges, tens of thousands a day. */
export async function serveLongHistory(entries: number): Promise<LongHistory> {
	const dataDir = temporaryFolder();
	const statement = await writeLongStatement(dataDir, entries);
	const key = generateSecretKey("ADMIN");
	const admin = openAdmin(dataDir);
	await createKey(admin, { accountId: statement.accountId, type: "ADMIN", hash: keyHash(key), last6: key.slice(-6) });
	await admin.close();
	const server = await serve({ dataDir, config: { limits: { listRequestsPerMinute: 1_000_000 } } });
	if (!(await fetch(`${server.url}/readyz`).catch(() => null))?.ok)
		throw new Error(`the server did not start: ${server.stderr()}`);
	return { statement, server, key };
}

export interface TimedPage {
	readonly name: string;
	readonly entries: number;
	/** Milliseconds, of some requests: the one in the middle, and the fastest, which tells most on a busy machine. */
	readonly medianMs: number;
	readonly fastestMs: number;
}

/** GETs a page some times, and says how long it took. */
async function timePage({ server, key }: LongHistory, name: string, path: string, times = 9): Promise<TimedPage> {
	const took: number[] = [];
	let entries = 0;
	for (let time = 0; time < times; time++) {
		const start = performance.now();
		const answer = await fetch(`${server.url}/api/v1/billing${path}`, { headers: { authorization: `Bearer ${key}` } });
		const text = await answer.text();
		took.push(performance.now() - start);
		if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${text.slice(0, 200)}`);
		entries = (JSON.parse(text) as { data: unknown[] }).data.length;
	}
	took.sort((a, b) => a - b);
	return { name, entries, medianMs: took[Math.floor(times / 2)] ?? 0, fastestMs: took[0] ?? 0 };
}

/** First, middle and last pages of each list, with and without filters. */
export async function timeHistory(history: LongHistory): Promise<TimedPage[][]> {
	const { entries, firstDay } = history.statement;
	const at = (day: number, suffix: string) => new Date((firstDay + day) * 86_400_000).toISOString().slice(0, 10) + suffix;
	const days = Math.floor(entries / 2 / 86_400);
	const groups: TimedPage[][] = [];
	for (const [name, query, total] of [
		["newest first", "", entries],
		["oldest first", "&sortOrder=asc", entries],
		["one currency of two", "&currency=BUNDLED_CREDITS", entries / 10],
		["a range of days", `&startDate=${at(1, "T00:00:00Z")}&endDate=${at(days - 1, "T23:59:59Z")}`, (days - 1) * 172_800],
	] as const) {
		const pages = Math.floor(total / 200);
		const group: TimedPage[] = [];
		for (const [which, page] of [
			["first", 1],
			["middle", Math.floor(pages / 2)],
			["last full", pages - 1],
		] as const)
			group.push(await timePage(history, `usage, ${name}, ${which} page`, `/usage?page=${page}${query}`));
		groups.push(group);
	}
	const starts = [
		"",
		`&startTimestamp=${at(Math.floor(days / 2), "T12:00:00Z")}`,
		`&startTimestamp=${at(days - 1, "T12:00:00Z")}`,
	];
	const group: TimedPage[] = [];
	for (const [index, start] of starts.entries())
		group.push(
			await timePage(
				history,
				`usage-history, ${["from the start", "from the middle", "near the end"][index]}`,
				`/usage-history?pageSize=200${start}`,
			),
		);
	groups.push(group);
	return groups;
}
