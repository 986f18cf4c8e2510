import { amountText } from "../../budgets/index.ts";
import type { Answer } from "../../server/endpoint.ts";
import type { ConsoleApiDeps } from "./deps.ts";
import { numberOf, pageAnswer, pageOf } from "./page.ts";
import type { RefusalsQuery, SendsQuery, TopUpsQuery, WalletsQuery } from "./schema.ts";
import type { RefusalRow, SendRow, TopUpRow, WalletRow } from "./types.ts";
import { dayOf, instant, instantOrNull } from "./when.ts";

const DAY_MS = 86_400_000;

/** GET /sends: transactions sent to chains, by hashes. */
export async function sends(query: SendsQuery, { reader }: ConsoleApiDeps): Promise<Answer> {
	const { limit, after } = pageOf(query);
	const { hash, network, keyId, since } = query;
	const page = await reader.page("sends", {
		after: after === null ? null : { sentAtMs: after.atMs, id: numberOf(after) },
		limit,
		...(hash ? { hash } : {}),
		...(network ? { network } : {}),
		...(keyId ? { keyId } : {}),
		...(since === undefined ? {} : { sinceMs: dayOf("since", since) * DAY_MS }),
	});
	return pageAnswer(
		page,
		(send): SendRow => ({
			requestId: send.requestId,
			item: send.item,
			accountId: send.accountId,
			keyId: send.keyId,
			network: send.network,
			method: send.method,
			rawHash: send.rawHash,
			transactionHash: send.txHash,
			sentAt: instant(send.sentAtMs),
			outcome: send.outcome,
			endedAt: instantOrNull(send.endedAtMs),
		}),
		({ place }) => ({ atMs: place.sentAtMs, id: String(place.id) }),
	);
}

/** GET /refusals: requests that a limit refused. */
export async function refusals(query: RefusalsQuery, { reader }: ConsoleApiDeps): Promise<Answer> {
	const { limit, after } = pageOf(query);
	const { accountId } = query;
	const before = after === null ? null : numberOf(after);
	const page = await reader.page("refusals", { before, limit, ...(accountId ? { accountId } : {}) });
	return pageAnswer(
		page,
		(entry): RefusalRow => ({
			at: instant(entry.atMs),
			account: { id: entry.accountId, name: entry.accountName },
			keyId: entry.keyId,
			modelId: entry.modelId,
			tier: entry.tier,
			kind: entry.kind,
		}),
		({ atMs, place }) => ({ atMs, id: String(place) }),
	);
}

/** GET /wallets: those that topped up. */
export async function wallets(query: WalletsQuery, { reader }: ConsoleApiDeps): Promise<Answer> {
	const { limit, after } = pageOf(query);
	const page = await reader.page("wallets", {
		after: after === null ? null : { createdAtMs: after.atMs, accountId: after.id },
		limit,
		...(query.search ? { search: query.search } : {}),
	});
	return pageAnswer(
		page,
		(wallet): WalletRow => ({
			accountId: wallet.accountId,
			identity: wallet.identity,
			disabled: wallet.disabled,
			balanceUsd: amountText(wallet.balance),
			toppedUpUsd: amountText(wallet.toppedUp),
			topUps: wallet.topUps,
			createdAt: instant(wallet.createdAtMs),
		}),
		({ createdAtMs, accountId }) => ({ atMs: createdAtMs, id: accountId }),
	);
}

/** GET /top-ups */
export async function topUps(query: TopUpsQuery, { reader }: ConsoleApiDeps): Promise<Answer> {
	const { limit, after } = pageOf(query);
	const { state, payer } = query;
	const page = await reader.page("topUps", {
		after: after === null ? null : { createdAtMs: after.atMs, id: after.id },
		limit,
		...(state ? { state } : {}),
		...(payer ? { payer } : {}),
	});
	return pageAnswer(
		page,
		({ id, network, payer: from, amount, transaction, reason, accountId, ...entry }): TopUpRow => ({
			id,
			state: entry.state,
			network,
			payer: from,
			amountUsd: amountText(amount),
			transaction,
			reason,
			accountId,
			createdAt: instant(entry.createdAtMs),
			endedAt: instantOrNull(entry.endedAtMs),
		}),
		({ createdAtMs, id }) => ({ atMs: createdAtMs, id }),
	);
}
