import type { RpcBlockArgument, RpcMethod } from "../../../catalog/rpc/types.ts";
import {
	arrayElements,
	type ByteRange,
	foldedName,
	type JsonMember,
	OPEN_BRACE,
	OPEN_BRACKET,
	objectMembers,
} from "../../../wire/index.ts";
import { blockNumberAt } from "./block-number.ts";

/** The members that name a block by number in an object (EIP-1898, and Starknet's BLOCK_ID). */
const BY_NUMBER: readonly string[] = ["blockNumber", "block_number"];
/** The member of a filter that replaces the block numbers. */
const BY_HASH = "blockhash";

/**
 * Returns the highest block that a call reads, if it names each block by number. Returns null if a block is left out,
 * or is a tag or a hash, because the answer may then change. Also returns null if servers could differ on which member
 * counts, by its spelling or its repetition.
 * `params` is JSON that was checked before.
 */
export function calledBlock(method: RpcMethod, params: Uint8Array): number | null {
	let highest: number | null = null;
	for (const argument of method.blocks) {
		const value = argumentAt(params, argument);
		if (value === null) return null;
		const numbers = argument.members === null ? [blockAt(params, value)] : membersAt(params, value, argument.members);
		for (const number of numbers) {
			if (number === null) return null;
			highest = Math.max(highest ?? 0, number);
		}
	}
	return highest;
}

function argumentAt(params: Uint8Array, { position, name }: RpcBlockArgument): ByteRange | null {
	if (params[0] === OPEN_BRACKET) return arrayElements(params, 0, position + 1)[position] ?? null;
	if (params[0] !== OPEN_BRACE || name === null) return null;
	const members = objectMembers(params, 0);
	return hasTwins(members) ? null : rangeOf(members, name);
}

function blockAt(params: Uint8Array, value: ByteRange): number | null {
	if (params[value.start] !== OPEN_BRACE) return blockNumberAt(params, value);
	const [member, ...others] = objectMembers(params, value.start);
	if (member === undefined || others.length > 0 || !BY_NUMBER.includes(member.key)) return null;
	return blockNumberAt(params, { start: member.valueStart, end: member.valueEnd });
}

function membersAt(params: Uint8Array, value: ByteRange, names: readonly string[]): (number | null)[] {
	if (params[value.start] !== OPEN_BRACE) return [null];
	const members = objectMembers(params, value.start);
	if (hasTwins(members) || members.some(({ key }) => foldedName(key) === BY_HASH)) return [null];
	return names.map((name) => {
		const range = rangeOf(members, name);
		return range === null ? null : blockAt(params, range);
	});
}

function rangeOf(members: readonly JsonMember[], name: string): ByteRange | null {
	const member = members.find(({ key }) => key === name);
	return member === undefined ? null : { start: member.valueStart, end: member.valueEnd };
}

/** Returns true if two members differ only in case. Some nodes accept keys in any case and use the last one. */
function hasTwins(members: readonly JsonMember[]): boolean {
	return new Set(members.map(({ key }) => foldedName(key))).size < members.length;
}
