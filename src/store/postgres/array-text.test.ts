import { afterAll, beforeAll, expect, test } from "bun:test";
import { SQL } from "bun";
import { type PostgresCluster, startPostgres } from "../../../test/support/postgres-cluster.ts";
import { arrayText } from "./array-text.ts";

let cluster: PostgresCluster;
let sql: SQL;

beforeAll(async () => {
	cluster = await startPostgres();
	sql = new SQL(cluster.adminUrl, { max: 1, bigint: true });
});

afterAll(async () => {
	await sql.close();
	await cluster.stop();
});

test.each([
	[["plain", "", "a,b", "{}", "NULL", "null", null, " spaces ", "é✓😀"]],
	[['a "quoted" word', "back\\slash", "new\nline", "tab\t", "\u0001", null, "'"]],
	[[]],
])("texts arrive as they are: %j", async (values) => {
	const rows = await sql.unsafe("SELECT value FROM unnest($1::text[]) WITH ORDINALITY AS t (value, place) ORDER BY place", [
		arrayText(values),
	]);
	expect([...rows].map(({ value }) => value)).toEqual(values);
});

test("whole numbers arrive as they are, also past 2^53; others are refused", async () => {
	const read = (values: (number | bigint | null)[]) => sql.unsafe("SELECT unnest($1::int8[]) AS value", [arrayText(values)]);
	expect([...(await read([0, -5, 9_007_199_254_740_991, null]))].map(({ value }) => value)).toEqual([
		0n,
		-5n,
		9_007_199_254_740_991n,
		null,
	]);
	expect([...(await read([9_007_199_254_740_993n, 1, null]))].map(({ value }) => value)).toEqual([
		9_007_199_254_740_993n,
		1n,
		null,
	]);
	expect(await read([1.5]).then(String, String)).toContain("invalid input syntax");
});
