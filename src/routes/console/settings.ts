import { shownConfig } from "../../config/index.ts";
import type { Answer } from "../../server/endpoint.ts";
import type { ConsoleApiDeps } from "./deps.ts";
import { answer } from "./page.ts";
import type { LogLevel, Settings } from "./types.ts";

/** GET /settings: the settings as loaded, without secrets. */
export function settings({ config, log }: ConsoleApiDeps): Answer {
	return answer<Settings>({ config: shownConfig(config()), logLevel: log.level as LogLevel });
}

/** PUT /log-level: sets this node's level, until its configuration is loaded again. */
export function setLogLevel({ level }: { readonly level: LogLevel }, deps: ConsoleApiDeps): Answer {
	const { log } = deps;
	// The change is logged at a level that is visible.
	if (level === "silent") log.warn({ level }, "the log level was set in the console");
	log.level = level;
	if (level !== "silent") log.warn({ level }, "the log level was set in the console");
	return settings(deps);
}
