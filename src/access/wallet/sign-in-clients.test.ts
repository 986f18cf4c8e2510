import { describe, expect, test } from "bun:test";
import { createSIWxClientHook, createSIWxPayload, encodeSIWxHeader } from "@x402/extensions/sign-in-with-x";
import { Wallet } from "ethers";
import { SiweMessage } from "siwe";
import { createSiweMessage, generateSiweNonce } from "viem/siwe";
import { ManualClock } from "../../telemetry/clock.ts";
import { signInOrigins } from "./sign-in-origins.ts";
import { createSignIn, createSolanaWallet, createWallet, encode, outcome } from "./testing/sign-ins.ts";

const ORIGIN = "https://api.example.test";
const RESOURCE = `${ORIGIN}/api/v1/chat/completions`;

/** By the real time: clients ask their own clock. */
const signIn = (url = ORIGIN) => createSignIn({ clock: new ManualClock(Date.now()), origins: () => signInOrigins(url, 1) });

/** A challenge as a client gets it. */
const challenged = (server = signIn(), url = RESOURCE) => JSON.parse(JSON.stringify(server.challenge(url)));

describe("messages that libraries write", () => {
	const wallet = createWallet();
	const identity = `eip155:8453:${wallet.address.toLowerCase()}`;
	const soon = () => new Date(Date.now() + 600_000);
	const header = async (text: string) =>
		encode({
			address: wallet.address,
			message: text,
			signature: await wallet.signMessage({ message: text }),
			timestamp: Date.now(),
			chainId: 8453,
		});

	test("by viem", async () => {
		const common = {
			address: wallet.address,
			chainId: 8453,
			domain: "api.example.test",
			// viem draws 96 characters; 64 are the most that are taken.
			nonce: generateSiweNonce(),
			uri: ORIGIN,
			version: "1",
		} as const;
		for (const more of [
			{},
			{ statement: "Sign in", expirationTime: soon() },
			{
				statement: "Sign in",
				expirationTime: soon(),
				notBefore: new Date(Date.now() - 1_000),
				requestId: "1",
				resources: [RESOURCE],
			},
		])
			expect(await outcome(signIn(), await header(createSiweMessage({ ...common, ...more })))).toBe(identity);
	});

	test("by siwe", async () => {
		const common = { address: wallet.address, chainId: 8453, domain: "api.example.test", uri: RESOURCE, version: "1" };
		for (const more of [
			{},
			{ statement: "Sign in", expirationTime: soon().toISOString() },
			{ requestId: "some-id", resources: [ORIGIN] },
		])
			expect(await outcome(signIn(), await header(new SiweMessage({ ...common, ...more }).prepareMessage()))).toBe(identity);
	});

	test("signed by ethers", async () => {
		const signer = Wallet.createRandom();
		const message = new SiweMessage({
			address: signer.address,
			chainId: 8453,
			domain: "api.example.test",
			uri: ORIGIN,
			version: "1",
		}).prepareMessage();
		const signature = await signer.signMessage(message);
		expect(await outcome(signIn(), encode({ address: signer.address, message, signature, chainId: 8453 }))).toBe(
			`eip155:8453:${signer.address.toLowerCase()}`,
		);
	});
});

