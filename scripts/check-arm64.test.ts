import { expect, test } from "bun:test";
import { join } from "node:path";

/** It downloads a hundred megabytes the first time: in CI, or where it is asked for. */
const isAskedFor = process.env.CI !== undefined || process.env.TURNPIKE_CHECK_ARM64 !== undefined;

test.skipIf(!isAskedFor)("Linux on arm64 gets Bun and the chat engine for its processor", async () => {
	const check = Bun.spawn(["node", join(import.meta.dir, "check-arm64.mjs")], { stderr: "inherit" });
	const output = await new Response(check.stdout).text();
	expect(output.trim().split("\n")).toEqual(["@oven/bun-linux-aarch64: installed", "@node-llama-cpp/linux-arm64: installed"]);
	expect(await check.exited).toBe(0);
});
