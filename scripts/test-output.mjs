/**
 * Reads what `bun test` says while it says it: passes on everything but passed tests, remembers which files
 * have finished and how long their tests took, and gives the counts at the end.
 */

const FILE_HEAD = /^(\S+\.test\.tsx?):$/;
const PASSED = /^\((pass|skip|todo)\) /;
const FAILED = /^\(fail\) /;
/** A name may go over lines where it shows an object: `(pass) takes {`, and later `} [0.12ms]`. */
const TOOK = / \[(\d+(?:\.\d+)?)ms\]$/;
const OPEN = /[{[(]$/;
const CLOSED = /^[}\])]/;
const SUMMARY = /^ *\d+ (pass|fail|skip|todo|error|errors|snapshots|expect\(\) calls|tests? failed:$)/;

/**
 * @param {(line: string) => void} print
 * @returns {{ read(text: string): void, finished: ReadonlyMap<string, number>, counts(ok: boolean): { passed: number, failed: number, skipped: number } }}
 */
export function testOutput(print) {
	/** Milliseconds of the tests of each file. */
	const finished = new Map();
	let file = "";
	let rest = "";
	/** The head of a file, until something but passed tests follows it. */
	let head = null;
	/** True inside the name of a passed test. */
	let inName = false;
	let summary = [];

	const line = (text) => {
		summary = [...summary.slice(-12), text];
		const named = FILE_HEAD.exec(text)?.[1];
		if (named !== undefined) {
			file = named;
			finished.set(file, finished.get(file) ?? 0);
			head = text;
			return;
		}
		const took = TOOK.exec(text)?.[1];
		if (took !== undefined && file !== "") finished.set(file, finished.get(file) + Number(took));
		// Lines of several workers may stand between those of a name: a failure always shows.
		if (FAILED.test(text)) inName = false;
		if (inName) {
			inName = !CLOSED.test(text) || OPEN.test(text);
			return;
		}
		inName = PASSED.test(text) && OPEN.test(text);
		if (PASSED.test(text) || (head !== null && text === "")) return;
		if (head !== null && !SUMMARY.test(text)) print(`\n${head}`);
		head = null;
		print(text);
	};

	return {
		finished,
		read(text) {
			const lines = (rest + text).split("\n");
			rest = lines.pop() ?? "";
			for (const text of lines) line(text);
		},
		/**
		 * The counts of the closing summary. It is the only complete one: a file that does not load or a worker
		 * that crashes is missing from the JUnit report.
		 */
		counts(ok) {
			if (rest !== "") line(rest);
			rest = "";
			const end = summary.findLastIndex((text) => text.startsWith("Ran "));
			// The lines right above it and no others: a test may print such lines too.
			let start = end;
			while (start > 0 && SUMMARY.test(summary[start - 1])) start--;
			const block = summary.slice(start, Math.max(end, 0)).join("\n");
			const count = (word) => Number(new RegExp(`^ *(\\d+) ${word}$`, "m").exec(block)?.[1] ?? 0);
			const passed = count("pass");
			const failed = count("fail");
			return { passed, failed: failed === 0 && (!ok || passed === 0) ? 1 : failed, skipped: count("skip") + count("todo") };
		},
	};
}
