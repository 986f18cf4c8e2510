import { expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { until } from "../../test/support/until.ts";
import { boundMemory, cgroupVersion } from "./cgroup.ts";

const MB = 2 ** 20;
const version = cgroupVersion();

/** Where the kernel says that a process is. */
function groupOf(pid: number): string {
	const line = version === 1 ? /:memory:(.*)$/m : /^0::(.*)$/m;
	const path = line.exec(readFileSync(`/proc/${pid}/cgroup`, "utf8"))?.[1] ?? "";
	const mount = version === 1 ? "/sys/fs/cgroup/memory" : "/sys/fs/cgroup";
	return join(mount, path);
}

/** Starts a program that waits for a line, then takes memory. */
const eater = (mb: number) =>
	Bun.spawn(
		[
			process.execPath,
			"-e",
			`await Bun.stdin.stream().getReader().read(); const all = new Uint8Array(${mb} * 2 ** 20).fill(1); console.log(all.length);`,
		],
		{
			stdin: "pipe",
			stdout: "pipe",
			stderr: "ignore",
		},
	);

async function run(child: ReturnType<typeof eater>): Promise<string> {
	child.stdin.write("\n");
	await child.stdin.end();
	return (await new Response(child.stdout).text()).trim();
}

test.skipIf(version === null)("the kernel ends what takes much more than its limit, and nothing below it", async () => {
	const [small, large] = [eater(100), eater(700)];
	const ends = [boundMemory(small.pid, 400 * MB), boundMemory(large.pid, 400 * MB)];
	const groups = [groupOf(small.pid), groupOf(large.pid)];
	expect(new Set(groups).size).toBe(2);
	expect(await run(small)).toBe(`${100 * MB}`);
	expect(await run(large)).toBe("");
	await Promise.all([small.exited, large.exited]);
	expect([small.exitCode, large.signalCode]).toEqual([0, "SIGKILL"]);
	for (const end of ends) end();
	await until(() => groups.every((group) => !existsSync(group)), "the groups to be removed");
});

test.skipIf(version === null)("what a process leaves running ends with its group", async () => {
	const script = "read line; sleep 100000 > /dev/null & echo $!";
	const child = Bun.spawn(["sh", "-c", script], { stdin: "pipe", stdout: "pipe", stderr: "ignore" });
	const end = boundMemory(child.pid, 400 * MB);
	const group = groupOf(child.pid);
	const inner = Number(await run(child));
	await child.exited;
	expect(groupOf(inner)).toBe(group);
	end();
	await until(() => !existsSync(group), "the group to be removed");
	expect(existsSync(`/proc/${inner}/cmdline`) && readFileSync(`/proc/${inner}/cmdline`, "utf8").includes("sleep")).toBe(false);
});

test.skipIf(version === null)(
	"a server that was killed leaves groups, which the next one removes with all that runs in them",
	async () => {
		const killed = Bun.spawn([process.execPath, "-e", ""], { stdio: ["ignore", "ignore", "ignore"] });
		await killed.exited;
		const left = join(groupOf(process.pid), `turnpike-${killed.pid}-1`);
		const kept = join(groupOf(process.pid), `turnpike-${process.pid}-999999`);
		for (const folder of [left, kept]) mkdirSync(folder);
		const orphan = Bun.spawn(["sleep", "100000"], { stdio: ["ignore", "ignore", "ignore"] });
		writeFileSync(join(left, "cgroup.procs"), `${orphan.pid}`);
		const code = `const { cgroupVersion } = await import(${JSON.stringify(join(import.meta.dir, "cgroup.ts"))}); cgroupVersion(); await Bun.stdin.stream().getReader().read();`;
		const next = Bun.spawn([process.execPath, "-e", code], { stdin: "pipe", stdout: "ignore" });
		await orphan.exited;
		await until(() => !existsSync(left), "what was left to be removed");
		expect(existsSync(kept)).toBe(true);
		rmdirSync(kept);
		await next.stdin.end();
		await next.exited;
		expect(readdirSync(groupOf(process.pid)).filter((name) => name.startsWith(`turnpike-${next.pid}-`))).toEqual([]);
	},
);

test("a process that is not there is bounded by nothing, and nothing stays", () => {
	expect(() => boundMemory(2 ** 22 + 1, MB)()).not.toThrow();
});
