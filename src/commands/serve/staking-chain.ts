import { checkStaking } from "../../access/index.ts";
import type { LoadedConfig } from "../../config/index.ts";
import type { Log } from "../../telemetry/log.ts";
import { placedText } from "../config-fault.ts";
import { printError } from "../print.ts";
import { EXIT_CONFIG } from "../store-args.ts";

/** The time that a start waits for the chain; later readings report a slow one. */
const CHECK_TIMEOUT_MS = 5_000;

/** Ends the start with 78 if the staking chain is not the configured one; warns if it does not answer. */
export async function requireStakingChain({ config, places }: LoadedConfig, log: Log): Promise<void> {
	if (config.staking.chain.rpcUrl === undefined) return;
	const check = await Promise.race([checkStaking(config.staking), Bun.sleep(CHECK_TIMEOUT_MS)]);
	if (check?.state === "well") return;
	if (check?.state === "wrong") {
		printError(placedText(check.text, places));
		process.exit(EXIT_CONFIG);
	}
	log.warn({ cause: check?.text ?? "no answer in 5 s" }, "the chain of stakes cannot be read now; it is retried");
}
