import { afterAll, beforeAll, expect, test } from "bun:test";
import sharp from "sharp";
import { base64, decoded, type ImageGateway, startImageGateway } from "../../../../test/support/image-gateway.ts";

let images: ImageGateway;
let picture: string;

beforeAll(async () => {
	images = await startImageGateway({}, { processes: 1, maxWaiting: 10 });
	// 8 megapixels.
	const large = sharp({ create: { width: 3266, height: 2450, channels: 3, background: { r: 90, g: 120, b: 30 } } });
	picture = base64(await large.jpeg().toBuffer());
});
afterAll(() => images.stop());

test("many edits of 8 megapixels at once: what the account has of the queue is answered, the rest is told to come again, none is lost", async () => {
	const answers = await Promise.all(
		Array.from({ length: 10 }, () =>
			images.post("/image/edit", { image: picture, model: "local-edit", prompt: "shrink by 90%", safe_mode: false }),
		),
	);
	const good = answers.filter(({ status }) => status === 200);
	const refused = answers.filter(({ status }) => status === 429);
	expect(good.length + refused.length).toBe(10);
	// One in work and half of the queue; more where one is done before the last comes.
	expect(good.length).toBeGreaterThanOrEqual(6);
	for (const answer of good) expect(await decoded(answer)).toMatchObject({ width: 327, height: 245 });
	for (const answer of refused) {
		expect(answer.headers.get("retry-after")).not.toBeNull();
		expect(await answer.json()).toMatchObject({ code: "MODEL_OVERLOADED" });
	}
	expect(await images.gate.posts()).toHaveLength(good.length);
	expect(images.gate.gateway.budgets.holdsOpen).toBe(0);
	expect((await images.gate.audit()).ok).toBe(true);
});
