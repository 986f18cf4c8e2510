/** Wallets with top-ups, for the operator. */
import { defineCommand } from "citty";
import { addressOfIdentity, identityOfAddress, WALLET_ADDRESS } from "../access/index.ts";
import { formatNano } from "../ledger/nano.ts";
import { type AdminStore, listWallets, showWallet, type WalletEntryRow, type WalletView, walletEntries } from "../store/admin.ts";
import { refundCommand } from "./account-money.ts";
import { isoTime, print, printError, printJson, printJsonParts, printTable, printTableParts } from "./print.ts";
import { jsonArg, storeArgs } from "./store-args.ts";
import { withStore } from "./with-store.ts";

const PAGE = 500;
const LARGEST_LIMIT = 1_000;

const list = defineCommand({
	meta: { name: "list", description: "List wallets with their balances, newest first" },
	args: { ...jsonArg, ...storeArgs },
	run: ({ args }) =>
		withStore(args, async (admin) => {
			if (args.json) await printJsonParts(mapPages(admin, (page) => page.map(walletView)));
			else await printTableParts(mapPages(admin, (page, first) => [...(first ? [HEAD] : []), ...page.map(rowOf)]));
		}),
});

const show = defineCommand({
	meta: { name: "show", description: "Show a wallet and its history, newest first" },
	args: {
		wallet: { type: "positional", description: "Address of the wallet", required: true },
		limit: { type: "string", description: `The newest N entries, up to ${LARGEST_LIMIT}`, default: "50", valueHint: "N" },
		...jsonArg,
		...storeArgs,
	},
	run: ({ args }) => {
		const identity = identityOfAddress(args.wallet);
		if (identity === null) return refuse(`Expected the address of a wallet: ${WALLET_ADDRESS}`);
		const limit = /^\d{1,4}$/.test(args.limit) ? Number(args.limit) : 0;
		if (limit < 1 || limit > LARGEST_LIMIT) return refuse(`--limit: expected a whole number from 1 to ${LARGEST_LIMIT}`);
		return withStore(args, async (admin) => {
			const view = walletView(await showWallet(admin, { identity }));
			const { entries } = await walletEntries(admin, { identity, offset: 0, limit });
			const history = entries.map(entryView);
			if (args.json) return printJson({ ...view, history });
			printTable(Object.entries(view).map(([name, value]) => [name, String(value)]));
			print("");
			printTable([
				["TIME", "TYPE", "AMOUNT", "BALANCE AFTER", "REQUEST", "MODEL"],
				...history.map((entry) => [
					entry.createdAt,
					entry.type,
					entry.amountUsd,
					entry.balanceAfterUsd,
					entry.requestId ?? "-",
					entry.modelId ?? "-",
				]),
			]);
		});
	},
});

export const wallets = defineCommand({
	meta: { name: "wallets", description: "Wallets that pay with a balance of their own: list, show, refund" },
	subCommands: { list, show, refund: refundCommand },
});

const HEAD = ["WALLET", "USD", "TOPPED UP", "TOP-UPS", "ACCOUNT", "STATE"];

function rowOf(wallet: WalletView): string[] {
	return [
		addressOfIdentity(wallet.identity),
		formatNano(wallet.balance),
		formatNano(wallet.toppedUp),
		String(wallet.topUps),
		wallet.accountId,
		wallet.disabled ? "disabled" : "active",
	];
}

function walletView(wallet: WalletView) {
	return {
		wallet: addressOfIdentity(wallet.identity),
		identity: wallet.identity,
		accountId: wallet.accountId,
		disabled: wallet.disabled,
		balanceUsd: formatNano(wallet.balance),
		toppedUpUsd: formatNano(wallet.toppedUp),
		topUps: wallet.topUps,
		createdAt: isoTime(wallet.createdAtMs),
	};
}

function entryView(entry: WalletEntryRow) {
	const { id, type, amount, balanceAfter, createdAtMs, requestId, modelId } = entry;
	return {
		id,
		type,
		amountUsd: formatNano(amount),
		balanceAfterUsd: formatNano(balanceAfter),
		createdAt: isoTime(createdAtMs),
		requestId,
		modelId,
	};
}

/** Prints wallets while it reads them, because a store may have a million. */
async function* mapPages<T>(admin: AdminStore, map: (page: readonly WalletView[], first: boolean) => T): AsyncGenerator<T> {
	let last: WalletView | undefined;
	do {
		const page = await listWallets(admin, { after: last ?? null, limit: PAGE });
		yield map(page, last === undefined);
		last = page.length < PAGE ? undefined : page.at(-1);
	} while (last !== undefined);
}

function refuse(message: string): void {
	printError(message);
	process.exitCode = 1;
}
