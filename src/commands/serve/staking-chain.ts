import { checkStaking } from "../../access/index.ts";
import type { LoadedConfig } from "../../config/index.ts";
import type { Log } from "../../telemetry/log.ts";
import { placedText } from "../config-fault.ts";
import { printError } from "../print.ts";
import { EXIT_CONFIG } from "../store-args.ts";

/** How long a start waits for the chain: a slow one is told of by the readings. */
const PATIENCE_MS = 5_000;

/** Ends the start with 78 where the chain of stakes is another one than the configuration says; warns where it does not answer. */
export async function requireStakingChain({ config, places }: LoadedConfig, log: Log): Promise<void> {
	if (config.staking.chain.rpcUrl === undefined) return;
	const check = await Promise.race([checkStaking(config.staking), Bun.sleep(PATIENCE_MS)]);
	if (check?.state === "well") return;
	if (check?.state === "wrong") {
		printError(placedText(check.text, places));
		process.exit(EXIT_CONFIG);
	}
	log.warn({ cause: check?.text ?? "no answer in 5 s" }, "the chain of stakes cannot be read now; it is tried again");
}
