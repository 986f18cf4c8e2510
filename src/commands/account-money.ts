/** The operator's commands on an account's money. */
import { defineCommand } from "citty";
import { moneyEntryView, refundedView } from "../access/index.ts";
import { formatNano } from "../ledger/nano.ts";
import {
	type BookedOnce,
	credit,
	debit,
	LEASED_PATIENCE_MS,
	listMoney,
	type MoneyEntry,
	recallMoney,
	refund,
	waitForMoney,
} from "../store/admin.ts";
import { isoTime, print, printError, printJson, printTable } from "./print.ts";
import { accountArg, jsonArg, storeArgs } from "./store-args.ts";
import { withStore } from "./with-store.ts";

const amount = { type: "positional", description: "USD, like 12.50", required: true } as const;
const ref = (what: string) =>
	({ type: "string", description: `A unique name for the ${what}; repeating it changes nothing`, valueHint: "REF" }) as const;

export const creditCommand = defineCommand({
	meta: { name: "credit", description: "Add prepaid USD credit" },
	args: { id: accountArg, amount, ref: ref("payment"), ...jsonArg, ...storeArgs },
	run: ({ args }) =>
		withStore(args, async (admin) => {
			const entry = await credit(admin, { accountId: args.id, amount: args.amount, ...refOf(args.ref) });
			printEntry(entry, args.json, "credited", "was already credited under this reference; nothing was added");
		}),
});

export const debitCommand = defineCommand({
	meta: { name: "debit", description: "Take back prepaid USD that no request holds" },
	args: { id: accountArg, amount, ref: ref("debit"), ...jsonArg, ...storeArgs },
	run: ({ args }) =>
		withStore(args, async (admin) => {
			const attempt = () => debit(admin, { accountId: args.id, amount: args.amount, ...refOf(args.ref) });
			const ask = () => recallMoney(admin, { accountId: args.id });
			const entry = await waitForMoney(attempt, ask, LEASED_PATIENCE_MS);
			printEntry(entry, args.json, "taken back", "was already taken back under this reference; nothing was taken");
		}),
});

export const refundCommand = defineCommand({
	meta: { name: "refund", description: "Return the charge of a request to the sources that paid it; nothing is paid out" },
	args: {
		request: { type: "positional", description: "X-Request-ID", required: true },
		amount: { type: "positional", description: "USD to refund; default: all that is not refunded yet", required: false },
		ref: ref("refund"),
		...jsonArg,
		...storeArgs,
	},
	run: ({ args }) =>
		withStore(args, async (admin) => {
			const part = args.amount === undefined ? {} : { amount: args.amount };
			const refunded = await refund(admin, { requestId: args.request, ...part, ...refOf(args.ref) });
			const { replayed } = refunded;
			if (args.json) return printJson({ ...refundedView(refunded), replayed });
			const parts = refundedView(refunded).parts.map((back) => `${back.amount} ${back.currency}`);
			const outcome = replayed ? "was already refunded under this reference; nothing was added" : "refunded";
			print(`${parts.join(", ")} ${outcome} to ${refunded.accountId} (${refunded.reference})`);
		}),
});

const LARGEST_LIMIT = 1_000;

export const ledgerCommand = defineCommand({
	meta: { name: "ledger", description: "Show credits, debits and refunds of an account, newest first" },
	args: {
		id: accountArg,
		limit: { type: "string", description: `The newest N, up to ${LARGEST_LIMIT}`, default: "50", valueHint: "N" },
		...jsonArg,
		...storeArgs,
	},
	run: ({ args }) =>
		withStore(args, async (admin) => {
			const limit = Number(args.limit);
			if (!Number.isInteger(limit) || limit < 1 || limit > LARGEST_LIMIT) {
				printError(`--limit: expected a whole number from 1 to ${LARGEST_LIMIT}`);
				process.exitCode = 1;
				return;
			}
			const entries: { readonly kind: string; readonly entry: MoneyEntry }[] = [];
			for (const what of ["credits", "debits", "refunds"] as const) {
				for (const entry of await listMoney(admin, { what, accountId: args.id, before: null, limit }))
					entries.push({ kind: what.slice(0, -1), entry });
			}
			entries.sort((a, b) => b.entry.place - a.entry.place);
			const rows = entries.slice(0, limit).map(({ kind, entry }) => ({ kind, ...moneyEntryView(entry) }));
			if (args.json) return printJson(rows);
			printTable([
				["TIME", "KIND", "AMOUNT", "CURRENCY", "BALANCE AFTER", "REFERENCE", "REQUEST"],
				...rows.map((row) => [
					row.createdAt,
					row.kind,
					row.amount,
					row.currency,
					row.balance,
					row.reference,
					row.requestId ?? "-",
				]),
			]);
		}),
});

function refOf(reference: string | undefined): { reference?: string } {
	return reference === undefined ? {} : { reference };
}

function printEntry(entry: BookedOnce, json: boolean | undefined, outcome: string, repeatOutcome: string): void {
	const { accountId, reference, replayed } = entry;
	const text = formatNano(entry.amount);
	const balance = formatNano(entry.balance);
	if (json) {
		const balanceAfter = formatNano(entry.balanceAfter);
		printJson({ accountId, reference, amount: text, balance, balanceAfter, bookedAt: isoTime(entry.bookedAtMs), replayed });
	} else {
		print(`${text} USD ${replayed ? repeatOutcome : outcome} (${reference}). Balance: ${balance} USD`);
	}
}
