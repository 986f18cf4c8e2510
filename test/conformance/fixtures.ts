/** Fixtures of the execution API: README.md beside this file. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

export const CHAIN_FOLDER = join(import.meta.dir, "execution-apis");

export interface Fixture {
	/** `eth_call/call-contract.io` */
	readonly name: string;
	readonly method: string;
	/** Only the shape of the response counts. */
	readonly specOnly: boolean;
	readonly exchanges: readonly { readonly request: string; readonly response: string }[];
}

export function fixtures(): Fixture[] {
	const files = readdirSync(CHAIN_FOLDER, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".io"));
	return files.map((file) => readFixture(file.replaceAll("\\", "/"))).toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

function readFixture(name: string): Fixture {
	const lines = readFileSync(join(CHAIN_FOLDER, name), "utf8").split("\n");
	const begins = (mark: string) => lines.filter((line) => line.startsWith(mark)).map((line) => line.slice(mark.length).trim());
	const responses = begins("<<");
	const exchanges = begins(">>").map((request, index) => ({ request, response: responses[index] ?? "" }));
	return {
		name,
		method: name.slice(0, name.indexOf("/")),
		specOnly: begins("//").some((line) => line.includes("speconly")),
		exchanges,
	};
}

/** True where a response is what a fixture expects: results exactly, errors by code, the shape alone where it says so. */
export function isAsExpected(fixture: Fixture, expected: string, got: string): boolean {
	const [want, have] = [JSON.parse(expected), JSON.parse(got)] as Record<string, unknown>[];
	if (want === undefined || have === undefined) return false;
	if ("error" in want) return (want.error as { code: number }).code === (have.error as { code: number } | undefined)?.code;
	if (!("result" in have)) return false;
	return fixture.specOnly ? typeof want.result === typeof have.result : Bun.deepEquals(want.result, have.result, true);
}
