import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { PROVIDER_NAMES, providerDefinition } from "./providers.ts";

test("the page on chat names every provider with what it offers and the options that it takes", () => {
	const page = readFileSync(join(import.meta.dir, "../../docs/chat.md"), "utf8");
	for (const name of PROVIDER_NAMES) {
		const { offers, options } = providerDefinition(name);
		const row = page.split("\n").find((line) => line.startsWith(`| ${name} |`)) ?? "";
		expect(row).toContain(`| ${name} | ${offers.join(", ")} |`);
		for (const option of Object.keys(options)) if (option !== "privateKeyId") expect(row).toContain(`options.${option}`);
	}
});
