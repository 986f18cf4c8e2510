import { defineCommand } from "citty";
import { formatNano } from "../ledger/nano.ts";
import {
	type AccountChanges,
	type AccountView,
	createAccount,
	credit,
	disableAccount,
	enableAccount,
	listAccounts,
	setAccount,
	showAccount,
} from "../store/admin.ts";
import type { AccountTier } from "../store/port.ts";
import { isoTime, print, printJson, printTable } from "./print.ts";
import { jsonArg, storeArgs } from "./store-args.ts";
import { withStore } from "./with-store.ts";

/** How long a change waits for money that a running server has to return first. */
const LEASED_PATIENCE_MS = 5_000;

const id = { type: "positional", description: "Account id (acc_...)", required: true } as const;

const create = defineCommand({
	meta: { name: "create", description: "Make an account" },
	args: {
		name: { type: "positional", description: "A name for people", required: true },
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
			else print(`Made ${account.id} (${account.name}). Its first key: npx --no turnpike keys create ${account.id}`);
		}),
});

const list = defineCommand({
	meta: { name: "list", description: "List accounts with their balances" },
	args: { ...jsonArg, ...storeArgs },
	run: ({ args }) =>
		withStore(args, async (admin) => {
			const accounts = await listAccounts(admin);
			if (args.json) return printJson(accounts.map(publicAccount));
			const head = ["ID", "NAME", "TIER", "USD", "BUNDLED", "DIEM TODAY", "STATE"];
			printTable([
				head,
				...accounts.map((account) => [
					account.id,
					account.name,
					account.tier,
					formatNano(account.balances.usd),
					formatNano(account.balances.bundled),
					formatNano(account.balances.diem),
					account.disabled ? "disabled" : account.operator ? "operator" : "active",
				]),
			]);
		}),
});

const show = defineCommand({
	meta: { name: "show", description: "Show one account" },
	args: { id, ...jsonArg, ...storeArgs },
	run: ({ args }) =>
		withStore(args, async (admin) => {
			const account = publicAccount(await showAccount(admin, args.id));
			if (args.json) return printJson(account);
			printTable(Object.entries(account).map(([name, value]) => [name, String(value ?? "-")]));
		}),
});

const creditCommand = defineCommand({
	meta: { name: "credit", description: "Add prepaid USD credit" },
	args: {
		id,
		amount: { type: "positional", description: "USD, like 12.50", required: true },
		ref: { type: "string", description: "Names the payment; a repeat under the same name adds nothing", valueHint: "REF" },
		...jsonArg,
		...storeArgs,
	},
	run: ({ args }) =>
		withStore(args, async (admin) => {
			const credited = await credit(admin, {
				accountId: args.id,
				amount: args.amount,
				...(args.ref ? { reference: args.ref } : {}),
			});
			if (args.json)
				return printJson({ ...credited, amount: formatNano(credited.amount), balance: formatNano(credited.balance) });
			const said = credited.replayed ? "was credited before under this reference; nothing was added" : "credited";
			print(`${formatNano(credited.amount)} USD ${said} (${credited.reference}). Balance: ${formatNano(credited.balance)} USD`);
		}),
});

const set = defineCommand({
	meta: { name: "set", description: "Change an account" },
	args: {
		id,
		tier: { type: "string", description: "paid, partner or staff", valueHint: "TIER" },
		"stake-diem": {
			type: "string",
			description: "Staked diem, or chain to read it there; counts from the next UTC day on",
			valueHint: "N|chain",
		},
		"bundled-usd": { type: "string", description: "What the bundled credit shall be, in USD", valueHint: "N" },
		wallet: { type: "string", description: "0x... to link, none to unlink", valueHint: "0x..|none" },
		...jsonArg,
		...storeArgs,
	},
	run: ({ args }) =>
		withStore(args, async (admin) => {
			const changes: AccountChanges = {
				...(args.tier !== undefined ? { tier: args.tier as AccountTier } : {}),
				...(args["stake-diem"] !== undefined ? { stakeDiem: args["stake-diem"] } : {}),
				...(args["bundled-usd"] !== undefined ? { bundledUsd: args["bundled-usd"] } : {}),
				...(args.wallet !== undefined ? { wallet: args.wallet === "none" ? null : args.wallet } : {}),
			};
			const account = publicAccount(await setAccount(admin, args.id, changes, LEASED_PATIENCE_MS));
			if (args.json) return printJson(account);
			printTable(Object.entries(account).map(([name, value]) => [name, String(value ?? "-")]));
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

export const accounts = defineCommand({
	meta: { name: "accounts", description: "Accounts: create, list, show, credit, set, disable, enable" },
	subCommands: {
		create,
		list,
		show,
		credit: creditCommand,
		set,
		disable: switching("disable", "Refuse the account's requests", disableAccount),
		enable: switching("enable", "Take the account's requests again", enableAccount),
	},
});

/** An account with its amounts as decimal text. */
function publicAccount(account: AccountView) {
	return {
		id: account.id,
		name: account.name,
		tier: account.tier,
		operator: account.operator,
		disabled: account.disabled,
		wallet: account.wallet,
		createdAt: isoTime(account.createdAtMs),
		balanceUsd: formatNano(account.balances.usd),
		bundledUsd: formatNano(account.balances.bundled),
		diemToday: formatNano(account.balances.diem),
		stakeDiemToday: formatNano(account.stake.today),
		stakeDiemNext: account.stake.next === null ? null : formatNano(account.stake.next),
		stakeSource: account.stake.source,
	};
}
