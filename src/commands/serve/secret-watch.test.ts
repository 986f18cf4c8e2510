import { afterAll, beforeEach, expect, test } from "bun:test";
import { chmodSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ManualTimers } from "../../budgets/testing/manual-timers.ts";
import { loadConfig } from "../../config/index.ts";
import { SecretFileWatcher } from "./secret-file-watcher.ts";

const folder = mkdtempSync(join(tmpdir(), "turnpike-watch-"));
const key = join(folder, "key");
let timers: ManualTimers;
let changes: number;
let watch: SecretFileWatcher;

beforeEach(() => {
	writeFileSync(key, "sk-first");
	writeFileSync(
		join(folder, "turnpike.yaml"),
		JSON.stringify({ upstreams: { a: { url: "http://a/v1", key: `\${file:${key}}` } } }),
	);
	timers = new ManualTimers();
	changes = 0;
	watch = new SecretFileWatcher(timers, () => void changes++);
});
afterAll(() => rmSync(folder, { recursive: true }));

async function looks(count: number): Promise<void> {
	for (let look = 0; look < count; look++) await timers.fire();
}

test("a file that was replaced between its reading and the watch's begin is read again, once", async () => {
	const { secretFiles } = loadConfig({}, {}, folder);
	writeFileSync(`${key}.new`, "sk-after");
	renameSync(`${key}.new`, key);
	watch.watch(secretFiles);
	await looks(4);
	expect(changes).toBe(1);
});

test("a file that stays the same is not read again, one that becomes readable is", async () => {
	watch.watch(loadConfig({}, {}, folder).secretFiles);
	await looks(3);
	expect(changes).toBe(0);
	chmodSync(key, 0o600);
	chmodSync(key, 0o400);
	await looks(3);
	expect(changes).toBe(1);
	rmSync(key);
});
