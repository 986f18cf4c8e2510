/** Reads each file some times and writes its text and the median milliseconds, as the loops of the peers do. */
import { readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { extractText } from "../src/engines/documents/extract.ts";

const [rounds = "1", out = "", ...paths] = process.argv.slice(2);
for (const path of paths) {
	const times: number[] = [];
	let text = "";
	for (let round = 0; round < Number(rounds); round += 1) {
		const startedAt = performance.now();
		text = await extractText(readFileSync(path), basename(path), { readScan: null });
		times.push(performance.now() - startedAt);
	}
	writeFileSync(join(out, `${basename(path)}.txt`), text);
	console.log(times.sort((a, b) => a - b)[times.length >> 1]);
}
