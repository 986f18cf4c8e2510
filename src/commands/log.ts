import { defineCommand } from "citty";
import { LOG_LEVELS } from "../config/index.ts";
import { requestLogLevel } from "../store/admin.ts";
import { EXIT_USAGE } from "./exit-codes.ts";
import { print, printError } from "./print.ts";
import { storeArgs } from "./store-args.ts";
import { withStore } from "./with-store.ts";

const level = defineCommand({
	meta: { name: "level", description: "Have running servers log from this level on, until their next reload" },
	args: { ...storeArgs, level: { type: "positional", required: true, description: LOG_LEVELS.join(", ") } },
	run: ({ args }) => {
		if (!LOG_LEVELS.some((known) => known === args.level)) {
			printError(`${args.level} is no level of the log; there are ${LOG_LEVELS.join(", ")}`);
			process.exit(EXIT_USAGE);
		}
		return withStore(args, async (admin) => {
			await requestLogLevel(admin, args.level);
			print(`Running servers log from ${args.level} on; a reload goes back to the configuration's level`);
		});
	},
});

export const log = defineCommand({
	meta: { name: "log", description: "The log of running servers" },
	subCommands: { level },
});
