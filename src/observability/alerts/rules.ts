import type { Config } from "../../config/index.ts";
import type { WorkRefusal } from "../../journal/records.ts";
import { NANO_PER_USD } from "../../ledger/nano.ts";
import type { AlertReadings } from "../../store/queries/alert-readings.ts";
import type { UpstreamStatus } from "../../upstreams/index.ts";
import type { RpcNetworkStatus } from "../../upstreams/rpc/upstreams.ts";
import type { FiringAlert, Rule } from "./notice.ts";

/** The inputs of the rules; null if a value was not queried or could not be read. */
export interface AlertInputs {
	readonly node: string;
	/** UTC day, YYYY-MM-DD. */
	readonly day: string;
	readonly upstreams: readonly UpstreamStatus[];
	readonly networks: readonly RpcNetworkStatus[];
	readonly workRefusal: WorkRefusal | null;
	readonly standings: AlertReadings | null;
	readonly audit: { readonly ok: boolean; readonly findings: number } | null;
}

/** Returns the alerts that fire by the enabled rules, and the rules that could be evaluated. */
export function evaluateRules(
	alerts: Config["alerts"],
	inputs: AlertInputs,
): { readonly rules: readonly Rule[]; readonly standing: readonly FiringAlert[] } {
	const rules: Rule[] = [];
	const standing: FiringAlert[] = [];
	const { standings } = inputs;
	if (standings !== null) {
		// The alerts of a disabled rule clear.
		rules.push("balance", "key-limit", "daily-spend");
		for (const { accountId, name, usd } of standings.low)
			standing.push({
				rule: "balance",
				subject: accountId,
				text: `The account ${name} has ${usdText(usd)} USD left, less than ${alerts.balanceBelowUsd}`,
			});
		for (const { keyId, accountId, unit, share } of standings.near)
			standing.push({
				rule: "key-limit",
				subject: `${keyId} ${unit}`,
				text: `The key ${keyId} of account ${accountId} has spent ${Math.floor(share * 100)} % of its limit in ${unit}`,
			});
		const { dailySpendUsd: most } = alerts;
		if (most !== undefined && standings.spentToday !== null && standings.spentToday > most * NANO_PER_USD)
			standing.push({
				rule: "daily-spend",
				subject: inputs.day,
				text: `All accounts together spent ${usdText(standings.spentToday)} USD on ${inputs.day}, more than ${most}`,
			});
	}
	rules.push("upstream", "network", "journal");
	if (alerts.upstreams) {
		for (const { name, state, lastFault, accountRefusal } of inputs.upstreams) {
			if (accountRefusal !== null)
				standing.push({
					rule: "upstream",
					subject: name,
					text: `The upstream ${name} refuses this service's account: check its key, credit and quota${detail(accountRefusal)}`,
				});
			else if (state === "out")
				standing.push({ rule: "upstream", subject: name, text: `The upstream ${name} is out${detail(lastFault)}` });
		}
		for (const { network, online, upstreams } of inputs.networks)
			if (!online && upstreams.some(({ chain }) => chain !== "unknown"))
				standing.push({ rule: "network", subject: network, text: `No upstream of ${network} can be used` });
	}
	if (alerts.journal && inputs.workRefusal !== null && inputs.workRefusal.reason !== "closing")
		standing.push({
			rule: "journal",
			subject: inputs.node,
			text: `The node takes no new paid requests: ${inputs.workRefusal.message}`,
		});
	if (inputs.audit !== null) {
		rules.push("books");
		if (!inputs.audit.ok)
			standing.push({
				rule: "books",
				subject: "store",
				text: `The books do not balance: ${inputs.audit.findings} findings; turnpike audit lists them`,
			});
	}
	return { rules, standing };
}

function usdText(nano: number): string {
	return (nano / NANO_PER_USD).toFixed(2);
}

function detail(fault: string | null): string {
	return fault === null ? "" : `: ${fault.slice(0, 200)}`;
}
