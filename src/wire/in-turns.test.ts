import { expect, test } from "bun:test";
import { inTurns, nextTurn } from "./in-turns.ts";

test("work at once takes turns, one step in a turn of the event loop", async () => {
	let turns = 0;
	let isOver = false;
	const count = () => {
		turns++;
		if (!isOver) setImmediate(count);
	};
	setImmediate(count);
	const order: string[] = [];
	function* work(name: string): Generator<undefined, string> {
		for (let step = 0; step < 3; step++) {
			order.push(name);
			yield;
		}
		return name;
	}
	expect(await Promise.all([inTurns(work("a")), inTurns(work("b")), inTurns(work("c"))])).toEqual(["a", "b", "c"]);
	isOver = true;
	expect(order).toEqual(["a", "b", "c", "a", "b", "c", "a", "b", "c"]);
	expect(turns).toBeGreaterThanOrEqual(8);
});

test("a turn comes also where nobody waited before", async () => {
	for (let round = 0; round < 3; round++) await nextTurn();
});
