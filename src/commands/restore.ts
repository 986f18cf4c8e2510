import { resolve } from "node:path";
import { defineCommand } from "citty";
import { restore as restoreStore } from "../store/backup/restore.ts";
import { shownAddress } from "../store/index.ts";
import { EXIT_USAGE } from "./exit-codes.ts";
import { print, printError } from "./print.ts";
import { configOrExit, storeArgs } from "./store-args.ts";
import { withStoreFaults } from "./store-fault.ts";

export const restore = defineCommand({
	meta: { name: "restore", description: "Restore a backup of a SQLite store into a data folder without one" },
	args: {
		from: { type: "string", description: "A file written by turnpike backup", required: true, valueHint: "FILE" },
		...storeArgs,
	},
	run: async ({ args }) => {
		const { config } = configOrExit(args);
		if (config.store !== undefined) {
			printError(`The store is ${shownAddress(config.store)}: restore it with PostgreSQL's own tools (docs/operating.md)`);
			process.exitCode = EXIT_USAGE;
			return;
		}
		await withStoreFaults(config, async () => {
			const { accounts, posts } = await restoreStore(resolve(args.from), config.data);
			print(`${config.data} has the books of ${args.from}: ${accounts} accounts, ${posts} posts; checked, and the books balance`);
		});
	},
});
