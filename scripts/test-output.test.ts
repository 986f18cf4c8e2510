import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const MODULE = join(import.meta.dir, "test-output.mjs");
const IMPORT = 'import { expect, test } from "bun:test";\n';

let folder = "";
beforeAll(() => {
	folder = mkdtempSync(join(tmpdir(), "turnpike-test-output-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Outcome {
	readonly counts: { readonly passed: number; readonly failed: number; readonly skipped: number };
	readonly printed: readonly string[];
	readonly finished: readonly string[];
	readonly took: Readonly<Record<string, number>>;
}

let count = 0;

/** Runs real tests in a folder of their own, and gives what the reader made of what Bun said. */
async function outcome(files: Record<string, string>): Promise<Outcome> {
	const home = mkdtempSync(join(folder, `run-${++count}-`));
	for (const [name, source] of Object.entries(files)) writeFileSync(join(home, name), IMPORT + source);
	const bun = Bun.spawn([process.execPath, "test", "--parallel=2"], {
		cwd: home,
		env: { ...process.env, NO_COLOR: "1" },
		stdout: "ignore",
		stderr: "pipe",
	});
	const said = await new Response(bun.stderr).text();
	return readBy((await bun.exited) === 0, said);
}

/** What the reader makes of a text of Bun. */
async function readBy(ok: boolean, said: string): Promise<Outcome> {
	const script = `import { testOutput } from ${JSON.stringify(MODULE)};
		import { readFileSync } from "node:fs";
		const printed = [];
		const output = testOutput((line) => printed.push(line));
		// In pieces, as a pipe brings it.
		for (const piece of readFileSync(0, "utf8").match(/[\\s\\S]{1,7}/g)) output.read(piece);
		console.log(JSON.stringify({ counts: output.counts(${ok}), printed, finished: [...output.finished.keys()].sort(), took: Object.fromEntries(output.finished) }));`;
	const reader = Bun.spawn(["node", "--input-type=module", "--eval", script], { stdin: new Blob([said]) });
	return JSON.parse(await new Response(reader.stdout).text()) as Outcome;
}

test("counts what passed and what was skipped, and shows neither", async () => {
	const { counts, printed, finished } = await outcome({
		"a.test.ts": 'test("fine", () => {}); test.skip("later", () => {}); test.todo("some day");',
		"b.test.ts": 'test("fine too", () => expect(1).toBe(1));',
	});
	expect(counts).toEqual({ passed: 2, failed: 0, skipped: 2 });
	expect(finished).toEqual(["a.test.ts", "b.test.ts"]);
	expect(printed.join("\n")).not.toMatch(/fine|later|some day|a\.test\.ts:/);
});

test("adds up how long the tests of each file took", async () => {
	const { took } = await outcome({
		"a.test.ts": 'test("one", () => Bun.sleep(20)); test("two", () => { Bun.sleepSync(20); expect(1).toBe(2); });',
		"b.test.ts": 'test("three", () => {});',
	});
	expect(took["a.test.ts"]).toBeGreaterThan(30);
	expect(Object.keys(took).sort()).toEqual(["a.test.ts", "b.test.ts"]);
	const text = "a.test.ts:\n(pass) one [20.25ms]\n(fail) two [21.50ms]\n\nb.test.ts:\n(pass) three [190.00ms]\n";
	expect((await readBy(false, text)).took).toEqual({ "a.test.ts": 41.75, "b.test.ts": 190 });
});

test("a passed test whose name goes over lines is not shown, and what follows is", async () => {
	const { counts, printed } = await outcome({
		"a.test.ts": `
			test.each([[{ search: "x", limits: [1, 2], inner: { deep: true } }], [{}]])("takes %o", () => {});
			test("broken", () => expect(1).toBe(2));`,
	});
	expect(counts).toEqual({ passed: 2, failed: 1, skipped: 0 });
	expect(printed.join("\n")).not.toContain("search");
	expect(printed.join("\n")).toContain("(fail) broken");
});

test("a failure is shown under its file", async () => {
	const { counts, printed } = await outcome({
		"a.test.ts": 'test("fine", () => {});',
		"b.test.ts": 'test("broken", () => expect(1).toBe(2));',
	});
	expect(counts).toEqual({ passed: 1, failed: 1, skipped: 0 });
	const text = printed.join("\n");
	// A worker's report and its error come by two ways: either may be first.
	expect(text).toMatch(/b\.test\.ts:\n[\s\S]*\(fail\) broken/);
	expect(text).toMatch(/b\.test\.ts:\n[\s\S]*Expected: 2/);
	expect(text).not.toContain("a.test.ts:");
});

test("a file that does not load is a failure", async () => {
	const { counts } = await outcome({
		"a.test.ts": 'test("fine", () => {});',
		"b.test.ts": 'import "./missing.ts"; test("never", () => {});',
	});
	expect(counts).toEqual({ passed: 1, failed: 1, skipped: 0 });
});

test("a file that ends the process is a failure", async () => {
	const { counts } = await outcome({
		"a.test.ts": 'test("fine", () => {});',
		"b.test.ts": 'test("leaves", () => process.exit(0));',
	});
	expect(counts).toMatchObject({ passed: 1, failed: 1 });
});

test("nothing to run is a failure", async () => {
	expect((await outcome({ "a.ts": "" })).counts).toEqual({ passed: 0, failed: 1, skipped: 0 });
});

test("a count that a test prints itself is not taken for the summary", async () => {
	const { counts } = await outcome({
		"a.test.ts": 'test("loud", () => console.error("\\n 99 pass\\nRan 99 tests across 1 file."));',
	});
	expect(counts).toEqual({ passed: 1, failed: 0, skipped: 0 });
});

test("a failure between the lines of a passed test's name is shown", async () => {
	const said =
		"a.test.ts:\n(pass) takes {\n(fail) broken [1.00ms]\n} [2.00ms]\n 1 pass\n 1 fail\nRan 2 tests across 1 file. [3.00ms]\n";
	const { printed, counts } = await readBy(false, said);
	expect(printed).toContain("(fail) broken [1.00ms]");
	expect(counts).toEqual({ passed: 1, failed: 1, skipped: 0 });
});
