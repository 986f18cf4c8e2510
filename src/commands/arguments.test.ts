import { describe, expect, test } from "bun:test";
import { defineCommand } from "citty";
import { findMisuse } from "./arguments.ts";

const show = defineCommand({
	args: {
		id: { type: "positional", required: true },
		limit: { type: "string", valueHint: "N" },
		chains: { type: "string", valueHint: "LIST" },
		description: { type: "string" },
		"max-tokens": { type: "string" },
		json: { type: "boolean" },
	},
});
const requests = defineCommand({ subCommands: { show } });
const store = defineCommand({ args: { to: { type: "string", required: true } } });
const root = defineCommand({ subCommands: { store, requests: () => Promise.resolve(requests) } });

async function fault(...typed: string[]): Promise<string | null> {
	return (await findMisuse(root, typed))?.message ?? null;
}

describe("passes", () => {
	for (const typed of [
		["requests", "show", "x"],
		["requests", "show", "--limit", "3", "x", "--json"],
		["requests", "show", "--limit=3", "x", "--no-json", "--max-tokens", "-1"],
		["requests", "show", "-"],
		["requests", "show", "--", "--limt"],
		["requests", "show", "--limt", "--help"],
		["requests", "show", "x", "--chains=", "--description", ""],
		["--version"],
		["nosuch", "--help"],
		["store", "--to=x"],
		["store", "--to", "x"],
	])
		test(typed.join(" "), async () => expect(await fault(...typed)).toBeNull());
});

describe("refuses", () => {
	for (const [typed, message] of [
		[["requests", "show", "x", "--limt", "3"], "Unknown option: --limt"],
		[["requests", "show", "x", "--limt=3"], "Unknown option: --limt"],
		[["requests", "show", "-limit", "3"], "Unknown option: -limit"],
		[["requests", "show", "-5"], "A negative number is not allowed here: -5"],
		[["requests", "show", "--maxTokens", "3"], "Unknown option: --maxTokens"],
		[["requests", "show", "--no-limit"], "Unknown option: --no-limit"],
		[["requests", "show", "--constructor", "x"], "Unknown option: --constructor"],
		[["requests", "--limit", "3", "show"], "Unknown option: --limit"],
		[["--json", "requests", "show"], "Unknown option: --json"],
		[["requests", "show", "x", "--limit"], "Option --limit needs a value"],
		[["requests", "show", "x", "--limit", ""], "Option --limit needs a value"],
		[["requests", "show", "--limit=", "x"], "Option --limit needs a value"],
		[["requests", "show", "x", "y"], "Unexpected argument: y"],
		[[], "No command was given"],
		[["requests"], "No command was given"],
		[["nosuch", "--limt"], "Unknown command: nosuch"],
		[["requests", "toString"], "Unknown command: toString"],
		[["requests", "show"], "Missing: ID"],
		[["requests", "show", "--json"], "Missing: ID"],
		[["requests", "show", "--limit", "x"], "Missing: ID"],
		[["store"], "Missing: --to"],
		[["requests", "show", "--json", "x", "--", "--y"], "Unexpected argument: --y"],
	] as const)
		test(typed.join(" ") || "nothing", async () => expect(await fault(...typed)).toBe(message));
});
