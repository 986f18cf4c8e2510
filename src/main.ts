/** The command line. Each command is loaded only when it is called. */
import { type CommandDef, defineCommand, renderUsage, runMain } from "citty";
import { findMisuse } from "./commands/arguments.ts";
import { EXIT_USAGE } from "./commands/exit-codes.ts";
import { VERSION } from "./config/index.ts";

const turnpike: CommandDef = defineCommand({
	meta: { name: "turnpike", version: VERSION, description: "One metered gate to everything that a model or a chain can do" },
	subCommands: {
		serve: () => import("./commands/serve/index.ts").then((module) => module.serve),
		reload: () => import("./commands/reload.ts").then((module) => module.reload),
		log: () => import("./commands/log.ts").then((module) => module.log),
		accounts: () => import("./commands/accounts.ts").then((module) => module.accounts),
		keys: () => import("./commands/keys.ts").then((module) => module.keys),
		wallets: () => import("./commands/wallets.ts").then((module) => module.wallets),
		x402: () => import("./commands/x402.ts").then((module) => module.x402),
		models: () => import("./commands/models.ts").then((module) => module.models),
		requests: () => import("./commands/requests.ts").then((module) => module.requests),
		rpc: () => import("./commands/rpc.ts").then((module) => module.rpc),
		usage: () => import("./commands/usage.ts").then((module) => module.usage),
		audit: () => import("./commands/audit.ts").then((module) => module.audit),
		archive: () => import("./commands/archive.ts").then((module) => module.archive),
		backup: () => import("./commands/backup.ts").then((module) => module.backup),
		restore: () => import("./commands/restore.ts").then((module) => module.restore),
		doctor: () => import("./commands/doctor/index.ts").then((module) => module.doctor),
		chat: () => import("./commands/chat.ts").then((module) => module.chat),
		init: () => import("./commands/init/index.ts").then((module) => module.init),
		top: () => import("./commands/top/index.ts").then((module) => module.top),
		completion: () => import("./commands/completion/index.ts").then((module) => module.completionOf(() => turnpike)),
	},
});

const misuse = await findMisuse(turnpike, process.argv.slice(2));
if (misuse !== null) {
	process.stderr.write(`${await renderUsage(misuse.command, misuse.parent)}\n\n${misuse.message}\n`);
	process.exit(EXIT_USAGE);
}
await runMain(turnpike);
