import type { LoadedConfig } from "../../config/index.ts";
import { checkTopUps } from "../../payments/index.ts";
import type { Log } from "../../telemetry/log.ts";
import { placedText } from "../config-fault.ts";
import { printError } from "../print.ts";
import { EXIT_CONFIG } from "../store-args.ts";

/** The time that a start waits for the chain; top-ups report one that does not answer later. */
const CHECK_TIMEOUT_MS = 5_000;

/**
 * Ends the start with 78 if a setting is wrong, such as an address that wallets would pay by mistake; warns if no wallet can
 * pay. A wrong chain does not end the start: top-ups refuse payments and report it.
 */
export async function requireTopUpChains({ config, places }: LoadedConfig, log: Log): Promise<void> {
	const checks = await Promise.race([checkTopUps(config.x402), Bun.sleep(CHECK_TIMEOUT_MS).then(() => [])]);
	for (const { state, text } of checks) {
		if (state === "incomplete") log.warn({ cause: text }, "wallets cannot pay");
		if (state !== "wrong") continue;
		printError(placedText(text, places));
		process.exit(EXIT_CONFIG);
	}
}