describe("clients of x402 that answer a challenge", () => {
	const solana = createSolanaWallet();
	const signers = [
		{ name: "an EVM wallet", signer: createWallet(), identity: (address: string) => `eip155:8453:${address.toLowerCase()}` },
		{
			name: "a Solana wallet adapter",
			signer: {
				publicKey: solana.address,
				signMessage: async (bytes: Uint8Array) => solana.signBytes(new TextDecoder().decode(bytes)),
			},
			identity: (address: string) => `solana:${address}`,
		},
		{
			name: "a Solana key pair",
			signer: {
				address: solana.address as string,
				signMessages: async (messages: { content: Uint8Array }[]) =>
					messages.map(({ content }) => ({ [solana.address]: solana.signBytes(new TextDecoder().decode(content)) })),
			},
			identity: (address: string) => `solana:${address}`,
		},
	] as const;
	const addressOf = (signer: (typeof signers)[number]["signer"]) =>
		"publicKey" in signer && !("source" in signer) ? signer.publicKey : signer.address;

	for (const { name, signer, identity } of signers)
		test(`${name} signs in by the hook of its client`, async () => {
			const server = signIn();
			const hook = createSIWxClientHook(signer as never);
			const extensions = { "sign-in-with-x": challenged(server) };
			const answered = await hook({
				paymentRequired: { x402Version: 2, accepts: [], extensions },
				requestUrl: RESOURCE,
			} as never);
			const header = answered?.headers["sign-in-with-x"] ?? "";
			for (const field of ["X-Sign-In-With-X", "SIGN-IN-WITH-X"])
				expect(await outcome(server, header, field)).toBe(identity(addressOf(signer)));
		});

	test("an EVM wallet signs what the server says, whole, and with its optional fields left out", async () => {
		const server = signIn();
		const { info } = challenged(server);
		const wallet = createWallet();
		const variants = [
			info,
			{ ...info, statement: undefined },
			{ ...info, expirationTime: undefined },
			{ ...info, requestId: "r1", resources: [RESOURCE], notBefore: info.issuedAt },
			{ ...info, resources: [] },
		];
		for (const variant of variants) {
			const payload = await createSIWxPayload({ ...variant, chainId: "eip155:8453", type: "eip191" }, wallet, RESOURCE);
			expect(await outcome(server, encodeSIWxHeader(payload))).toBe(`eip155:8453:${wallet.address.toLowerCase()}`);
		}
		for (const variant of variants) {
			const complete = { ...variant, chainId: "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp", type: "ed25519" as const };
			const payload = await createSIWxPayload(
				complete,
				{
					publicKey: solana.address,
					signMessage: async (bytes: Uint8Array) => solana.signBytes(new TextDecoder().decode(bytes)),
				},
				RESOURCE,
			);
			expect(await outcome(server, encodeSIWxHeader(payload))).toBe(`solana:${solana.address}`);
		}
	});

	test("what another server's challenge made is refused", async () => {
		const { info } = challenged(signIn("https://evil.test"), "https://evil.test/x");
		const payload = await createSIWxPayload(
			{ ...info, chainId: "eip155:8453", type: "eip191" },
			createWallet(),
			"https://evil.test/x",
		);
		expect(await outcome(signIn(), encodeSIWxHeader(payload))).toBe("domain_mismatch");
	});
});

describe("a challenge", () => {
	test("names the origin and the path asked for, a fresh nonce and five minutes", () => {
		const server = signIn();
		const { info, supportedChains, schema } = challenged(server, "http://internal:1/api/v1/models?key=secret");
		expect(info).toEqual({
			domain: "api.example.test",
			uri: `${ORIGIN}/api/v1/models`,
			version: "1",
			nonce: expect.stringMatching(/^[0-9a-f]{32}$/),
			issuedAt: new Date(server.clock.wallMs()).toISOString(),
			expirationTime: new Date(server.clock.wallMs() + 300_000).toISOString(),
			statement: expect.any(String),
		});
		expect(challenged(server).info.nonce).not.toBe(info.nonce);
		expect(supportedChains).toEqual([
			{ chainId: "eip155:8453", type: "eip191" },
			{ chainId: "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp", type: "ed25519" },
		]);
		expect(schema.required).toContain("signature");
	});

	test("names that of the local origins which was called, and none that is not ours", () => {
		const local = createSignIn({ origins: () => signInOrigins(undefined, 8787) });
		expect(local.challenge("http://127.0.0.1:8787/x").info).toMatchObject({
			domain: "127.0.0.1:8787",
			uri: "http://127.0.0.1:8787/x",
		});
		expect(local.challenge("http://evil.test/x").info).toMatchObject({
			domain: "localhost:8787",
			uri: "http://localhost:8787/x",
		});
	});
});
