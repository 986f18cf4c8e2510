import { amountText, chargeText, type RequestRecord, skuOf, skuPriceText } from "../../budgets/index.ts";
import { ApiError } from "../../errors/index.ts";
import type { Answer } from "../../server/endpoint.ts";
import type { ConsoleApiDeps } from "./deps.ts";
import { answer } from "./page.ts";
import type { RequestDetail } from "./types.ts";
import { instant } from "./when.ts";

const REQUEST_ID = /^[A-Za-z0-9_-]{1,64}$/;
const DAY_MS = 86_400_000;

/** GET /requests/{id} */
export async function oneRequest(id: string, { reader, config, clock }: ConsoleApiDeps): Promise<Answer> {
	const record = REQUEST_ID.test(id) ? await reader.request(id) : null;
	const { requestDays } = config().retention;
	if (record === null || record.doneAtMs < clock.wallMs() - requestDays * DAY_MS)
		throw new ApiError("NOT_FOUND", {
			message: `No metered request of this id is booked, or it is older than ${requestDays} days (retention.requestDays)`,
		});
	return answer<{ data: RequestDetail }>({ data: detailOf(record, record.accountName) });
}

function detailOf(record: RequestRecord, accountName: string): RequestDetail {
	const { requestId, keyId, route, model, upstream, status, usage } = record;
	return {
		requestId,
		account: { id: record.accountId, name: accountName },
		keyId,
		route,
		model,
		upstream,
		status,
		admittedAt: instant(record.admittedAtMs),
		bookedAt: instant(record.bookedAtMs),
		tookMs: Math.max(0, record.doneAtMs - record.admittedAtMs),
		hold: amountText(record.hold),
		price: amountText(record.price),
		refunded: amountText(record.refunded),
		usage,
		lines: record.lines.map(({ sku, units, picoPrice, amount, source }) => {
			const { unitType } = skuOf(sku);
			return {
				sku,
				units,
				unitType,
				pricePerUnitUsd: skuPriceText(sku, picoPrice),
				text: chargeText({ sku, units, picoPrice, amount }),
				amount: amountText(amount),
				source,
			};
		}),
	};
}
