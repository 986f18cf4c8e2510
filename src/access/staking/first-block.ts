import type { Block } from "../evm/index.ts";

/**
 * Returns the first block at or after an instant (Unix seconds); `head` is at or after it, too. Steps back from `head` in
 * doubling strides and then bisects: it never requests blocks much older than the instant, because some nodes do not keep them.
 */
export async function firstBlockSince(since: number, head: Block, blockAt: (number: number) => Promise<Block>): Promise<Block> {
	let later = head;
	let tooOld = -1;
	for (let stride = 1; later.number > 0; stride *= 2) {
		const block = await blockAt(Math.max(0, later.number - stride));
		if (block.timestamp < since) {
			tooOld = block.number;
			break;
		}
		later = block;
	}
	while (later.number - tooOld > 1) {
		const block = await blockAt(Math.floor((tooOld + later.number) / 2));
		if (block.timestamp < since) tooOld = block.number;
		else later = block;
	}
	return later;
}
