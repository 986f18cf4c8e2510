import Type, { type Static } from "typebox";
import { DescriptionSchema, KEY_FIELDS, KeyTypeSchema, TierSchema } from "../../access/index.ts";
import { closed } from "../../schema/closed.ts";
import { patternedText } from "../../schema/patterned-text.ts";

const name = () => Type.String({ description: "A name for people, 1 to 200 characters" });
const DECIMAL = "[0-9]{1,10}(\\.[0-9]{1,9})?";
const AMOUNT_RULE = 'must be digits with at most 9 places, like "12.50"';
/** Amounts are text: JSON numbers are floats in most programs, and 0.1 is not exact as a float. */
const amount = (description: string) =>
	patternedText(`^${DECIMAL}$`, AMOUNT_RULE, {
		description: `${description}: decimal text with at most 9 places, like "12.50"`,
	});

export const CreateAccountSchema = closed({
	name: name(),
	tier: Type.Optional(TierSchema),
	creditUsd: Type.Optional(amount("The initial credit")),
});
export type CreateAccount = Static<typeof CreateAccountSchema>;

export const ChangeAccountSchema = closed({
	name: Type.Optional(name()),
	tier: Type.Optional(TierSchema),
	stakeDiem: Type.Optional(
		patternedText(`^(chain|${DECIMAL})$`, `${AMOUNT_RULE}, or "chain"`, {
			description: 'Staked diem from the next UTC day on, or "chain" to read it from the chain',
		}),
	),
	bundledUsd: Type.Optional(amount("The new bundled credit")),
	wallet: Type.Optional(Type.Union([Type.String(), Type.Null()], { description: "0x and 40 hex digits, or null for none" })),
	disabled: Type.Optional(Type.Boolean({ description: "true: requests of the account are refused" })),
});
export type ChangeAccount = Static<typeof ChangeAccountSchema>;

export const MoneySchema = closed({ amountUsd: amount("USD") });
export type Money = Static<typeof MoneySchema>;

export const RefundSchema = closed({
	requestId: Type.String({ description: "The X-Request-ID of the charged request" }),
	amountUsd: Type.Optional(amount("The part to refund. Absent: all that is left")),
});
export type Refund = Static<typeof RefundSchema>;

export const PageSchema = Type.Object({
	limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 500, description: "Entries on a page, default 100" })),
	cursor: Type.Optional(
		patternedText("^[A-Za-z0-9_-]{1,512}$", "is not a cursor of this list; begin again without one", {
			description: "nextCursor of the previous page",
		}),
	),
});
export type PageQuery = Static<typeof PageSchema>;
export const DEFAULT_LIMIT = 100;

export const CreateCustomerKeySchema = closed({
	apiKeyType: KeyTypeSchema,
	description: Type.Optional(DescriptionSchema),
	...KEY_FIELDS,
});
export type CreateCustomerKey = Static<typeof CreateCustomerKeySchema>;

export const ChangeCustomerKeySchema = closed({
	description: Type.Optional(Type.Union([DescriptionSchema, Type.Null()])),
	...KEY_FIELDS,
});
export type ChangeCustomerKey = Static<typeof ChangeCustomerKeySchema>;

/** Returns the schema of a page of a list. */
export const pageAnswer = (item: Type.TSchema) =>
	closed({ object: Type.Literal("list"), data: Type.Array(item), nextCursor: Type.Union([Type.String(), Type.Null()]) });
