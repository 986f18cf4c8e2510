import { existsSync, mkdirSync, statSync } from "node:fs";
import { basename, dirname, resolve } from "node:path";
import { defineCommand } from "citty";
import { backUp, backUpFile, rotateBackUps } from "../store/backup/back-up.ts";
import { shownAddress } from "../store/index.ts";
import { EXIT_USAGE } from "./exit-codes.ts";
import { print, printError, printJson } from "./print.ts";
import { configOrExit, jsonArg, storeArgs } from "./store-args.ts";
import { withDataFolder } from "./with-store.ts";

export const backup = defineCommand({
	meta: { name: "backup", description: "Back up the books of a SQLite store, also while its server runs" },
	args: {
		to: { type: "string", description: "A folder (ending in /), or a new file", required: true, valueHint: "FOLDER|FILE" },
		keep: { type: "string", description: "Backups to keep in the folder; older ones are removed", valueHint: "N" },
		...jsonArg,
		...storeArgs,
	},
	run: async ({ args }) => {
		const { config } = configOrExit(args);
		if (config.store !== undefined) {
			return refuse(
				`The store is ${shownAddress(config.store)}: back it up with pg_dump, or with continuous archiving (docs/operating.md)`,
			);
		}
		const keep = args.keep === undefined ? null : Number(args.keep);
		if (keep !== null && !(Number.isInteger(keep) && keep >= 1 && keep <= 10_000))
			return refuse("--keep: expected a number from 1 to 10000");
		const to = resolve(args.to);
		const isFolder = args.to.endsWith("/") || (existsSync(to) && statSync(to).isDirectory());
		if (keep !== null && !isFolder) return refuse("--keep needs a folder: end it with /");
		await withDataFolder(config, async () => {
			mkdirSync(isFolder ? to : dirname(to), { recursive: true, mode: 0o700 });
			const file = isFolder ? backUpFile(to, Date.now()) : to;
			const report = await backUp({ dataDir: config.data, file });
			const removed = keep === null ? [] : rotateBackUps(to, keep, Date.now());
			if (args.json) return printJson({ ...report, removed });
			print(
				`${report.file}: ${report.accounts} accounts, ${report.posts} posts, ${report.bytes} bytes; checked, and its books balance`,
			);
			if (removed.length > 0) print(`Removed ${removed.map((name) => basename(name)).join(", ")}`);
			if (report.missingRecords > 0) {
				printError(
					`${report.missingRecords} records of the journal are missing in it, since no server has applied them: start the server once, then back up again`,
				);
			}
		});
	},
});

function refuse(message: string): void {
	printError(message);
	process.exitCode = EXIT_USAGE;
}
