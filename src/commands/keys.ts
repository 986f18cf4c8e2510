import { defineCommand } from "citty";
import { generateSecretKey, keyHash } from "../access/index.ts";
import { createKey, listKeys, revokeKey } from "../store/admin.ts";
import type { ApiKey, LimitPeriod } from "../store/port.ts";
import { instantOf } from "./instant.ts";
import { isoTime, mapPages, print, printError, printJson, printJsonParts, printTableParts, withHead } from "./print.ts";
import { jsonArg, storeArgs } from "./store-args.ts";
import { withStore } from "./with-store.ts";

const PERIODS: readonly LimitPeriod[] = ["EPOCH", "MONTH", "LIFETIME"];

const create = defineCommand({
	meta: { name: "create", description: "Create a key and show it once" },
	args: {
		account: { type: "positional", description: "Account id (acc_...)", required: true },
		type: { type: "string", description: "INFERENCE or ADMIN", default: "INFERENCE", valueHint: "TYPE" },
		description: { type: "string", description: "Purpose of the key" },
		"limit-usd": { type: "string", description: "USD that the key may spend in a period", valueHint: "N" },
		"limit-diem": { type: "string", description: "Diem that the key may spend in a period", valueHint: "N" },
		period: { type: "string", description: "EPOCH (UTC day), MONTH or LIFETIME", default: "EPOCH", valueHint: "PERIOD" },
		expires: {
			type: "string",
			description: "When it expires: a day (00:00 UTC), or an instant like 2030-01-31T12:00:00Z",
			valueHint: "TIME",
		},
		...jsonArg,
		...storeArgs,
	},
	run: ({ args }) =>
		withStore(args, async (admin) => {
			const type = args.type.toUpperCase();
			if (type !== "ADMIN" && type !== "INFERENCE") return refuse("--type: expected INFERENCE or ADMIN");
			const limitPeriod = PERIODS.find((period) => period === args.period.toUpperCase());
			if (limitPeriod === undefined) return refuse(`--period: expected one of ${PERIODS.join(", ")}`);
			const expiresAtMs = args.expires === undefined ? null : instantOf(args.expires);
			if (expiresAtMs === undefined || (expiresAtMs !== null && expiresAtMs <= Date.now()))
				return refuse("--expires: expected a day or an instant in the future, like 2030-01-31 or 2030-01-31T12:00:00Z");
			const secret = generateSecretKey(type);
			const key = await createKey(admin, {
				accountId: args.account,
				type,
				hash: keyHash(secret),
				last6: secret.slice(-6),
				description: args.description ?? "",
				limits: { usd: args["limit-usd"] ?? null, diem: args["limit-diem"] ?? null, vcu: null },
				limitPeriod,
				expiresAtMs,
			});
			if (args.json) return printJson({ ...publicKey(key), apiKey: secret });
			print(`Key ${key.id} of ${key.accountId}, shown only once:\n\n  ${secret}\n`);
		}),
});

const list = defineCommand({
	meta: { name: "list", description: "List keys" },
	args: {
		account: { type: "positional", description: "List only the keys of this account", required: false },
		...jsonArg,
		...storeArgs,
	},
	run: ({ args }) =>
		withStore(args, async (admin) => {
			const pages = listKeys(admin, args.account);
			if (args.json) await printJsonParts(mapPages(pages, (keys) => keys.map(publicKey)));
			else
				await printTableParts(
					withHead(
						HEAD,
						mapPages(pages, (keys) => keys.map(keyRow)),
					),
				);
		}),
});

const HEAD = ["ID", "ACCOUNT", "TYPE", "ENDS IN", "LIMITS", "LAST USED", "EXPIRES", "DESCRIPTION"];

function keyRow(apiKey: ApiKey): string[] {
	const key = publicKey(apiKey);
	return [
		key.id,
		key.accountId,
		key.apiKeyType,
		key.last6Chars,
		limitText(key),
		key.lastUsedAt ?? "-",
		key.expiresAt ?? "-",
		key.description,
	];
}

const revoke = defineCommand({
	meta: { name: "revoke", description: "Revoke a key immediately" },
	args: { id: { type: "positional", description: "Key id", required: true }, ...storeArgs },
	run: ({ args }) =>
		withStore(args, async (admin) => {
			const key = await revokeKey(admin, args.id);
			print(`Key ${key.id} (ending in ${key.last6}) is revoked`);
		}),
});

export const keys = defineCommand({
	meta: { name: "keys", description: "API keys: create, list, revoke" },
	subCommands: { create, list, revoke },
});

function publicKey(key: ApiKey) {
	return {
		id: key.id,
		accountId: key.accountId,
		apiKeyType: key.type,
		last6Chars: key.last6,
		description: key.description,
		consumptionLimits: key.limits,
		limitPeriod: key.limitPeriod,
		restrictions: key.restrictions,
		createdAt: isoTime(key.createdAtMs),
		expiresAt: key.expiresAtMs === null ? null : isoTime(key.expiresAtMs),
		lastUsedAt: key.lastUsedAtMs === null ? null : isoTime(key.lastUsedAtMs),
	};
}

function limitText(key: ReturnType<typeof publicKey>): string {
	const { usd, diem } = key.consumptionLimits;
	const parts = [usd === null ? [] : [`${usd} USD`], diem === null ? [] : [`${diem} diem`]].flat();
	return parts.length === 0 ? "-" : `${parts.join(", ")} per ${key.limitPeriod}`;
}

function refuse(text: string): void {
	printError(text);
	process.exitCode = 1;
}
