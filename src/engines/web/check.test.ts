import { afterAll, expect, test } from "bun:test";
import { silentLog } from "../../telemetry/log.ts";
import { checkPages } from "./check.ts";
import { PagePool } from "./page-pool.ts";

const pages = new PagePool({ log: silentLog, processes: 1, maxMemoryMb: 768 });
afterAll(() => pages.stop());

test("says that pages are read, and what of pages with scripts", async () => {
	const without = await checkPages(pages, undefined);
	expect(without).toMatchObject({ state: "note", mend: expect.stringContaining("web: {chromium: ") });
	expect(await checkPages(pages, process.execPath)).toMatchObject({
		state: "ok",
		text: expect.stringContaining(process.execPath),
	});
	expect(await checkPages(pages, "/no/such/program")).toMatchObject({
		state: "fault",
		text: "web.chromium: /no/such/program cannot be executed",
	});
});

test("says that pages are not read where the process does not run", async () => {
	const broken = new PagePool({ log: silentLog, processes: 1, maxMemoryMb: 768, entry: "/no/such/entry.ts" });
	expect(await checkPages(broken, undefined)).toMatchObject({ state: "fault", text: expect.stringContaining("does not run") });
	await broken.stop();
});
