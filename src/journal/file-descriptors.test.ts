/** A process without a free file descriptor: connections of callers may take all of them. */
import { expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Fills segments while no file can be opened, until new work is refused; then continues with files. */
const FILLER = `
import { closeSync, openSync, readdirSync } from "node:fs";
import { openJournal } from ${JSON.stringify(join(import.meta.dir, "index.ts"))};
import { requestId, samplePost } from ${JSON.stringify(join(import.meta.dir, "testing/sample-records.ts"))};
import { until } from ${JSON.stringify(join(import.meta.dir, "../../test/support/until.ts"))};
const dir = process.argv[2];
const journal = await openJournal({ dir, start: { nodeId: "node_test", epoch: 1, nextSeq: 1 }, segmentBytes: 65_536, minFreeDiskBytes: 0 });
let posts = 0;
const post = () => journal.append(samplePost(requestId(++posts), "acc_a"));
await until(() => readdirSync(dir).filter((name) => name.endsWith(".seg")).length === 9, "all spares");
const taken = [];
try {
	for (;;) taken.push(openSync("/dev/null", "r"));
} catch {}
while (journal.workRefusal() === null) await post();
console.log(journal.workRefusal().message);
for (const file of taken) closeSync(file);
await until(() => journal.workRefusal() === null, "room");
for (let more = 0; more < 1_000; more++) await post();
await journal.close();
console.log("posts", posts);
`;

test.skipIf(process.platform === "win32")(
	"a running journal opens no file that it needs at once, and says when it has no more",
	async () => {
		const folder = mkdtempSync(join(tmpdir(), "turnpike-descriptors-"));
		const script = join(folder, "filler.ts");
		writeFileSync(script, FILLER);
		const limited = ["sh", "-c", 'ulimit -n 100 && exec "$@"', "sh", process.execPath, script, join(folder, "journal")];
		const child = Bun.spawn(limited, { stdout: "pipe", stderr: "pipe", stdin: "ignore" });
		const [told, faults, code] = await Promise.all([
			new Response(child.stdout).text(),
			new Response(child.stderr).text(),
			child.exited,
		]);
		expect({ code, faults }).toEqual({ code: 0, faults: "" });
		const [refusal, posts] = told.trim().split("\n");
		expect(refusal).toContain("segment");
		expect(Number(posts?.split(" ")[1])).toBeGreaterThan(1_000);
		rmSync(folder, { recursive: true });
	},
);
