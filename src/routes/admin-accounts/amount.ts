import { invalidField } from "../../schema/index.ts";

const DECIMAL = /^\d{1,10}(\.\d{1,9})?$/;

/** Throws 400 naming the field, unless it is decimal text: digits, at most 9 places, no sign, no exponent. */
export function checkAmount(path: readonly string[], text: string): void {
	if (!DECIMAL.test(text)) throw invalidField(path, 'must be digits with at most 9 places, like "12.50"');
}
