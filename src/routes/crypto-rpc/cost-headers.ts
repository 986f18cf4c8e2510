import { costText } from "./credits.ts";

/**
 * Returns the headers of a 200 that report the charge.
 * @param picoPrice price of a credit
 */
export function costHeaders(credits: number, picoPrice: number): Record<string, string> {
	return { "X-Service-RPC-Credits": String(credits), "X-Service-RPC-Cost-USD": costText(credits, picoPrice) };
}
