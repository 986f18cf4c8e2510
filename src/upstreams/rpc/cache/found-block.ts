import { arrayElements, lastMember, OPEN_BRACKET, objectMembers } from "../../../wire/index.ts";
import { blockNumberAt } from "./block-number.ts";

/**
 * Returns the block of an object found by its hash: this member of the result, or of its first element if it is a list.
 * Returns null if there is none, for example for a pending transaction.
 */
export function foundBlock(result: Uint8Array, member: string): number | null {
	try {
		const at = result[0] === OPEN_BRACKET ? arrayElements(result, 0, 1)[0]?.start : 0;
		if (at === undefined) return null;
		const block = lastMember(objectMembers(result, at), member);
		return block === undefined ? null : blockNumberAt(result, { start: block.valueStart, end: block.valueEnd });
	} catch {
		// The result is nested too deeply, or is no object.
		return null;
	}
}
