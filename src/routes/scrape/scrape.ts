import type { Budgets } from "../../budgets/port.ts";
import { callPrice, unitsNano } from "../../catalog/index.ts";
import type { Config } from "../../config/index.ts";
import { PageFault, type PageReader } from "../../engines/web/port.ts";
import { ApiError } from "../../errors/index.ts";
import { invalidField } from "../../schema/index.ts";
import type { Call } from "../../server/call.ts";
import { type Admission, largeJson } from "../../server/endpoint.ts";
import { flatPriced } from "../../server/flat-price.ts";
import type { ScrapeBody } from "./schema.ts";

/** The dependencies of the scrape route. They are functions if a reload changes the result. */
export interface ScrapeDeps {
	readonly budgets: Budgets;
	readonly pages: PageReader;
	readonly config: () => Config;
}

/** Admits one page. Its price is held, the page is read, and the price is posted if there is a text. */
export function admitPage({ url }: ScrapeBody, call: Call, parts: ScrapeDeps): Admission {
	if (!/^https?:$/.test(URL.parse(url)?.protocol ?? "")) throw invalidField(["url"], "must be an absolute http or https URL");
	const { web, limits } = parts.config();
	const picoPrice = callPrice(web.pricePerPageUsd);
	return flatPriced(call, {
		budgets: parts.budgets,
		window: "scrape",
		requestsPerMinute: limits.augmentRequestsPerMinute,
		line: { sku: "scrape-page", units: 1, picoPrice },
		priceNano: unitsNano(1, picoPrice),
		async work() {
			try {
				const { content } = await parts.pages.read(url, call);
				return await largeJson({ url, content, format: "markdown" });
			} catch (fault) {
				throw fault instanceof PageFault ? pageError(fault) : fault;
			}
		},
	});
}

function pageError({ code, message, cause }: PageFault): ApiError {
	return new ApiError("INVALID_REQUEST", { message, param: "url", issues: [{ path: ["url"], code, message }], cause });
}
