import { WorkerChannels } from "../store/testing/worker-channels.ts";
import { testTwoNodes } from "./testing/two-nodes-contract.ts";

testTwoNodes(async (dir) => {
	const stores = await WorkerChannels.open(dir, 2);
	return { place: dir, openNode: (node) => stores.connect(node), close: () => stores.close() };
});
