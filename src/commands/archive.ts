import { resolve } from "node:path";
import { defineCommand } from "citty";
import { planArchives } from "../store/retention/archive-plan.ts";
import { archiveStep } from "../store/retention/archive-step.ts";
import { isMonth, monthOf } from "../store/retention/month.ts";
import { archiveFolder } from "../store/retention/retention-order.ts";
import { EXIT_USAGE } from "./exit-codes.ts";
import { print, printError, printTable } from "./print.ts";
import { configOrExit, storeArgs } from "./store-args.ts";
import { withStore } from "./with-store.ts";

/** A running server uses the store between two steps. */
const PAUSE_MS = 20;

export const archive = defineCommand({
	meta: { name: "archive", description: "Move charges of old months into files; their sums stay in the store" },
	args: {
		before: { type: "string", description: "The first month that stays (UTC)", required: true, valueHint: "2026-08" },
		to: { type: "string", description: "Folder for the files; default: retention.folder", valueHint: "FOLDER" },
		"dry-run": { type: "boolean", description: "Only print what would be archived" },
		...storeArgs,
	},
	run: ({ args }) => {
		const { before } = args;
		if (!isMonth(before)) return refuse("--before: expected a month like 2026-08");
		if (before > monthOf(Date.now()))
			return refuse(`--before: expected ${monthOf(Date.now())} at most, since only complete months are archived`);
		const { config } = configOrExit(args);
		const folder = resolve(args.to ?? archiveFolder(config.retention, config.data));
		return withStore(args, async (admin) => {
			if (args["dry-run"]) {
				const months = await planArchives(admin.db, before);
				if (months.length === 0) return print(`Everything booked before ${before} is archived already`);
				return printTable([["MONTH", "POSTS"], ...months.map(({ month, posts }) => [month, String(posts)])]);
			}
			for (let files = 0; ; ) {
				const progress = await archiveStep(admin, { before, folder });
				if (progress.state === "idle") {
					if (files === 0) print(`Everything booked before ${before} is archived already`);
					return;
				}
				if (progress.state === "elsewhere") {
					printError(`${progress.month} is being archived by ${progress.owner}: let it finish, or try again in ten minutes`);
					process.exitCode = 1;
					return;
				}
				if (progress.state === "done") {
					files++;
					print(`${progress.month}: ${progress.posts} posts in ${progress.file}`);
				}
				await Bun.sleep(PAUSE_MS);
			}
		});
	},
});

function refuse(message: string): void {
	printError(message);
	process.exitCode = EXIT_USAGE;
}
