import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { until } from "../../test/support/until.ts";
import { endTree, limitTree, treeResidentBytes } from "./process-tree.ts";

const MB = 2 ** 20;
/** Takes so much memory and says so; then waits for ever. */
const eater = (mb: number) =>
	`const all = new Uint8Array(${mb} * 2 ** 20).fill(1); console.log("full", all.length); setInterval(() => {}, 1e6);`;
/** Starts a program that takes memory, and takes none itself. */
const starter = (mb: number) =>
	`const child = Bun.spawn([process.execPath, "-e", ${JSON.stringify(eater(mb))}], { stdout: "inherit" }); console.log("pid", child.pid);`;

function start(code: string) {
	const child = Bun.spawn([process.execPath, "-e", code], { stdout: "pipe", stderr: "inherit" });
	let said = "";
	void (async () => {
		const decoder = new TextDecoder();
		for await (const bytes of child.stdout) said += decoder.decode(bytes);
	})();
	return { pid: child.pid, exited: child.exited, said: () => said };
}

const isAlive = (pid: number) => {
	try {
		return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
	} catch {
		return false;
	}
};

test.skipIf(process.platform !== "linux")("what a process started counts with it, and ends with it", async () => {
	const { pid, exited, said } = start(starter(300));
	await until(() => said().includes("full") && said().includes("pid"), "the memory to be taken");
	const inner = Number(/pid (\d+)/.exec(said())?.[1]);
	// The kernel counts in lots for each core, and may take idle pages back: two thirds are proof enough.
	expect(treeResidentBytes(pid)).toBeGreaterThan(200 * MB);
	expect(treeResidentBytes(pid)).toBeLessThan(900 * MB);
	endTree(pid);
	await exited;
	await until(() => !isAlive(inner), "the end of what it started");
	expect(treeResidentBytes(pid)).toBeNull();
});

test.skipIf(process.platform !== "linux")(
	"a watch tells once that a tree has passed its limit, and nothing below it",
	async () => {
		const small = start(starter(1));
		const large = start(starter(400));
		let early = 0;
		let times = 0;
		const ends = [limitTree(small.pid, 250 * MB, () => early++), limitTree(large.pid, 250 * MB, () => times++)];
		await until(() => times > 0, "the limit to be passed");
		await until(() => small.said().includes("full"), "the small one to be there");
		expect([early, times]).toEqual([0, 1]);
		for (const end of ends) end();
		endTree(small.pid);
		endTree(large.pid);
		await Promise.all([small.exited, large.exited]);
	},
);
