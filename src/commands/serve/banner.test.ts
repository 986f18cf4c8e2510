import { expect, test } from "bun:test";
import { type BannerOptions, banner } from "./banner.ts";

const FACTS: BannerOptions = {
	url: "http://127.0.0.1:8787",
	newKey: "sk_adm_new",
	keyFromEnvironment: false,
	creditUsd: "10",
	chatModel: null,
	chatNote: null,
	network: null,
};
const curls = (facts: Partial<BannerOptions>) => banner({ ...FACTS, ...facts }).match(/curl .*/g) ?? [];

test("what works now is shown as lines to paste: models, or a chat, and a chain where one has an upstream", () => {
	expect(curls({})).toEqual(['curl http://127.0.0.1:8787/api/v1/models -H "Authorization: Bearer sk_adm_new"']);
	const [chat, chain] = curls({ chatModel: "default", network: "base-mainnet" });
	expect(chat).toContain("/api/v1/chat/completions");
	expect(chain).toBe(
		`curl http://127.0.0.1:8787/api/v1/crypto/rpc/base-mainnet -H "Authorization: Bearer sk_adm_new" -H "Content-Type: application/json" -d '{"jsonrpc":"2.0","id":1,"method":"eth_blockNumber"}'`,
	);
	expect(curls({ network: "starknet-sepolia" })[1]).toContain('"method":"starknet_blockNumber"');
});

test("a key of the environment, or of a start before, is not printed", () => {
	expect(banner({ ...FACTS, keyFromEnvironment: true, network: "base-mainnet" })).not.toContain("sk_adm_new");
	for (const line of curls({ newKey: null, network: "base-mainnet" })) expect(line).toContain("Bearer $TURNPIKE_KEY");
});
