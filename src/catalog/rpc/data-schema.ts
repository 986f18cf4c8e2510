/** The schemas of `catalog/rpc/*.json`. */

import Type, { type Static } from "typebox";
import { closed } from "../../schema/closed.ts";

const Name = Type.String({ pattern: "^[A-Za-z0-9_]+$", maxLength: 128 });
const Names = Type.Array(Name, { minItems: 1, uniqueItems: true });
const Text = Type.String({ minLength: 1 });
const Family = Type.String({ pattern: "^[a-z]+$" });
const Vm = Type.Enum(["evm", "starknet", "solana"]);

const RpcNetworkDataSchema = closed({
	slug: Type.String({ pattern: "^[a-z]+-[a-z]+$" }),
	family: Family,
	vm: Vm,
	kind: Type.Enum(["mainnet", "testnet"]),
	chainId: Type.Union([Type.Integer({ minimum: 1 }), Type.String({ pattern: "^0x[1-9a-f][0-9a-f]*$" }), Type.Null()]),
	baseCredits: Type.Integer({ minimum: 1 }),
	caip2: Type.Optional(Text),
	optional: Type.Optional(Type.Boolean()),
	note: Type.Optional(Text),
});

export const RpcNetworkFileSchema = closed({
	about: Type.String(),
	/** Aliases of families, as callers write them. */
	familyAliases: Type.Record(Type.String({ pattern: "^[a-z0-9]+$" }), Family),
	networks: Type.Array(RpcNetworkDataSchema, { minItems: 1 }),
});

const BlockArgumentSchema = closed({
	position: Type.Integer({ minimum: 0, maximum: 15 }),
	name: Type.Optional(Name),
	members: Type.Optional(Names),
});

const RpcMethodDataSchema = closed({
	/** For an entry under `prefixes`: the prefix of the names. */
	name: Name,
	vm: Vm,
	tier: Type.Enum(["standard", "advanced", "large"]),
	cache: Type.Enum(["never", "constant", "until-new-block", "by-block", "by-hash"]),
	maxAgeSeconds: Type.Optional(Type.Integer({ minimum: 1 })),
	blocks: Type.Optional(Type.Array(BlockArgumentSchema, { minItems: 1 })),
	blockNumberAt: Type.Optional(Name),
	families: Type.Optional(Type.Array(Family, { minItems: 1 })),
	slow: Type.Optional(Type.Boolean()),
	capability: Type.Optional(Type.Enum(["trace", "debug", "txpool", "bundler"])),
	send: Type.Optional(Type.Enum(["raw-transaction", "other"])),
	sendHashAt: Type.Optional(Name),
	note: Type.Optional(Text),
	/** Known names with this prefix. */
	known: Type.Optional(Names),
});

const BlockedSchema = closed({
	reason: Type.Enum(["websocket_only", "stateful_filter", "key_or_miner", "not_allowlisted"]),
	/** Continues a sentence that starts with the method's name. */
	text: Text,
	hint: Type.Optional(Text),
	names: Type.Optional(Names),
	prefixes: Type.Optional(Names),
	suffixes: Type.Optional(Names),
});

const Multiplier = Type.Union([Type.Literal(1), Type.Literal(2), Type.Literal(4)]);

export const RpcMethodFileSchema = closed({
	about: Type.String(),
	tiers: closed({ standard: Multiplier, advanced: Multiplier, large: Multiplier }),
	methods: Type.Array(RpcMethodDataSchema),
	prefixes: Type.Array(RpcMethodDataSchema),
	blocked: Type.Array(BlockedSchema),
});

export type RpcNetworkData = Static<typeof RpcNetworkDataSchema>;
export type RpcMethodData = Static<typeof RpcMethodDataSchema>;
export type RpcMethodFile = Static<typeof RpcMethodFileSchema>;
