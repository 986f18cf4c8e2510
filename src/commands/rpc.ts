import { defineCommand } from "citty";
import { listSends, type SendView } from "../store/queries/sends.ts";
import { instantOf } from "./instant.ts";
import { isoTime, printError, printJson, printTable } from "./print.ts";
import { jsonArg, storeArgs } from "./store-args.ts";
import { withStore } from "./with-store.ts";

const MAX_SENDS = 10_000;

const sends = defineCommand({
	meta: { name: "sends", description: "List transactions sent to chains, newest first: hashes only" },
	args: {
		hash: { type: "string", description: "Raw or transaction hash", valueHint: "0x..." },
		network: { type: "string", description: "A network as GET /crypto/rpc/networks writes it", valueHint: "NETWORK" },
		key: { type: "string", description: "Id of the API key that sent it", valueHint: "ID" },
		since: { type: "string", description: "First day or instant (UTC)", valueHint: "2026-10-01" },
		limit: { type: "string", description: `Maximum number of rows, up to ${MAX_SENDS}`, default: "100", valueHint: "N" },
		...jsonArg,
		...storeArgs,
	},
	run: ({ args }) => {
		const { hash, network, key, since } = args;
		const limit = /^[1-9]\d{0,4}$/.test(args.limit) ? Number(args.limit) : Number.POSITIVE_INFINITY;
		if (limit > MAX_SENDS) return refuse(`--limit: expected a number from 1 to ${MAX_SENDS}`);
		const sinceMs = since === undefined ? null : instantOf(since);
		if (sinceMs === undefined) return refuse("--since: expected a day or an instant, like 2026-10-01 or 2026-10-01T12:00:00Z");
		if (hash !== undefined && !/^0x[0-9a-fA-F]{1,64}$/.test(hash)) return refuse("--hash: expected 0x and up to 64 hex digits");
		return withStore(args, async (admin) => {
			const sends = await listSends(admin, {
				limit,
				...(hash === undefined ? {} : { hash }),
				...(network === undefined ? {} : { network }),
				...(key === undefined ? {} : { keyId: key }),
				...(sinceMs === null ? {} : { sinceMs }),
			});
			if (args.json) printJson(sends.map(sendView));
			else printTable([HEAD, ...sends.map(rowOf)]);
		});
	},
});

const HEAD = ["SENT", "NETWORK", "METHOD", "TX HASH", "OUTCOME", "KEY", "REQUEST"];

function rowOf(send: SendView): string[] {
	const { network, method, txHash, rawHash, outcome, keyId, requestId, item } = send;
	const place = item === 0 ? requestId : `${requestId} (${item})`;
	return [isoTime(send.sentAtMs), network, method, txHash ?? rawHash ?? "-", outcome ?? "unknown", keyId ?? "-", place];
}

/** Returns a send as scripts read it: times in ISO 8601. */
function sendView({ sentAtMs, endedAtMs, ...send }: SendView) {
	return {
		...send,
		sentAt: new Date(sentAtMs).toISOString(),
		endedAt: endedAtMs === null ? null : new Date(endedAtMs).toISOString(),
	};
}

function refuse(message: string): void {
	printError(message);
	process.exitCode = 1;
}

export const rpc = defineCommand({
	meta: { name: "rpc", description: "Transactions sent to chains: sends" },
	subCommands: { sends },
});
