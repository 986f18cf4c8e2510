import { defineCommand } from "citty";
import { chargeText } from "../budgets/index.ts";
import { findRequest, formatNano, type Nano, nano, type RequestLine } from "../ledger/index.ts";
import { isoTime, printError, printJson, printTable } from "./print.ts";
import { configOrExit, jsonArg, storeArgs } from "./store-args.ts";
import { withStore } from "./with-store.ts";

const DAY_MS = 86_400_000;

const show = defineCommand({
	meta: { name: "show", description: "Show one request and its cost (metadata only)" },
	args: { id: { type: "positional", description: "X-Request-ID", required: true }, ...jsonArg, ...storeArgs },
	run: ({ args }) =>
		withStore(args, async (admin) => {
			const record = await findRequest(admin.db, args.id);
			if (record === null) {
				printError(`No metered request ${args.id} is booked (a running server books within a second)`);
				process.exitCode = 1;
				return;
			}
			const { requestDays } = configOrExit(args).config.retention;
			if (record.doneAtMs < Date.now() - requestDays * DAY_MS) {
				printError(
					`The request ${args.id} was answered more than ${requestDays} days ago (retention.requestDays): it is no longer shown`,
				);
				process.exitCode = 1;
				return;
			}
			if (args.json) return printJson(record);
			printTable([
				["request", record.requestId],
				["account", record.accountId],
				["key", record.keyId ?? "-"],
				["route", record.route],
				["model", record.model ?? "-"],
				["upstream", record.upstream ?? "-"],
				["status", String(record.status)],
				["admitted", isoTime(record.admittedAtMs)],
				["took", `${record.doneAtMs - record.admittedAtMs} ms`],
				["held", `${formatNano(record.hold)} USD`],
				["price", `${formatNano(record.price)} USD`],
				["paid", `${formatNano(sumOf(record.lines.filter((line) => line.source !== "overrun")))} USD`],
				["overrun", `${formatNano(sumOf(record.lines.filter((line) => line.source === "overrun")))} USD (the operator's)`],
				["refunded", `${formatNano(record.refunded)} USD`],
				...record.lines.map((line) => [`  ${line.sku}`, `${chargeText(line)}, from ${line.source}`]),
			]);
		}),
});

export const requests = defineCommand({
	meta: { name: "requests", description: "One request by its X-Request-ID: show" },
	subCommands: { show },
});

/** Returns the price of a request, which is the sum of its lines. */
function sumOf(lines: readonly RequestLine[]): Nano {
	return nano(lines.reduce((sum, { amount }) => sum + amount, 0));
}
