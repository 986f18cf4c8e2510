import { costText } from "./credits.ts";

/** The headers of a 200 that say what was charged; `picoPrice` is that of a credit. */
export function costHeaders(credits: number, picoPrice: number): Record<string, string> {
	return { "X-Service-RPC-Credits": String(credits), "X-Service-RPC-Cost-USD": costText(credits, picoPrice) };
}
