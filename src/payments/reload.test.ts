import { afterAll, test } from "bun:test";
import { testConfig } from "../../test/support/running-gateway.ts";
import { temporaryFolder } from "../../test/support/served.ts";
import { until } from "../../test/support/until.ts";
import { systemClock, systemTimers } from "../telemetry/clock.ts";
import { silentLog } from "../telemetry/log.ts";
import { createTopUps } from "./index.ts";

const seen: (string | null)[] = [];
const facilitator = Bun.serve({
	port: 0,
	hostname: "127.0.0.1",
	fetch(request) {
		seen.push(request.headers.get("authorization"));
		return Response.json({ kinds: [] });
	},
});
afterAll(() => facilitator.stop(true));

test("a facilitator's secret is replaced while the server runs", async () => {
	const folder = temporaryFolder();
	const configOf = (secret: string) =>
		testConfig(
			{
				x402: {
					solana: {
						payTo: "11111111111111111111111111111112",
						rpcUrl: "http://127.0.0.1:9",
						facilitator: { url: `http://127.0.0.1:${facilitator.port}`, headers: { authorization: secret } },
					},
				},
			},
			folder,
		);
	const store = { node: { id: "node_a", epoch: 1 }, shared: false, admin: () => Promise.reject(new Error("no store")) };
	const created = createTopUps({
		config: configOf("first"),
		store: store as never,
		clock: systemClock,
		timers: systemTimers,
		log: silentLog,
	});
	const resource = { url: "http://localhost/", description: "", mimeType: "" };
	// An offer asks the facilitator who pays the fees on Solana.
	const offer = () => created?.topUps.offers.v2({ resource });
	offer();
	await until(() => seen.includes("first"));
	created?.reload(configOf("second").x402);
	await until(() => {
		offer();
		return seen.at(-1) === "second";
	});
});
