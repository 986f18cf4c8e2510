import { defineCommand } from "citty";
import type { ConfigFlags } from "../../config/index.ts";
import { configOrExit, storeArgs } from "../store-args.ts";
import { EarlySignals } from "./early-signals.ts";
import { workerCount } from "./workers/worker-count.ts";
import { WorkerLink } from "./workers/worker-link.ts";

export const serve = defineCommand({
	meta: { name: "serve", description: "Serve the API" },
	args: {
		...storeArgs,
		port: { type: "string", description: "Port (TURNPIKE_PORT; default 8787)", valueHint: "P" },
		host: { type: "string", description: "Address to listen on (TURNPIKE_HOST; default 127.0.0.1)", valueHint: "ADDRESS" },
	},
	run: ({ args }) => start({ config: args.config, port: args.port, host: args.host, data: args.data }),
});

/** Serves with one process, or starts as many as the configuration says. */
async function start(flags: ConfigFlags): Promise<void> {
	const signals = new EarlySignals();
	const worker = WorkerLink.fromEnvironment();
	const loaded = configOrExit(flags);
	const workers = workerCount(loaded.config);
	// The supervisor of workers serves nothing itself: it loads a part of what they load.
	if (worker === null && workers > 1) {
		const { supervise } = await import("./workers/supervisor.ts");
		return supervise({ flags, loaded, signals, workers });
	}
	const { runServer } = await import("./run-server.ts");
	await runServer({ flags, loaded, signals, worker });
}
