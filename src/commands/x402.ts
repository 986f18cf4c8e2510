/** Compares wallet payments with the chain. */
import { defineCommand } from "citty";
import { formatNano } from "../ledger/nano.ts";
import { type ReconcileReport, reconcile } from "../payments/index.ts";
import { findTopUp, listTopUps } from "../store/admin.ts";
import { systemTimers } from "../telemetry/clock.ts";
import { print, printError, printJson, printTable } from "./print.ts";
import { configOrExit, jsonArg, storeArgs } from "./store-args.ts";
import { withStore } from "./with-store.ts";

/** Names of the chain node's errors, whose text says which call failed. */
const OF_CHAIN = new Set(["ChainUnavailable", "ChainRefused", "WrongChain"]);
/** Nano-USD per base unit of the token. */
const NANO_PER_UNIT = 1_000;

const reconcileCommand = defineCommand({
	meta: {
		name: "reconcile",
		description: "Compare every top-up with the chain and list differences; changes nothing; exits with 1 if any differ",
	},
	args: { ...jsonArg, ...storeArgs },
	run: ({ args }) => {
		const { x402 } = configOrExit(args).config;
		if (x402.payTo === undefined && x402.solana.payTo === undefined)
			return refuse("No receiver is configured (TURNPIKE_X402_PAY_TO): there are no top-ups");
		return withStore(args, async (admin) => {
			let report: ReconcileReport;
			try {
				report = await reconcile(
					x402,
					{ list: (page) => listTopUps(admin, page), find: (key) => findTopUp(admin, key) },
					systemTimers,
				);
			} catch (error) {
				if (!(error instanceof Error) || !OF_CHAIN.has(error.name)) throw error;
				return refuse(`The chain's node cannot be used: ${error.message}`);
			}
			if (report.discrepancies.length > 0) process.exitCode = 1;
			if (args.json) printJson(report);
			else tell(report);
		});
	},
});

function tell({ checked, credited, discrepancies }: ReconcileReport): void {
	const states = Object.entries(checked).map(([state, count]) => `${count} ${state}`);
	print(`Top-ups compared with the chain: ${states.join(", ")}`);
	for (const [network, units] of Object.entries(credited)) print(`${network}: ${formatNano(units * NANO_PER_UNIT)} USD credited`);
	if (discrepancies.length === 0) {
		print("The books and the chain agree");
		return;
	}
	printTable([
		["PAYMENT", "WALLET", "NETWORK", "BOOKED AS", "FINDING"],
		...discrepancies.map(({ paymentId, payer, network, state, finding }) => [paymentId, payer, network, state, finding]),
	]);
}

function refuse(message: string): void {
	printError(message);
	process.exitCode = 1;
}

export const x402 = defineCommand({
	meta: { name: "x402", description: "Payments of wallets: reconcile" },
	subCommands: { reconcile: reconcileCommand },
});
