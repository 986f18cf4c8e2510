import { defineCommand } from "citty";
import { accountView } from "../access/index.ts";
import { formatNano } from "../ledger/nano.ts";
import {
	type AccountChanges,
	type AccountView,
	createAccount,
	disableAccount,
	enableAccount,
	eraseAccount,
	LEASED_PATIENCE_MS,
	listAccounts,
	setAccount,
	showAccount,
} from "../store/admin.ts";
import type { AccountTier } from "../store/port.ts";
import { creditCommand, debitCommand, ledgerCommand, refundCommand } from "./account-money.ts";
import { mapPages, print, printError, printJson, printJsonParts, printTable, printTableParts, withHead } from "./print.ts";
import { accountArg, jsonArg, storeArgs } from "./store-args.ts";
import { withStore } from "./with-store.ts";

const id = accountArg;

const create = defineCommand({
	meta: { name: "create", description: "Create an account" },
	args: {
		name: { type: "positional", description: "Display name", required: true },
		tier: { type: "string", description: "paid, partner or staff", valueHint: "TIER" },
		credit: { type: "string", description: "Starting credit in USD", valueHint: "USD" },
		...jsonArg,
		...storeArgs,
	},
	run: ({ args }) =>
		withStore(args, async (admin) => {
			const account = await createAccount(admin, {
				name: args.name,
				...(args.tier ? { tier: args.tier as AccountTier } : {}),
				...(args.credit ? { startingCreditUsd: args.credit } : {}),
			});
			if (args.json) printJson(account);
			else print(`Created ${account.id} (${account.name}). Its first key: npx --no turnpike keys create ${account.id}`);
		}),
});

const list = defineCommand({
	meta: { name: "list", description: "List accounts with their balances" },
	args: { ...jsonArg, ...storeArgs },
	run: ({ args }) =>
		withStore(args, async (admin) => {
			const pages = listAccounts(admin);
			if (args.json) await printJsonParts(mapPages(pages, (accounts) => accounts.map(accountView)));
			else
				await printTableParts(
					withHead(
						HEAD,
						mapPages(pages, (accounts) => accounts.map(accountRow)),
					),
				);
		}),
});

const show = defineCommand({
	meta: { name: "show", description: "Show one account" },
	args: { id, ...jsonArg, ...storeArgs },
	run: ({ args }) =>
		withStore(args, async (admin) => {
			printAccount(await showAccount(admin, args.id), args.json);
		}),
});

const set = defineCommand({
	meta: { name: "set", description: "Change an account" },
	args: {
		id,
		name: { type: "string", description: "Display name", valueHint: "NAME" },
		tier: { type: "string", description: "paid, partner or staff", valueHint: "TIER" },
		"stake-diem": {
			type: "string",
			description: "Staked diem, or chain to read it from the chain; takes effect on the next UTC day",
			valueHint: "N|chain",
		},
		"bundled-usd": { type: "string", description: "New amount of bundled credit, in USD", valueHint: "N" },
		wallet: { type: "string", description: "0x... to link, none to unlink", valueHint: "0x..|none" },
		...jsonArg,
		...storeArgs,
	},
	run: ({ args }) =>
		withStore(args, async (admin) => {
			const changes: AccountChanges = {
				...(args.name !== undefined ? { name: args.name } : {}),
				...(args.tier !== undefined ? { tier: args.tier as AccountTier } : {}),
				...(args["stake-diem"] !== undefined ? { stakeDiem: args["stake-diem"] } : {}),
				...(args["bundled-usd"] !== undefined ? { bundledUsd: args["bundled-usd"] } : {}),
				...(args.wallet !== undefined ? { wallet: args.wallet === "none" ? null : args.wallet } : {}),
			};
			if (Object.keys(changes).length === 0) {
				printError("Nothing to change: give --name, --tier, --stake-diem, --bundled-usd or --wallet");
				process.exitCode = 1;
				return;
			}
			printAccount(await setAccount(admin, args.id, changes, LEASED_PATIENCE_MS), args.json);
		}),
});

const switching = (name: "disable" | "enable", description: string, change: typeof disableAccount) =>
	defineCommand({
		meta: { name, description },
		args: { id, ...storeArgs },
		run: ({ args }) =>
			withStore(args, async (admin) => {
				await change(admin, args.id);
				print(`${args.id} is ${name}d`);
			}),
	});

const erase = defineCommand({
	meta: { name: "erase", description: "Remove personal data from an account and end its keys; the books keep only its id" },
	args: { id, ...jsonArg, ...storeArgs },
	run: ({ args }) =>
		withStore(args, async (admin) => {
			const erased = await eraseAccount(admin, args.id);
			if (args.json) return printJson(erased);
			print(
				`${erased.accountId} no longer has a name, wallet or key (${erased.endedKeys} keys ended); its charges and balance stay`,
			);
		}),
});

export const accounts = defineCommand({
	meta: {
		name: "accounts",
		description: "Accounts: create, list, show, set, disable, enable, erase; their money: credit, debit, refund, ledger",
	},
	subCommands: {
		create,
		list,
		show,
		credit: creditCommand,
		debit: debitCommand,
		refund: refundCommand,
		ledger: ledgerCommand,
		set,
		disable: switching("disable", "Refuse requests of the account", disableAccount),
		enable: switching("enable", "Accept requests of the account again", enableAccount),
		erase,
	},
});

const HEAD = ["ID", "NAME", "TIER", "USD", "BUNDLED", "DIEM TODAY", "STATE"];

function accountRow(account: AccountView): string[] {
	return [
		account.id,
		account.name,
		account.tier,
		formatNano(account.balances.usd),
		formatNano(account.balances.bundled),
		formatNano(account.balances.diem),
		account.disabled ? "disabled" : account.operator ? "operator" : "active",
	];
}

function printAccount(account: AccountView, json: boolean | undefined): void {
	const view = accountView(account);
	if (json) printJson(view);
	else printTable(Object.entries(view).map(([name, value]) => [name, String(value ?? "-")]));
}
