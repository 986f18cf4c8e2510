import { shownConfig } from "../../config/index.ts";
import type { Answer } from "../../server/endpoint.ts";
import type { ConsoleApiDeps } from "./deps.ts";
import { answer } from "./page.ts";
import type { LogLevel, Settings } from "./types.ts";

/** GET /settings: the settings as loaded, without secrets. */
export function settings({ config, log }: ConsoleApiDeps): Answer {
	return answer<Settings>({ config: shownConfig(config()), logLevel: log.level as LogLevel });
}

/** PUT /log-level: sets the level of this server's processes, until the configuration is loaded again. */
export async function setLogLevel({ level }: { readonly level: LogLevel }, deps: ConsoleApiDeps): Promise<Answer> {
	await deps.setLogLevel(level);
	return settings(deps);
}
