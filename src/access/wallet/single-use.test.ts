import { afterAll, beforeAll, expect, test } from "bun:test";
import { type PostgresCluster, startPostgres } from "../../../test/support/postgres-cluster.ts";
import { ApiError } from "../../errors/index.ts";
import { type AdminOperation, runOperation } from "../../store/admin/operations.ts";
import type { StorePort } from "../../store/port.ts";
import { StoreFolder } from "../../store/testing/store-folder.ts";
import {
	at,
	createSignIn,
	createSolanaWallet,
	createWallet,
	evmHeader,
	NOW,
	outcome,
	type Signer,
	solanaHeader,
} from "./testing/sign-ins.ts";

let cluster: PostgresCluster;
let books: StoreFolder;

beforeAll(async () => {
	cluster = await startPostgres();
	books = new StoreFolder(await cluster.newDatabase());
});
afterAll(async () => {
	await books.remove();
	await cluster.stop();
});

/** A node of its own on the shared store. */
function node(): Signer {
	const admin = books.admin(() => NOW);
	const store = { admin: (name, input) => runOperation(admin, name, input) } as Pick<StorePort, "admin">;
	return createSignIn({ store, singleUse: () => true });
}

test("a header serves one of all requests that come with it at once, on all nodes", async () => {
	const nodes = [node(), node()];
	for (const header of [await evmHeader(createWallet()), solanaHeader(createSolanaWallet())]) {
		const found = await Promise.all(Array.from({ length: 20 }, (_, index) => outcome(nodes[index % 2] ?? node(), header)));
		expect(found.filter((each) => each !== "nonce_used")).toHaveLength(1);
		for (const one of [...nodes, node()]) expect(await outcome(one, header)).toBe("nonce_used");
	}
});

test("a nonce serves each wallet once, whatever else the message says", async () => {
	const one = node();
	const [first, second] = [createWallet(), createWallet()];
	const nonce = "theSameNonce";
	expect(await outcome(one, await evmHeader(first, { nonce }))).toStartWith("eip155:");
	expect(await outcome(one, await evmHeader(second, { nonce }))).toStartWith("eip155:");
	expect(await outcome(one, await evmHeader(first, { nonce, statement: "another" }))).toBe("nonce_used");
	expect(await outcome(node(), await evmHeader(first, { nonce, statement: "a third" }))).toBe("nonce_used");
	expect(await outcome(node(), await evmHeader(first, { nonce: "anotherNonce" }))).toStartWith("eip155:");
});

test("a node whose clock is behind takes no header that another one has forgotten", async () => {
	const [ahead, behind] = [node(), node()];
	const header = await evmHeader(createWallet(), { expirationTime: at(300_000) });
	expect(await outcome(ahead, header)).toStartWith("eip155:");
	ahead.clock.advance(329_999);
	behind.clock.advance(299_999);
	const later = { issuedAt: at(300_000), expirationTime: at(400_000) };
	expect(await outcome(ahead, await evmHeader(createWallet(), later))).toStartWith("eip155:");
	expect(await outcome(behind, header)).toBe("nonce_used");
});

test("what is refused uses no nonce up", async () => {
	const wallet = createWallet();
	const nonce = "stillUnused1";
	const signature = await createWallet().signMessage({ message: "x" });
	expect(await outcome(node(), await evmHeader(wallet, { nonce }, { signature }))).toBe("signature_mismatch");
	expect(await outcome(node(), await evmHeader(wallet, { nonce }))).toStartWith("eip155:");
});

test("while the store cannot tell, nobody is let in, and the header is good afterwards", async () => {
	const admin = books.admin(() => NOW);
	let down = true;
	const operations: AdminOperation[] = [];
	const store = {
		admin: (name, input) => {
			operations.push(name);
			return down ? Promise.reject(new ApiError("SERVICE_UNAVAILABLE")) : runOperation(admin, name, input);
		},
	} as Pick<StorePort, "admin">;
	const signIn = createSignIn({ store, singleUse: () => true });
	const header = await evmHeader(createWallet());
	expect(await outcome(signIn, header)).toBe("503 SERVICE_UNAVAILABLE");
	down = false;
	expect(await outcome(signIn, header)).toStartWith("eip155:");
	expect(await outcome(signIn, header)).toBe("nonce_used");
	// That it has served here is known without asking.
	expect(operations).toEqual(["useToken", "useToken"]);
});

test("by default a header serves as often as it comes, and no store is asked", async () => {
	const signIn = createSignIn();
	const header = await evmHeader(createWallet());
	for (let round = 0; round < 3; round++) expect(await outcome(signIn, header)).toStartWith("eip155:");
});
