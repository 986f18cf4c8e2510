/** Keys with limits on a store that several nodes share: what they spend elsewhere is read, not leased (docs/money.md). */
import type { SpendingWindow } from "./spending-window.ts";

/** How old what is known of other nodes' spending gets while a key is used. */
const EVERY_MS = 200;
/** What is older is read before a request goes on. */
const IDLE_MS = 1_000;
/** The same where little of a limit is left. */
const TIGHT_MS = 20;
/** Where the store takes longer for that, the request goes on by what is known. */
export const SPENT_WAIT_MS = 250;

/** What a request has to do about a window that was read so long ago: nothing, have it read, or wait for that. */
export function spentRead(window: SpendingWindow, agoMs: number): "none" | "ahead" | "first" {
	if (agoMs > (window.tight ? TIGHT_MS : IDLE_MS)) return "first";
	return agoMs > EVERY_MS ? "ahead" : "none";
}
