import { afterAll, beforeAll, expect, test } from "bun:test";
import { ScoredEngine } from "../../../../test/support/image-engine.ts";
import { base64, plainPicture } from "../../../../test/support/image-gateway.ts";
import { upstreamEntry } from "../../../../test/support/running-gateway.ts";
import { startScriptedImageUpstream } from "../../../../test/support/scripted-image-upstream.ts";
import { startWalletGateway, type WalletGateway } from "../../../../test/support/wallet-gateway.ts";
import { testWallet } from "../../../../test/support/wallets.ts";

const upstream = startScriptedImageUpstream((size) => plainPicture(size));
const engine = new ScoredEngine();
let fixture: WalletGateway;
let picture: string;

beforeAll(async () => {
	fixture = await startWalletGateway({
		images: engine,
		config: {
			upstreams: { painter: upstreamEntry(upstream.url) },
			models: { entries: { "qwen-edit": { upstreams: [{ upstream: "painter", weight: 1, order: 0 }] } } },
		},
	});
	picture = base64(await plainPicture("300x300"));
});
afterAll(async () => {
	await fixture.stop();
	await Promise.all([engine.stop(), upstream.stop()]);
});

const edit = (headers: Record<string, string>) =>
	fetch(`${fixture.gate.url}/api/v1/image/edit`, {
		method: "POST",
		headers: { "content-type": "application/json", ...headers },
		body: JSON.stringify({ model: "qwen-edit", prompt: "make it green", image: picture }),
	});

test("a wallet that signs in pays for its edit, and is told what is left", async () => {
	const wallet = testWallet();
	const account = await fixture.fund(wallet, "0.125");
	const answer = await edit(await wallet.signIn(fixture.gate.url));
	expect(answer.status).toBe(200);
	expect(answer.headers.get("x-balance-remaining")).toBe("0.085000");
	expect(await fixture.gate.balance(account)).toBe(85_000_000);
});

test("a wallet without enough is told how to top up, and no server is asked", async () => {
	const wallet = testWallet();
	await fixture.fund(wallet, "0.039");
	const before = upstream.requests.length;
	const answer = await edit(await wallet.signIn(fixture.gate.url));
	expect(answer.status).toBe(402);
	expect(await answer.json()).toMatchObject({ code: "PAYMENT_REQUIRED" });
	expect(upstream.requests.length).toBe(before);
});
