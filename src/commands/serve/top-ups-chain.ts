import type { LoadedConfig } from "../../config/index.ts";
import { checkTopUps } from "../../payments/index.ts";
import type { Log } from "../../telemetry/log.ts";
import { placedText } from "../config-fault.ts";
import { printError } from "../print.ts";
import { EXIT_CONFIG } from "../store-args.ts";

/** How long a start waits for the chain: what does not answer now is told of by the top-ups themselves. */
const PATIENCE_MS = 5_000;

/**
 * Ends the start with 78 where a setting is at fault, such as an address that wallets would pay by mistake; warns where
 * none can pay. Another chain than the configured one is told of by the top-ups, which refuse payments: the rest goes on.
 */
export async function requireTopUpChains({ config, places }: LoadedConfig, log: Log): Promise<void> {
	const checks = await Promise.race([checkTopUps(config.x402), Bun.sleep(PATIENCE_MS).then(() => [])]);
	for (const { state, text } of checks) {
		if (state === "incomplete") log.warn({ cause: text }, "wallets cannot pay");
		if (state !== "wrong") continue;
		printError(placedText(text, places));
		process.exit(EXIT_CONFIG);
	}
}
