import { defineCommand } from "citty";
import { LOG_LEVELS } from "../config/index.ts";
import { requestLogLevel } from "../store/admin.ts";
import { EXIT_USAGE } from "./exit-codes.ts";
import { print, printError } from "./print.ts";
import { storeArgs } from "./store-args.ts";
import { withStore } from "./with-store.ts";

const level = defineCommand({
	meta: { name: "level", description: "Set the log level of running servers, until their next reload" },
	args: { ...storeArgs, level: { type: "positional", required: true, description: LOG_LEVELS.join(", ") } },
	run: ({ args }) => {
		if (!LOG_LEVELS.some((known) => known === args.level)) {
			printError(`Unknown log level ${args.level}: expected one of ${LOG_LEVELS.join(", ")}`);
			process.exit(EXIT_USAGE);
		}
		return withStore(args, async (admin) => {
			await requestLogLevel(admin, args.level);
			print(`Running servers now log at level ${args.level}; a reload restores the configured level`);
		});
	},
});

export const log = defineCommand({
	meta: { name: "log", description: "The log of running servers" },
	subCommands: { level },
});
