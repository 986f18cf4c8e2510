/**
 * How long the pages of a statement of five million entries take: `bun bench/long-history.ts [ENTRIES]`. Needs two
 * gigabytes of disk for a while.
 */
import { serveLongHistory, timeHistory } from "../test/support/long-history.ts";
import { machine } from "./machine.ts";

const entries = Number(process.argv[2] ?? 5_000_000);
const history = await serveLongHistory(entries);
try {
	console.log(`${entries.toLocaleString("en")} entries, one account; ${JSON.stringify(machine())}`);
	console.log("| Page of 200 entries | ms, median of 9 | fastest |\n|---|---|---|");
	for (const page of (await timeHistory(history)).flat())
		console.log(`| ${page.name} | ${page.medianMs.toFixed(1)} | ${page.fastestMs.toFixed(1)} |`);
} finally {
	history.server.remove();
}
