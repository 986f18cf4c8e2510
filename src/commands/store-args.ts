import { type ConfigError, type ConfigFlags, type LoadedConfig, loadConfig } from "../config/index.ts";
import { printError } from "./print.ts";

/** sysexits.h: the configuration is invalid. */
export const EXIT_CONFIG = 78;

/** The arguments of every command on a store. */
export const storeArgs = {
	data: { type: "string", description: "Data folder (TURNPIKE_DATA)", valueHint: "DIR" },
	config: { type: "string", description: "Configuration file (TURNPIKE_CONFIG)", valueHint: "FILE" },
} as const;

export const jsonArg = { json: { type: "boolean", description: "Print JSON" } } as const;

export const accountArg = { type: "positional", description: "Account id (acc_...)", required: true } as const;

/** Loads the configuration, or ends the process with 78 and the error. */
export function configOrExit(flags: ConfigFlags): LoadedConfig {
	try {
		return loadConfig(flags, process.env);
	} catch (error) {
		if ((error as Error).name !== "ConfigError") throw error;
		printError((error as ConfigError).message);
		process.exit(EXIT_CONFIG);
	}
}
