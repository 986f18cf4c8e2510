import { WorkerStores } from "../store/testing/worker-stores.ts";
import { testTwoNodes } from "./testing/two-nodes-contract.ts";

testTwoNodes(async (dir) => {
	const stores = await WorkerStores.open(dir, 2);
	return { place: dir, openNode: (node) => stores.connect(node), close: () => stores.close() };
});
