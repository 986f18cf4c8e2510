/** The building blocks of the configuration's sections: closed objects with their defaults, and text formats. */
import Type, { type TObject, type TProperties, type TSchema } from "typebox";
import { registerRule } from "../schema/patterned-text.ts";

/**
 * A section that may be left out as a whole: its members' defaults fill it. Values of a record need it too: the validator fills
 * the defaults of a record's values only if the value itself has one.
 */
export const section = <T extends TProperties>(properties: T, description?: string): TObject<T> =>
	Type.Object(properties, { additionalProperties: false, default: {}, ...(description ? { description } : {}) }) as TObject<T>;
export const ms = (fallback: number, description?: string) =>
	Type.Integer({ minimum: 1, maximum: 86_400_000, default: fallback, ...(description ? { description } : {}) });
/** Keyword of a price: its minimum if it is not 0, because less would be charged as 0 (src/ledger/nano.ts). */
export const LEAST_KEYWORD = "x-least";
/** A price in USD of one thing, or of the time of which `least` is a unit. */
export const price = (options: { maximum: number; least: number; default?: number; description?: string }) => {
	const { least, ...rest } = options;
	return Type.Number({ minimum: 0, [LEAST_KEYWORD]: least, ...rest });
};
/** A nano-USD: the smallest amount of the ledger. */
export const LEAST_USD = 1e-9;
/** A pico-USD for each of a million. */
export const LEAST_USD_PER_MILLION = 1e-6;
/** The address of a caller or a server. */
export const HTTP_ADDRESS = "^https?://";
/** A name for log lines and for paths in messages: no control characters. */
export const PLAIN_TEXT = "^[^\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029]+$";
export const text = () => Type.String({ pattern: PLAIN_TEXT });
/** A name that an operator chooses: `names` describes `pattern` in words, for the error message. */
export const named = <T extends TSchema>(
	value: T,
	options: { pattern?: string; names?: string; default?: unknown; description?: string } = {},
) => {
	const { pattern = PLAIN_TEXT, names = "a name without control characters", ...rest } = options;
	return Type.Record(Type.String({ pattern }), value, { additionalProperties: false, names, ...rest });
};
/** Visible characters of one byte with spaces and tabs between them (RFC 9110, 5.5). */
export const HEADER_VALUE = "^$|^[\\x21-\\x7e\\x80-\\xff]([\\t\\x20-\\x7e\\x80-\\xff]*[\\x21-\\x7e\\x80-\\xff])?$";

/** The name of an HTTP header (RFC 9110, 5.1). */
export const HEADER_NAME = "^[!#$%&'*+.^_`|~0-9A-Za-z-]+$";
/** A path below an address; names in braces are replaced. */
export const PATH_BELOW = "^[A-Za-z0-9._~{}-]+(/[A-Za-z0-9._~{}-]+)*$";

export const POSTGRES_ADDRESS = "^postgres(ql)?://";

export const EVM_ADDRESS = "^0x[0-9a-fA-F]{40}$";
export const SOLANA_ADDRESS = "^[1-9A-HJ-NP-Za-km-z]{32,44}$";
/** A function name and one argument, for eth_call. */
export const ADDRESS_VIEW = "^[A-Za-z_$][A-Za-z0-9_$]{0,99}\\(address\\)$";
export const CREDIT = "^\\d{1,7}(\\.\\d{1,9})?$";
export const AMOUNT = "^\\d{1,6}(\\.\\d{1,9})?$";
export const PRIVATE_KEY = "^(0x)?[0-9a-fA-F]{64}$";

/** A product's name as in robots.txt (RFC 9309, 2.2.1). */
export const PRODUCT_TOKEN = "^[A-Za-z_-]{1,64}$";
export const CONTACT = "^(https?://|mailto:)[\\x21-\\x7e]+$";

/** Describes the patterns in words, for messages. */
export const PATTERN_WORDS: Readonly<Record<string, string>> = {
	[HTTP_ADDRESS]: "an address that begins with http:// or https://, like http://localhost:8000/v1",
	[POSTGRES_ADDRESS]: "an address like postgres://user:password@host/database",
	[EVM_ADDRESS]: "an address: 0x and 40 hex digits",
	[SOLANA_ADDRESS]: "an address of Solana: 32 to 44 characters of base58",
	[ADDRESS_VIEW]: "a view of one address, like balanceOf(address)",
	[PRIVATE_KEY]: "a private key: 64 hex digits",
	[AMOUNT]: "a decimal number below a million with at most 9 places, like 0.5",
	[PLAIN_TEXT]: "text without control characters",
	[PRODUCT_TOKEN]: "a name of up to 64 letters, dashes and underscores",
	[CONTACT]: "an address that begins with http://, https:// or mailto:",
	[HEADER_NAME]: "the name of an HTTP header",
	[PATH_BELOW]: "a path without a slash at its ends, like attestation/report",
	[HEADER_VALUE]: "the value of a header: one line of one-byte characters, no space at its ends",
	[CREDIT]: "a decimal number with at most 9 places, like 12.50",
};
for (const [pattern, words] of Object.entries(PATTERN_WORDS)) registerRule(pattern, `expected ${words}`);

export const headers = () =>
	Type.Optional(
		named(Type.String({ pattern: HEADER_VALUE }), {
			pattern: HEADER_NAME,
			names: "the name of an HTTP header",
			description: "Additional headers of every request",
		}),
	);

/** The number of concurrent requests to an upstream. */
export const maxConcurrent = () =>
	Type.Optional(
		Type.Integer({ minimum: 1, description: "Requests at the same time; others wait up to 5 s, and accounts take turns" }),
	);
/** When an upstream is taken out of use, and how it returns. */
export const health = () =>
	section({
		failures: Type.Integer({ minimum: 1, default: 3, description: "Consecutive faults that take it out of use" }),
		probeEveryMs: ms(5_000, "How often it is probed while out of use"),
	});
