import { expect, test } from "bun:test";
import { startGateway } from "../../../../test/support/running-gateway.ts";

test("the names of styles are free, with and without a key", async () => {
	const gate = await startGateway();
	try {
		for (const headers of [{}, { authorization: `Bearer ${gate.key}` }, { authorization: "Bearer nobody" }]) {
			const response = await fetch(`${gate.url}/api/v1/image/styles`, { headers });
			expect(response.status).toBe(200);
			const { data, object } = (await response.json()) as { data: string[]; object: string };
			expect(object).toBe("list");
			expect(data).toContain("Watercolor");
			expect(new Set(data).size).toBe(data.length);
		}
	} finally {
		await gate.stop();
	}
});
