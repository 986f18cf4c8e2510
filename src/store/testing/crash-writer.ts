/** A process to be killed: it posts as fast as it can, and prints the acknowledged request ids. */
import { writeSync } from "node:fs";
import { requestId, samplePost } from "../../journal/testing/sample-records.ts";
import { openStore } from "../index.ts";

const [dataDir = "", accountId = "", first = "0", durability = "process", postgres = ""] = process.argv.slice(2);
const { store, journal } = await openStore({
	dataDir,
	postgres: postgres === "" ? undefined : postgres,
	journal: { segmentBytes: 256 * 1024, minFreeDiskBytes: 0, durability: durability as "process" | "power" | "store" },
});
await store.acquire({ accountId, day: 20_000, needNano: 1 as never });
writeSync(1, "ready\n");
for (let number = Number(first); ; ) {
	const turn = Array.from({ length: 1 + (number % 7) }, () => number++);
	await Promise.all(
		turn.map(async (at) => {
			// Each fifth is free, and has a record all the same.
			await journal.append(samplePost(requestId(at), accountId, at % 5 === 0 ? { lines: [] } : {}));
			writeSync(1, `${requestId(at)}\n`);
		}),
	);
}
