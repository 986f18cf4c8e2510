import { expect, test } from "bun:test";
import { ScoredEngine } from "../../../test/support/image-engine.ts";
import { testConfig } from "../../../test/support/running-gateway.ts";
import { isChecked } from "./safe-picture.ts";

const engine = new ScoredEngine();
const partsOf = (optional: boolean) => {
	const config = testConfig({ images: { safeMode: { optional } } }, "/nowhere");
	return { engine, config: () => config };
};

test("callers may leave the look at a picture out only where the operator allows it", async () => {
	for (const [asked, optional, looked] of [
		[undefined, true, true],
		[true, true, true],
		[false, true, false],
		[undefined, false, true],
		[false, false, true],
	] as const)
		expect([asked, optional, await isChecked(asked, partsOf(optional))]).toEqual([asked, optional, looked]);
});

test("the way around it is told only where there is one", async () => {
	engine.state = { state: "offline", text: "on its way" };
	const told = (optional: boolean) => isChecked(true, partsOf(optional)).catch((error: Error) => error.message);
	expect(await told(true)).toContain("safe mode off");
	expect(await told(false)).not.toContain("safe mode off");
});
