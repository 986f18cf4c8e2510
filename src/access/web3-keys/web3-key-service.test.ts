import { afterAll, beforeAll, expect, test } from "bun:test";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { type PostgresCluster, startPostgres } from "../../../test/support/postgres-cluster.ts";
import { ApiError } from "../../errors/index.ts";
import { runOperation } from "../../store/admin/operations.ts";
import { createAccount, listKeys, setAccount } from "../../store/admin.ts";
import type { StorePort } from "../../store/port.ts";
import { StoreFolder } from "../../store/testing/store-folder.ts";
import { OperatorStakes } from "../staking/operator-stakes.ts";
import { Web3KeyService } from "./web3-key-service.ts";

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

/** Returns the key service of a node of its own. */
function node(): Web3KeyService {
	const admin = books.admin();
	const store = { admin: (name, input) => runOperation(admin, name, input) } as Pick<StorePort, "admin">;
	return new Web3KeyService({ store, stakes: new OperatorStakes(store), chain: null, names: { token: "diem", chain: "Base" } });
}

test("a token of one node is good on every other, and serves once for all of them", async () => {
	const admin = books.admin();
	const wallet = privateKeyToAccount(generatePrivateKey());
	const { id } = await createAccount(admin, { name: "staker" });
	await setAccount(admin, id, { wallet: wallet.address, stakeDiem: "1" });
	const nodes = [node(), node(), node()];
	const nowMs = Date.now();
	for (const issuer of nodes) {
		const token = await issuer.challenge(nowMs);
		const signature = await wallet.signMessage({ message: token });
		const request = { type: "INFERENCE", address: wallet.address, signature, token, fields: {} } as const;
		const before = (await Array.fromAsync(listKeys(admin, id))).flat().length;
		const outcomes = await Promise.all(
			[...nodes, ...nodes].map((keys) =>
				keys.create(request, nowMs).then(
					() => "made",
					(error: unknown) => (error instanceof ApiError ? `${error.status} ${error.message}` : String(error)),
				),
			),
		);
		expect(outcomes.filter((outcome) => outcome === "made")).toHaveLength(1);
		expect(outcomes.filter((outcome) => outcome.startsWith("400 token: JWT claims are invalid: it has served"))).toHaveLength(5);
		expect((await Array.fromAsync(listKeys(admin, id))).flat()).toHaveLength(before + 1);
	}
});
